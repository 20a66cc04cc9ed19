"""The mill's lot ledger."""

__version__ = "0.4.0"
