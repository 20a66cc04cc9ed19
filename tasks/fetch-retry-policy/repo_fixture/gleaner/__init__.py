"""Records from the catalogues of small museums."""
