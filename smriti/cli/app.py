"""The `smriti` command: its groups, and how errors and interrupts become exit statuses."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from smriti import __version__
from smriti.cli import interrupts, streams
from smriti.cli.interrupts import EXIT_INTERRUPTED
from smriti.errors import SmritiError

EXIT_UNUSABLE = 2

_PARSER_INTERRUPTED = 130
"""What typer returns at an interrupt before the command."""
_ParserError: type[Any] = typer.BadParameter.__mro__[1]
"""What the parser raises at a command line that it cannot read; typer does not export it by name."""

_COMMANDS = {
    "bench": "smriti.cli.bench:bench",
    "longmemeval": "smriti.cli.retrieval:longmemeval",
    "locomo": "smriti.cli.retrieval:locomo",
    "coding-life": "smriti.cli.retrieval:coding_life",
    "lifecycle": "smriti.cli.lifecycle:lifecycle",
    "verify": "smriti.cli.receipts:verify",
    "compare": "smriti.cli.compare:compare",
    "plan": "smriti.cli.power:plan",
    "noise": "smriti.cli.noise:noise",
    "report": "smriti.cli.report:report",
    "claim": "smriti.cli.claim:app",
    "receipt": "smriti.cli.signing:app",
    "list": "smriti.cli.listing:app",
    "tasks": "smriti.cli.tasks:app",
    "memory": "smriti.cli.adapters:memory_app",
    "agents": "smriti.cli.adapters:agents_app",
    "data": "smriti.cli.data:app",
}
"""Where each command or group is, in the order of the help. It is imported when it is asked for: all take longer to
start than most of them run."""


class _Commands(TyperGroup):
    """Imports the command that is asked for, and ends an interrupted one with 3; typer's own status would be 130."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        names: dict[str, Any] = dict.fromkeys(_COMMANDS)
        self.commands = names  # of what is to be imported, for the help and to set a misspelt one right

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        del ctx
        module, _, attribute = _COMMANDS.get(cmd_name, "").partition(":")
        if not module:
            return None
        found = getattr(importlib.import_module(module), attribute)
        alone = typer.Typer(rich_markup_mode=None)
        alone.callback()(lambda: None)  # without which the only command of an app is the app
        if isinstance(found, typer.Typer):
            alone.add_typer(found, name=cmd_name)
        else:
            alone.command(cmd_name)(found)
        return get_group(alone).commands[cmd_name]

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.stderr.write("smriti: interrupted\n")
            raise typer.Exit(EXIT_INTERRUPTED) from None


app = typer.Typer(
    name="smriti",
    cls=_Commands,
    help=(
        "Does this memory system make a coding agent better? "
        "Hidden checks, paired trials, receipts that can be recomputed."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


@app.callback(invoke_without_command=True)
def _root(*, version: bool = typer.Option(False, "--version", help="Print the version and end.")) -> None:
    if version:
        typer.echo(f"smriti {__version__}")
        raise typer.Exit


def main() -> None:
    """Run the command line. Exit status 0 done, 1 what was asked does not hold, 2 unusable input, 3 interrupted."""
    streams.guard()
    interrupts.listen()
    try:
        status = _after_output(_status())
    except KeyboardInterrupt:  # before or after the command itself
        sys.stderr.write("smriti: interrupted\n")
        status = EXIT_INTERRUPTED
    sys.exit(status)


def _status() -> int:
    try:
        status = app(prog_name="smriti", standalone_mode=False) or 0
        return EXIT_INTERRUPTED if status == _PARSER_INTERRUPTED else int(status)
    except SmritiError as error:
        sys.stderr.write(f"smriti: {streams.printable(str(error))}\n")
    except _ParserError as error:
        sys.stderr.write(_told(error))
    except OSError as error:  # of the machine: a name too long, a folder that may not be entered, no more files
        what = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"smriti: {streams.printable(f'{what}{error.strerror or error}')}\n")
    return EXIT_UNUSABLE


def _after_output(status: int) -> int:
    try:
        streams.finish()
    except SmritiError as error:
        sys.stderr.write(f"smriti: {error}\n")
        return status if status == EXIT_INTERRUPTED else EXIT_UNUSABLE
    return status


def _told(error: Any) -> str:
    """Return the help where nothing was asked for, and else what is wrong, in one paragraph."""
    message = error.format_message()
    if type(error).__name__ == "NoArgsIsHelpError":
        return f"{message}\n"
    sentence = " ".join(message.split())
    stop = "" if sentence.endswith((".", "?")) else "."
    return f"smriti: {sentence}{stop} See {error.ctx.command_path if error.ctx else 'smriti'} --help.\n"
