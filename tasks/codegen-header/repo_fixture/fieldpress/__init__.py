"""One description of our records, three languages."""
