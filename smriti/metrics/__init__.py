"""Pure functions from records to figures, under the names that the README explains."""
