"""The command `smriti-mem`: remember, recall, forget, list, serve, hook.

Argparse and not typer, because hook latency is paid at every prompt; for `hook` itself not even argparse is imported.
"""

# ruff: noqa: T201
# T201: printing is what a command does.

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, NoReturn

from smriti.errors import SmritiError, UsageError
from smriti.memory.embedded import hook
from smriti.memory.embedded.lanes import LANES, Question, recall, recall_from
from smriti.memory.embedded.store import TYPES, Draft, MemoryFile, Recorded, home_of, realm_of

if TYPE_CHECKING:
    import argparse


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command. Exit status 0, or 2 for bad usage or an unusable input; `hook` always 0."""
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given[:1] == ["hook"] and not {"-h", "--help"} & set(given):
        return hook.main()
    try:
        options = _parser().parse_args(given)
        _COMMANDS[options.command](options)
    except SmritiError as error:
        print(f"smriti-mem: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    import argparse  # noqa: PLC0415  # the hook does without

    class Parser(argparse.ArgumentParser):
        def error(self, message: str) -> NoReturn:
            raise UsageError(f"{message}; `{self.prog} --help` says what is expected.")

    parser = Parser(
        prog="smriti-mem",
        description="Remember things for coding agents, and recall what belongs to a prompt.",
        epilog="The store is in $SMRITI_MEM_HOME, by default $XDG_DATA_HOME/smriti-mem. "
        "The realm is --realm, or $SMRITI_MEM_REALM, or project:<name of the current folder>.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, summary: str, *, realm: bool = True, as_json: bool = True) -> argparse.ArgumentParser:
        added: argparse.ArgumentParser = commands.add_parser(name, help=summary, description=summary)
        if as_json:
            added.add_argument("--json", action="store_true", help="print one JSON object")
        if realm:
            added.add_argument("--realm", default=realm_of(os.environ, "."), help="default: %(default)s")
        return added

    remember = command("remember", "Store one memory and print its id.")
    remember.add_argument("content", metavar="TEXT", help="what to remember; - reads it from stdin")
    remember.add_argument("--type", choices=TYPES, default="wisdom", help="default: %(default)s")
    remember.add_argument(
        "--source", default="smriti-mem", metavar="ID", help="where it comes from; default: %(default)s"
    )
    remember.add_argument(
        "--supersedes", action="append", default=[], metavar="ID", help="what this correction replaces; may be repeated"
    )
    recalled = command("recall", "Print what belongs to a query, best first.")
    recalled.add_argument("query", metavar="QUERY")
    recalled.add_argument("-k", type=int, default=hook.MAX_MEMORIES, help="how many at most; default: %(default)s")
    recalled.add_argument("--lane", choices=tuple(LANES), help="ask this lane alone; default: the fusion of all")
    forget = command("forget", "Remove memories by their exact ids.", realm=False)
    forget.add_argument("ids", nargs="+", metavar="ID")
    listed = command("list", "Print what the realm holds, oldest first.")
    listed.add_argument("--all", action="store_true", help="also what is superseded")
    served = command("serve", "Serve the store over REST or MCP until told to stop.", realm=False, as_json=False)
    over = served.add_mutually_exclusive_group(required=True)
    over.add_argument("--rest", metavar="HOST:PORT", help="REST with JSON; port 0 takes a free one")
    over.add_argument("--mcp", metavar="stdio|HOST:PORT", help="MCP over stdio, or over streamable HTTP")
    command(
        "hook", "Answer an agent's UserPromptSubmit hook: JSON on stdin, JSON on stdout, always exit 0.", realm=False
    )
    return parser


def _remember(options: argparse.Namespace) -> None:
    content = sys.stdin.read() if options.content == "-" else options.content
    with _opened() as memories:
        [memory_id] = memories.remember(
            [Draft(content, options.type, options.source)], options.realm, options.supersedes
        )
    print(json.dumps({"id": memory_id}) if options.json else memory_id)


def _recall(options: argparse.Namespace) -> None:
    if options.k < 1:
        raise UsageError(f"-k is {options.k}, expected a number from 1")
    with _opened() as memories:
        question = Question(memories, options.query, options.realm, options.k)
        found = recall_from(options.lane, question) if options.lane else recall(question)
    if options.json:
        results = [{**memory._asdict(), "score": score, "lanes": lanes} for memory, score, lanes in found]
        print(json.dumps({"results": results}))
    else:
        _print_paragraphs([memory for memory, _, _ in found])


def _forget(options: argparse.Namespace) -> None:
    from smriti.memory.embedded.journal import Journal  # noqa: PLC0415  # the hook does without

    with _opened() as memories:
        Journal(memories).forget(options.ids)
    if options.json:
        print(json.dumps({"forgotten": options.ids}))


def _list(options: argparse.Namespace) -> None:
    with _opened() as memories:
        listed = memories.listing(options.realm, superseded=options.all)
    if options.json:
        print(json.dumps({"memories": [memory._asdict() for memory in listed]}))
    else:
        _print_paragraphs(listed)


def _serve(options: argparse.Namespace) -> None:
    from smriti.memory.embedded.serve import serve  # noqa: PLC0415  # every other command does without it

    serve(options.rest, options.mcp, os.environ)


_COMMANDS: dict[str, Callable[[argparse.Namespace], None]] = {
    "remember": _remember,
    "recall": _recall,
    "forget": _forget,
    "list": _list,
    "serve": _serve,
}


def _opened() -> closing[MemoryFile]:
    return closing(MemoryFile.open(home_of(os.environ)))


def _print_paragraphs(memories: Sequence[Recorded]) -> None:
    for number, memory in enumerate(memories):
        print("\n" if number else "", f"[{memory.type} {memory.id}{_superseded(memory)}] {memory.content}", sep="")


def _superseded(memory: Recorded) -> str:
    return f" superseded by {memory.superseded_by}" if memory.superseded_by else ""
