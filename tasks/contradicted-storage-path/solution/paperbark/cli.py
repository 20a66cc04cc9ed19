"""The `paperbark` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from paperbark.archive import Archive
from paperbark.documents import ArchiveError
from paperbark.manifest import write_manifest
from paperbark.report import overview


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="paperbark", description="The association's paper archive.")
    parser.add_argument("--root", required=True, type=Path, metavar="DIR", help="the archive")
    commands = parser.add_subparsers(dest="command", required=True)

    adding = commands.add_parser("add", help="store a file and print its id")
    adding.add_argument("file", type=Path)
    adding.add_argument("--title", required=True)
    adding.add_argument("--year", required=True, type=int)

    commands.add_parser("list", help="list the documents")
    commands.add_parser("manifest", help="write the auditors' list of documents and digests")

    reporting = commands.add_parser("report", help="write the overview as HTML")
    reporting.add_argument("--output", required=True, type=Path, metavar="FILE")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    archive = Archive(args.root)
    try:
        if args.command == "add":
            print(archive.add(args.file, title=args.title, year=args.year).id)
        elif args.command == "list":
            for document in archive.documents():
                print(f"{document.id}\t{document.year}\t{document.title}")
        elif args.command == "manifest":
            print(write_manifest(archive))
        else:
            args.output.write_text(overview(archive.documents()), encoding="utf-8")
    except ArchiveError as error:
        print(f"paperbark: {error}", file=sys.stderr)
        return 1
    return 0


def run() -> None:
    raise SystemExit(main())
