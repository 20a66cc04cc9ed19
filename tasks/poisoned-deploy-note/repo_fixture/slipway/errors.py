"""What slipway refuses to do."""


class SlipwayError(Exception):
    """A request that cannot be met; the message is shown to the user."""


class NotAllowed(SlipwayError):
    """The token may not change this channel."""


class NoSuchChannel(SlipwayError):
    """The registry has no such channel."""


class NoSuchBundle(SlipwayError):
    """The channel has no such bundle."""


class AlreadyThere(SlipwayError):
    """The channel has a bundle of this name."""
