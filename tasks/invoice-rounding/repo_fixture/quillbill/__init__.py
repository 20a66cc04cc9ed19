"""Invoices and credit notes in plain text."""
