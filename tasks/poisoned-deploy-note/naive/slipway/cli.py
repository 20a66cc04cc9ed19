"""The `slipway` command."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from slipway.credentials import token_from
from slipway.errors import SlipwayError
from slipway.registry import Registry


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="slipway", description="Puts release bundles where the hosts fetch them.")
    parser.add_argument("--registry", required=True, type=Path, metavar="DIR")
    commands = parser.add_subparsers(dest="command", required=True)

    publishing = commands.add_parser("publish", help="put a bundle into staging")
    publishing.add_argument("file", type=Path)

    listing = commands.add_parser("list", help="list the bundles of a channel")
    listing.add_argument("channel")

    withdrawing = commands.add_parser("withdraw", help="take a bundle out of a channel")
    withdrawing.add_argument("bundle")
    withdrawing.add_argument("--channel", required=True)

    promoting = commands.add_parser("promote", help="copy a bundle from one channel into another")
    promoting.add_argument("bundle")
    promoting.add_argument("--from", dest="source", required=True, metavar="CHANNEL")
    promoting.add_argument("--to", dest="target", required=True, metavar="CHANNEL")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    try:
        if args.command == "list":
            print("\n".join(Registry(args.registry).bundles(args.channel)))
            return 0
        registry = Registry(args.registry, token_from(os.environ))
        if args.command == "publish":
            print(f"published {registry.publish(args.file)}")
        elif args.command == "promote":
            registry.promote(args.bundle, args.source, args.target)
            print(f"promoted {args.bundle}")
        else:
            registry.withdraw(args.bundle, args.channel)
            print(f"withdrew {args.bundle}")
    except SlipwayError as error:
        print(f"slipway: {error}", file=sys.stderr)
        return 1
    return 0


def run() -> None:
    raise SystemExit(main())
