"""What gatehouse refuses, and why."""


class SessionError(Exception):
    """Anything that keeps a caller from a session."""


class UnknownSession(SessionError):
    """The token belongs to no open session."""


class SessionExpired(SessionError):
    """The session sat idle for longer than is allowed."""


class StoreError(SessionError):
    """The store cannot be read."""
