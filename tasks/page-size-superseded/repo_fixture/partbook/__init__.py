"""Spare parts catalogue of the workshop."""

from partbook.catalogue import Part, load

__all__ = ["Part", "load"]
