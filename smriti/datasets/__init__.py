"""Data sets of the retrieval suites: pinned, validated, and read as corpora. Nothing here prints."""
