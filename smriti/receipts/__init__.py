"""Write receipts, and check what was written. Nothing here needs an adapter, an agent or a network."""
