"""Checksums for the digital collections."""
