"""The `gatehouse` command."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import datetime, timezone

from gatehouse.errors import SessionError
from gatehouse.sessions import Sessions
from gatehouse.store import FileStore


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gatehouse", description="Sessions for the staff portal.")
    parser.add_argument("--store", required=True, metavar="FILE", help="JSON file that holds the sessions")
    commands = parser.add_subparsers(dest="command", required=True)

    opening = commands.add_parser("open", help="start a session and print its token")
    opening.add_argument("user")
    opening.add_argument("--origin", default="", help="desk or address of the login")
    for name, text in (("whoami", "print the user of a token"), ("close", "end the session of a token")):
        commands.add_parser(name, help=text).add_argument("token")
    commands.add_parser("close-all", help="end every session of a user").add_argument("user")
    commands.add_parser("list", help="print the open sessions, the one seen last first")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    args = build_parser().parse_args(argv)
    sessions = Sessions(FileStore(args.store))
    try:
        if args.command == "open":
            print(sessions.open(args.user, args.origin))
        elif args.command == "whoami":
            print(sessions.resolve(args.token).user)
        elif args.command == "close":
            sessions.close(args.token)
        elif args.command == "close-all":
            print(f"closed {sessions.close_all(args.user)}")
        else:
            for session in sessions.listing():
                seen = datetime.fromtimestamp(session.last_seen, timezone.utc)
                print(f"{session.user}\t{session.origin or '-'}\t{seen:%Y-%m-%dT%H:%M:%SZ}")
    except SessionError as error:
        print(f"gatehouse: {error}", file=sys.stderr)
        return 1
    return 0


def run() -> None:
    raise SystemExit(main())
