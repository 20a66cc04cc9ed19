"""Cents."""

COMMISSION_PERCENT = 6


def after_commission(cents: int) -> int:
    """Take the market's commission off; a broken cent is the seller's."""
    return cents - cents * COMMISSION_PERCENT // 100


def euros(cents: int) -> str:
    """Print cents as euros: 123456 is 1,234.56."""
    return f"{cents // 100:,}.{cents % 100:02}"
