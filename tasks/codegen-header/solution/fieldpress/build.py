"""From a manifest to files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fieldpress.languages import RENDERERS
from fieldpress.schema import Record

COMMENT = {"python": "#", "typescript": "//", "sql": "--"}


def outputs(records: list[Record]) -> Iterator[tuple[str, str]]:
    """Give the path and the text of each file, in the order of the manifest."""
    for record in records:
        for language, path in record.targets.items():
            yield path, _header(record, language) + RENDERERS[language](record.schema)


def build(records: list[Record], out: Path) -> list[str]:
    """Write what is missing or differs below `out`, and give the paths of what was written."""
    written = outdated(records, out)
    for path, text in outputs(records):
        if path in written:
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_text(text, encoding="utf-8", newline="\n")
    return written


def outdated(records: list[Record], out: Path) -> list[str]:
    """Give the paths that are missing below `out` or differ from what they should be."""
    return [path for path, text in outputs(records) if _present(out / path) != text.encode()]


def _header(record: Record, language: str) -> str:
    return f"{COMMENT[language]} pressed::fieldpress source={record.source}\n"


def _present(path: Path) -> bytes | None:
    return path.read_bytes() if path.is_file() else None
