"""Memory systems under test: one module or package each."""
