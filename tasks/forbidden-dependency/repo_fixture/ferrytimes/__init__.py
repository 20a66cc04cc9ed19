"""Ferry timetables of several operators in one form."""

__version__ = "1.6.0"
