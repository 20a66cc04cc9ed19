"""Memory systems that are described by a mapping file instead of Python: what mcp, http and command share."""
