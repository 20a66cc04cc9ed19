"""The `smriti` command: its groups, and how errors and interrupts become exit statuses."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from smriti import __version__
from smriti.cli import (
    adapters,
    bench,
    claim,
    compare,
    data,
    interrupts,
    listing,
    noise,
    power,
    receipts,
    report,
    retrieval,
    signing,
    streams,
    tasks,
)
from smriti.cli.interrupts import EXIT_INTERRUPTED
from smriti.errors import SmritiError

EXIT_UNUSABLE = 2

_PARSER_INTERRUPTED = 130
"""What typer returns at an interrupt before the command."""
_ParserError: type[Any] = typer.BadParameter.__mro__[1]
"""What the parser raises at a command line that it cannot read; typer does not export it by name."""


class _Interruptible(TyperGroup):
    """Ends an interrupted command with the status that the project has for it; typer's own would be 130."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            sys.stderr.write("smriti: interrupted\n")
            raise typer.Exit(EXIT_INTERRUPTED) from None


app = typer.Typer(
    name="smriti",
    cls=_Interruptible,
    help=(
        "Does this memory system make a coding agent better? "
        "Hidden checks, paired trials, receipts that can be recomputed."
    ),
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("bench")(bench.bench)
app.command("longmemeval")(retrieval.longmemeval)
app.command("locomo")(retrieval.locomo)
app.command("coding-life")(retrieval.coding_life)
app.command("verify")(receipts.verify)
app.command("compare")(compare.compare)
app.command("plan")(power.plan)
app.command("noise")(noise.noise)
app.command("report")(report.report)
app.add_typer(claim.app, name="claim")
app.add_typer(signing.app, name="receipt")
app.add_typer(listing.app, name="list")
app.add_typer(tasks.app, name="tasks")
app.add_typer(adapters.memory_app, name="memory")
app.add_typer(adapters.agents_app, name="agents")
app.add_typer(data.app, name="data")


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
        sys.stderr.write(f"smriti: {error}\n")
    except _ParserError as error:
        sys.stderr.write(_told(error))
    except OSError as error:  # of the machine: a name too long, a folder that may not be entered, no more files
        what = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"smriti: {what}{error.strerror or error}\n")
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
