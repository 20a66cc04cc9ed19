"""What a user can get wrong."""


class LedgerError(Exception):
    """A ledger, or a lot for it, that cannot be used as it is."""
