"""The `smriti` command: its groups, and how errors and interrupts become exit statuses."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import Any

import typer
from typer.core import TyperGroup

from smriti import __version__
from smriti.cli import adapters, bench, data, receipts, tasks
from smriti.cli.bench import EXIT_INTERRUPTED
from smriti.errors import SmritiError

EXIT_UNUSABLE = 2


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
)
app.command("bench")(bench.bench)
app.command("verify")(receipts.verify)
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
    signal.signal(signal.SIGTERM, _interrupt)
    try:
        app(standalone_mode=True)
    except SmritiError as error:
        sys.stderr.write(f"smriti: {error}\n")
        sys.exit(EXIT_UNUSABLE)


def _interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
