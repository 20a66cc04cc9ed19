"""Tools of the passenger desk."""
