"""Finds links in a folder of Markdown pages that lead nowhere."""
