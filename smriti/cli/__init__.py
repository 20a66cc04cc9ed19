"""The command line: parse, build, call, print. No logic."""
