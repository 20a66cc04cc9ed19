"""The commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from herdbook import export, means, source
from herdbook.recording import BadRecording


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit status."""
    arguments = _parser().parse_args(argv)
    try:
        return arguments.run(arguments)
    except (BadRecording, OSError) as error:
        print(f"herdbook: {error}", file=sys.stderr)
        return 2


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="herdbook", description="Milk recordings of the member farms.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, purpose in (
        ("check", _check, "show recordings that are unlikely"),
        ("means", _show_means, "show the means of each farm"),
        ("export", _export, "write the recordings for other systems"),
    ):
        command = commands.add_parser(name, help=purpose)
        command.add_argument("file", type=Path, help="a month's recordings")
        command.set_defaults(run=run)
    return parser


def _check(arguments: argparse.Namespace) -> int:
    doubtful = 0
    for recording in source.read(arguments.file):
        for doubt in recording.doubts():
            doubtful = 1
            print(f"{recording.farm} {recording.ear_tag} {recording.day}: {doubt}")
    return doubtful


def _show_means(arguments: argparse.Namespace) -> int:
    for farm in means.by_farm(source.read(arguments.file)):
        milk = "?" if farm.milk_kg is None else f"{farm.milk_kg:.1f}"
        fat = "?" if farm.fat_pct is None else f"{farm.fat_pct:.2f}"
        print(f"{farm.farm:<8} {farm.cows:>4} cows {milk:>6} kg {fat:>6} % fat")
    return 0


def _export(arguments: argparse.Namespace) -> int:
    export.write_json(source.read(arguments.file), sys.stdout)
    return 0
