"""The `smriti` command, also as `python -m smriti`: so light because each process of a run imports it again."""

from __future__ import annotations


def main() -> None:
    """Run the command line."""
    from smriti.cli.app import main as run  # noqa: PLC0415  # only where the command is run

    run()


if __name__ == "__main__":
    main()
