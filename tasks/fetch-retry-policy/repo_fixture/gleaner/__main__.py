"""Command line: python3 -m gleaner."""

import argparse
import json
import sys
from pathlib import Path

from gleaner.cache import Cache
from gleaner.client import Client
from gleaner.errors import GleanerError
from gleaner.records import records


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="gleaner")
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("records", help="print every record of a catalogue")
    command.add_argument("url")
    command.add_argument("--cache", type=Path, help="folder for pages")
    command.add_argument("--pause", type=float, default=0, help="seconds between pages")
    args = parser.parse_args(argv)
    client = Client(cache=Cache(args.cache), pause_s=args.pause)
    try:
        for record in records(client, args.url):
            print(json.dumps(record, ensure_ascii=False))
    except GleanerError as error:
        print(f"gleaner: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
