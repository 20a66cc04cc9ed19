"""What the market owes its sellers, and when it is paid."""
