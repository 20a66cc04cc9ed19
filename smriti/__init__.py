"""smriti: does this memory system make a coding agent better, and can a stranger check the answer."""

__version__ = "0.1.0"
