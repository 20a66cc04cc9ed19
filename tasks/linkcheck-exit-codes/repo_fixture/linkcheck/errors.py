"""Why a check cannot be done at all."""


class CannotCheck(Exception):
    """The folder or the configuration is not there or makes no sense; the message says which and why."""
