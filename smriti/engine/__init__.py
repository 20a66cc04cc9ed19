"""Where steps run: on this machine's threads now."""
