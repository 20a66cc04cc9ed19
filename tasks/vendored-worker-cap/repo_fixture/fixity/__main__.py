"""Command line: python3 -m fixity."""

import argparse
import sys
from pathlib import Path

from fixity import manifest
from fixity.digest import digest_tree


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fixity")
    commands = parser.add_subparsers(dest="command", required=True)
    digest = commands.add_parser("digest", help="write the manifest of a collection to standard output")
    verify = commands.add_parser("verify", help="compare a collection with its manifest")
    for command in (digest, verify):
        command.add_argument("root", type=folder)
    verify.add_argument("manifest", type=Path)
    args = parser.parse_args(argv)

    if args.command == "digest":
        sys.stdout.write(manifest.write(digest_tree(args.root)))
        return 0
    try:
        expected = manifest.read(args.manifest.read_text(encoding="utf-8"))
    except (OSError, manifest.ManifestError) as error:
        print(f"{args.manifest}: {error}", file=sys.stderr)
        return 2
    lines = manifest.differences(expected, digest_tree(args.root))
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    return 1 if lines else 0


def folder(text: str) -> Path:
    path = Path(text)
    if not path.is_dir():
        raise argparse.ArgumentTypeError(f"{text!r} is not a folder")
    return path


if __name__ == "__main__":
    sys.exit(main())
