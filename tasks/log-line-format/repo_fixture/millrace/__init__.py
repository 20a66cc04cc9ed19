"""Checks nightly grain deliveries before they are paid for."""
