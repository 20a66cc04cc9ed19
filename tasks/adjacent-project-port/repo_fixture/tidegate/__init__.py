"""Water levels along the canal."""

__version__ = "2.3.0"
