"""Milk recordings of the member farms."""
