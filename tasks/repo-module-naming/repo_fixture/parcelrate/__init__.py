"""Parcel quotes from our carriers' tariffs."""
