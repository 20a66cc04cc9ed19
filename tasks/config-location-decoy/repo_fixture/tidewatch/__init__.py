"""Tide gauge readings to warnings."""
