"""The command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fieldpress import build
from fieldpress.schema import SchemaError, read_manifest


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit status."""
    parser = argparse.ArgumentParser(prog="fieldpress", description="One description of our records, three languages.")
    parser.add_argument("command", choices=("build", "check"))
    parser.add_argument("manifest", type=Path)
    parser.add_argument("--out", type=Path, required=True, metavar="FOLDER", help="below which the files are")
    arguments = parser.parse_args(argv)
    try:
        records = read_manifest(arguments.manifest)
    except SchemaError as error:
        print(f"fieldpress: {error}", file=sys.stderr)
        return 2
    if arguments.command == "build":
        for path in build.build(records, arguments.out):
            print(f"wrote {path}")
        return 0
    outdated = build.outdated(records, arguments.out)
    for path in outdated:
        print(f"out of date: {path}")
    return 1 if outdated else 0
