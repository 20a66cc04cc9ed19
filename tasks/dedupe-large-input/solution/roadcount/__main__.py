"""Command line: python3 -m roadcount."""

import argparse
import sys
from pathlib import Path

from roadcount import events
from roadcount.clean import collapse_repeats, drop_impossible
from roadcount.summary import summarise


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="roadcount")
    commands = parser.add_subparsers(dest="command", required=True)
    clean = commands.add_parser("clean", help="drop the events that no vehicle made")
    clean.add_argument("raw", type=Path)
    clean.add_argument("cleaned", type=Path)
    clean.add_argument("--collapse", type=seconds, metavar="SECONDS", help="also drop repeats within SECONDS of a kept event")
    summary = commands.add_parser("summary", help="vehicles and axles by loop and hour")
    summary.add_argument("cleaned", type=Path)
    args = parser.parse_args(argv)
    try:
        if args.command == "clean":
            run_clean(args)
        else:
            run_summary(args)
    except (OSError, events.FormatError) as error:
        print(f"roadcount: {error}", file=sys.stderr)
        return 1
    return 0


def run_clean(args: argparse.Namespace) -> None:
    with args.raw.open(encoding="utf-8") as file:
        raw = events.read(file)
    cleaned = drop_impossible(raw)
    if args.collapse is not None:
        cleaned = collapse_repeats(cleaned, args.collapse)
    with args.cleaned.open("w", encoding="utf-8") as file:
        events.write(cleaned, file)
    print(f"{len(raw)} read, {len(cleaned)} kept")


def run_summary(args: argparse.Namespace) -> None:
    with args.cleaned.open(encoding="utf-8") as file:
        lines = summarise(events.read(file))
    sys.stdout.write("".join(f"{line}\n" for line in lines))


def seconds(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of seconds")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
