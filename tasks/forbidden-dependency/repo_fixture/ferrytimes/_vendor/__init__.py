"""Code that was written elsewhere and is kept here unchanged."""
