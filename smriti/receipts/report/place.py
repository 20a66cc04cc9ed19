"""Where a report is put: beside its receipt, and in the place of nothing but an earlier report."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from smriti.errors import UsageError
from smriti.receipts.report.html import MARK
from smriti.receipts.writer import MANIFEST

_LONGEST_NAME = 200


def default_place(receipts: Sequence[Path]) -> Path:
    """Name the folder beside the first receipt: verify would refuse files within it."""
    first = receipts[0].resolve()
    name = "+".join(path.resolve().name for path in receipts)
    if len(name) > _LONGEST_NAME:
        raise UsageError(f"the names of {len(receipts)} receipts are too long for one folder; name one with --out")
    return first.parent / f"{name}.report"


@contextmanager
def replaced(place: Path) -> Iterator[Path]:
    """Hand out an empty folder, which takes the place of `place` once it is filled; UsageError where it must not.

    What stands there is touched only if it is a report to the last file, and only when the new one is whole.
    """
    check_place(place)
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{place.name[:100]}.", dir=place.parent))
    except OSError as error:
        raise UsageError(f"{place}: the report cannot be written: {error.strerror}") from None
    try:
        yield work / "new"
        (work / "new").chmod(0o755)
        if place.exists():
            check_place(place)
            place.rename(work / "old")
        (work / "new").rename(place)
    except OSError as error:
        raise UsageError(f"{place}: the report cannot be written: {error.strerror}") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def check_place(place: Path) -> None:
    """Refuse a place within a receipt, and one where something stands that is no report."""
    for folder in (place, *place.resolve().parents):
        if (folder / MANIFEST).exists():
            raise UsageError(
                f"{place} is within the receipt {folder}, and a receipt holds no other files; choose another --out"
            )
    if place.is_symlink() or (place.exists() and not place.is_dir()):
        raise UsageError(f"{place} is no folder, expected none or a report; choose another --out")
    if not place.exists():
        return
    for path in sorted(place.rglob("*")):
        if path.is_symlink() or not (_is_page(path) if path.is_file() else path == place / "trials"):
            raise UsageError(f"{path} is no part of a report, so {place} is not written over; choose another --out")


def _is_page(path: Path) -> bool:
    if path.suffix not in {".html", ".md"}:
        return False
    with path.open("rb") as file:
        return file.readline(len(MARK) + 2).rstrip(b"\r\n") == MARK.encode()


def write_page(folder: Path, name: str, content: str) -> None:
    """Write one file of a report."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8", newline="\n")
