"""What can go wrong, as far as a caller may want to tell it apart."""


class TidewatchError(Exception):
    """Anything that the command line reports in one sentence."""


class UnknownService(TidewatchError):
    """No service of that name is listed in services.py."""


class BadAnswer(TidewatchError):
    """A service was reached and answered with something that is not what it promises."""


class Unreachable(TidewatchError):
    """A service could not be reached, or refused the call."""
