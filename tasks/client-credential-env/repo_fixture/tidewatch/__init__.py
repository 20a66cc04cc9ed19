"""Client for the harbour office's data services."""

__version__ = "0.7.0"
