"""Reports: a page that a reader can take in, made from verified receipts alone, in HTML and in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from smriti.errors import UsageError
from smriti.receipts.report.bench import bench_page
from smriti.receipts.report.html import writer
from smriti.receipts.report.markdown import markdown
from smriti.receipts.report.place import check_place, default_place, replaced, write_page
from smriti.receipts.report.retrieval import retrieval_page
from smriti.receipts.report.side import side_by_side
from smriti.receipts.report.trials import Texts, trial_pages, trial_path
from smriti.receipts.report.view import Page
from smriti.receipts.sealed import SealedReceipt
from smriti.types import BenchManifest

__all__ = ["Report", "Texts", "check_place", "default_place", "gather", "require", "write_report"]

_NEEDED = ("jinja2", "matplotlib")


@dataclass(frozen=True, slots=True)
class Report:
    """Where a report is, and how many pages it has."""

    html: Path
    markdown: Path
    pages: int


def require() -> None:
    """Refuse, with what to install, where what draws and fills the pages is not installed."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(
            f"a report needs {' and '.join(missing)}, which smriti does not install by itself. "
            "Install it with: pip install 'smriti[report]'"
        )


def write_report(receipts: Sequence[SealedReceipt], place: Path, texts: Texts | None = None) -> Report:
    """Write the report of one receipt, or of several side by side, to the folder `place`; UsageError if it cannot be.

    The same receipts, and the same `texts` of memories, give the same bytes.
    """
    require()
    page = gather(receipts)
    write = writer()
    pages = 0
    with replaced(place) as folder:
        for each in (page, *_trials(receipts, texts or {})):
            write_page(folder, each.path, write(each))
            pages += 1
        write_page(folder, "report.md", markdown(page))
    return Report(place / "index.html", place / "report.md", pages)


def gather(receipts: Sequence[SealedReceipt]) -> Page:
    """Gather what the first page says: all that HTML and Markdown are made from."""
    if len(receipts) > 1:
        return side_by_side(receipts)
    (receipt,) = receipts
    if isinstance(receipt.manifest, BenchManifest):
        return bench_page(receipt, {record.case: trial_path(record) for record in receipt.records})
    return retrieval_page(receipt)


def _trials(receipts: Sequence[SealedReceipt], texts: Texts) -> Iterator[Page]:
    if len(receipts) == 1 and isinstance(receipts[0].manifest, BenchManifest):
        yield from trial_pages(receipts[0], texts)
