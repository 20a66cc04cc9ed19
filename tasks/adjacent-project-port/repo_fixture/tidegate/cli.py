"""The `tidegate` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tidegate import __version__
from tidegate.gauges import GaugeError, load
from tidegate.server import address, serve


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tidegate", description="Water levels along the canal.")
    parser.add_argument("--version", action="version", version=f"tidegate {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)

    serving = commands.add_parser("serve", help="serve readings and metrics")
    serving.add_argument("--gauges", required=True, type=Path, metavar="FILE")
    serving.add_argument("--listen", required=True, type=address, metavar="HOST:PORT", help="where readings are served")
    serving.add_argument("--metrics-listen", required=True, type=address, metavar="HOST:PORT", help="where metrics are served")

    checking = commands.add_parser("check", help="say what is wrong with a gauge file")
    checking.add_argument("gauges", type=Path, metavar="FILE")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    try:
        if args.command == "serve":
            serve(args.gauges, args.listen, args.metrics_listen)
        else:
            return check(args.gauges)
    except GaugeError as error:
        print(f"tidegate: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        pass
    return 0


def check(path: Path) -> int:
    """Print the level of each gauge; 1 if one of them has none."""
    silent = 0
    for gauge in load(path):
        if gauge.level_mm is None:
            print(f"{gauge.name}: no readings")
            silent += 1
        else:
            print(f"{gauge.name}: {gauge.level_mm:g} mm")
    return 1 if silent else 0


def run() -> None:
    raise SystemExit(main())
