"""One module a carrier."""
