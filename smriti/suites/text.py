"""What a receipt can hold as text."""

from __future__ import annotations


def is_text(value: object) -> bool:
    """Tell whether `value` is a string that UTF-8 can hold."""
    if not isinstance(value, str):
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
