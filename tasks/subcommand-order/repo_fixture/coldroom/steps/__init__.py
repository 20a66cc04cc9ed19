"""Importing this package registers every step."""

from coldroom.steps import climate, crates

__all__ = ["climate", "crates"]
