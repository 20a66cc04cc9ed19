"""Command line: python3 -m tidewatch."""

import argparse
import sys
import tomllib

from tidewatch import levels, paths
from tidewatch.assess import assess


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="tidewatch")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("gauges", help="list the gauges of the live watch")
    for name, meaning in (("assess", "judge a reading of the live watch"), ("drill", "judge a reading of an exercise")):
        command = commands.add_parser(name, help=meaning)
        command.add_argument("gauge")
        command.add_argument("metres", type=float)
        command.add_argument("--minutes", type=float, default=0.0, help="for how long the water has stood there")
        command.add_argument("--text", action="store_true", help="print the sentence for the harbour office")
    args = parser.parse_args(argv)

    in_force = levels.load(paths.levels(drill=args.command == "drill"))
    if args.command == "gauges":
        for gauge, level in in_force.items():
            print(f"{gauge:<16}{level.label}")
        return 0
    if args.gauge not in in_force:
        print(f"no gauge {args.gauge!r}; there are {', '.join(in_force)}", file=sys.stderr)
        return 2
    level = in_force[args.gauge]
    state = assess(level, args.metres, args.minutes)
    if args.text:
        wording = tomllib.loads(paths.WORDING.read_text(encoding="utf-8"))
        state = wording[state].format(label=level.label, metres=f"{args.metres:.2f}")
    print(f"DRILL {state}" if args.command == "drill" else state)
    return 0


if __name__ == "__main__":
    sys.exit(main())
