"""What can go wrong."""


class GleanerError(Exception):
    """Anything that ends a run with a message."""


class TransportError(GleanerError):
    """No answer: no connection, or one that broke."""


class BadStatus(GleanerError):
    """An answer that is not a page."""

    def __init__(self, status: int, url: str) -> None:
        super().__init__(f"{url} answered {status}")
        self.status = status
        self.url = url


class BadPage(GleanerError):
    """A page that is not what docs and README say."""
