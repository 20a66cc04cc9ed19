"""Figures of receipts as texts cite them: which receipt a name stands for, and whether what is written is its own."""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Literal
from urllib.parse import unquote

from smriti.errors import ReceiptError
from smriti.receipts.listing import receipt_folders
from smriti.receipts.sealed import Look, SealedReceipt, by_itself, read_sealed
from smriti.receipts.writer import MANIFEST, SUMMARY, read_file
from smriti.types import BenchManifest, Interval

Part = Literal["figure", "value", "interval", "n", "excluded", "method"]
"""What of a figure is written: the column that it stands in, or all that a text has of it."""

SHORTEST_DIGEST = 12
"""Digits of a sha256 that tell one receipt from every other."""

_FEW = 10
"""A number below this that is not whole is written with a point; as a percentage it need not be."""

_NUMBER = r"[+\-−]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_FIGURE = re.compile(
    rf"(?P<value>{_NUMBER})?(?P<percent>\s*%)?\s*"
    rf"(?:\[(?P<low>{_NUMBER})(?:\s*%)?,\s+(?P<high>{_NUMBER})(?P<high_percent>\s*%)?\](?P<both_percent>\s*%)?)?"
    rf"\s*(?:,?\s*n\s*=?\s*(?P<n>[\d,]+))?"
)
_NOTHING = {"", "–", "—", "-", "null"}


class Unnamed(Exception):  # noqa: N818  # prose catches it
    """A name stands for no receipt that could be compared with."""

    def __init__(self, message: str, *, missing: bool = False) -> None:
        super().__init__(message)
        self.missing = missing


class Library:
    """Receipts by the names that a text has for them, each verified once."""

    def __init__(self, beside: Path, roots: Sequence[Path], look: Look = by_itself) -> None:
        self._beside = beside
        self._look = look
        self._roots = roots
        self._read: dict[Path, SealedReceipt | Unnamed] = {}
        self._identities: dict[Path, tuple[str, str]] | None = None

    def __call__(self, name: str) -> SealedReceipt:
        """Return the receipt called `name`; Unnamed where there is none, it does not verify or it is another one."""
        name, _, digest = unquote(name).partition("@")
        if digest and not _is_digest(digest):
            raise Unnamed(f"{digest!r} after @ is no digest, expected {SHORTEST_DIGEST} to 64 digits of a sha256")
        receipt = self._verified(self._folder(name))
        if not receipt.sha256.startswith(digest):
            raise Unnamed(f"receipt {name} is another one: its sha256 is {receipt.sha256}, {digest} is written")
        return receipt

    def _folder(self, name: str) -> Path:
        if "/" in name:
            with contextlib.suppress(OSError):  # of a name that is too long for any folder
                if (folder := self._beside / name).exists():
                    return folder
            name = name.rstrip("/").rpartition("/")[2]
        found = [
            folder
            for folder, (run_id, digest) in self._known().items()
            if name == run_id or (_is_digest(name) and digest.startswith(name))
        ]
        if len({self._known()[folder] for folder in found}) > 1:
            raise Unnamed(f"receipt {name} is more than one: {', '.join(map(str, found))}; add @ and a digest")
        if not found:
            where = ", ".join(str(root) for root in self._roots)
            raise Unnamed(f"receipt {name} is not there: neither beside the text nor below {where}", missing=True)
        return found[0]

    def _known(self) -> dict[Path, tuple[str, str]]:
        """Return the run id and the digest of each receipt below the roots, as they say themselves."""
        if self._identities is None:
            folders = (folder for root in self._roots for folder in receipt_folders(root))
            self._identities = {folder: found for folder in folders if (found := _identity(folder)) is not None}
        return self._identities

    def _verified(self, folder: Path) -> SealedReceipt:
        if folder not in self._read:
            try:
                self._read[folder] = read_sealed(folder, self._look)
            except ReceiptError as error:
                self._read[folder] = Unnamed(str(error))
        found = self._read[folder]
        if isinstance(found, Unnamed):
            raise found
        return found


def _identity(folder: Path) -> tuple[str, str] | None:
    try:
        stated = json.loads(read_file(folder / MANIFEST))
        digest = hashlib.sha256(read_file(folder / SUMMARY)).hexdigest()
    except (OSError, ValueError, ReceiptError):
        return None
    run_id = stated.get("run_id") if isinstance(stated, dict) else None
    return (run_id, digest) if isinstance(run_id, str) else None


def _is_digest(text: str) -> bool:
    return re.fullmatch(rf"[0-9a-f]{{{SHORTEST_DIGEST},64}}", text) is not None


@dataclass(frozen=True, slots=True)
class Stated:
    """A figure as the receipt has it; None is what it does not say."""

    value: float | None
    interval: Interval | None = None
    n: int | None = None
    excluded: int | None = None


def stated_figure(receipt: SealedReceipt, metric: str, arm: str, group: str) -> Stated | str:
    """Return a figure of a receipt, or in a sentence why it has none of that name."""
    if metric == "coverage":
        counts: dict[str, int] = receipt.summary.coverage.model_dump()
        return Stated(float(counts[arm])) if arm in counts else _no("count", arm, counts)
    if isinstance(receipt.manifest, BenchManifest):
        scores = {(score.metric, score.condition, score.group): score for score in receipt.summary.scores}
        axis = "condition"
    else:
        scores = {(score.metric, score.system, score.group): score for score in receipt.summary.scores}
        axis = "system"
        groups: Mapping[str, str] = {label: group for group, label in receipt.manifest.labels.items()}
        group = groups.get(group, group)
    score = scores.get((metric, arm, group))
    if score is not None:
        return Stated(score.value, score.interval, score.n, score.excluded)
    metrics = [name for name, _, _ in scores]
    if metric not in metrics:
        return _no("metric", metric, metrics)
    arms = [str(of) for name, of, _ in scores if name == metric]
    if arm not in arms:
        return _no(axis, arm, arms)
    return _no("group", group, [of for name, _, of in scores if name == metric])


def _no(what: str, name: str, known: Sequence[str] | Mapping[str, object]) -> str:
    close = difflib.get_close_matches(name, dict.fromkeys(known), n=1)
    return f"the receipt has no such {what}" + (f" (did you mean {close[0]!r}?)" if close else "")


def unlike(text: str, stated: Stated, part: Part) -> Iterator[str]:
    """Say where what is written is not what is stated."""
    if part in ("n", "excluded"):
        right = getattr(stated, part)
        if text.replace(",", "") != str(right):
            yield f"{part} is {text!r} in the text, {right} in the receipt"
        return
    if part == "method":
        method = stated.interval.method if stated.interval else None
        if text != method and not (method is None and text in _NOTHING):
            yield f"method is {text!r} in the text, {method!r} in the receipt"
        return
    if text in _NOTHING:
        right = stated.interval if part == "interval" else stated.value
        if right is not None:
            yield f"nothing in the text, {_shown(stated, part)} in the receipt"
        return
    found = _FIGURE.fullmatch(text)
    if found is None or not any(found.groups()) or (found["percent"] and not found["value"]):
        yield f"{text!r} is no figure, expected such as 0.593, 59.3 % or 0.593 [0.333, 0.815], n = 81"
        return
    if (part == "value" and not found["value"]) or (part == "interval" and not found["low"]):
        yield f"{text!r} has no {part}"
    whole = bool(found["percent"])
    wide = bool(found["high_percent"] or found["both_percent"])
    low, high = (stated.interval.low, stated.interval.high) if stated.interval else (None, None)
    same = (
        _same(found["value"], stated.value, percent=whole)
        and _same(found["low"], low, percent=wide)
        and _same(found["high"], high, percent=wide)
    )
    if not same or (found["n"] and found["n"].replace(",", "") != str(stated.n)):
        yield f"{text!r} in the text, {_shown(stated, part)} in the receipt"


def _same(written: str | None, value: float | None, *, percent: bool) -> bool:
    """Tell whether `value` rounds to what is written; a tie may go either way."""
    if written is None:
        return True
    if value is None:
        return False
    number = Decimal(written.replace(",", "").replace("−", "-"))
    places = len(written.partition(".")[2])
    exact = Fraction(repr(value)) * (100 if percent else 1)
    if not percent and not places and abs(exact) < _FEW and exact.denominator > 1:
        return False  # a rate of 0.55 is not 1
    return abs(Fraction(number) - exact) <= Fraction(1, 2 * 10**places)


def _shown(stated: Stated, part: Part) -> str:
    interval = f"[{stated.interval.low!r}, {stated.interval.high!r}]" if stated.interval else "no interval"
    if part == "interval":
        return interval
    value = "no value" if stated.value is None else repr(stated.value)
    return value if part == "value" or stated.n is None else f"{value} {interval}, n = {stated.n}"


def is_figure(text: str) -> bool:
    """Tell whether a text is nothing but a figure."""
    return _FIGURE.fullmatch(text) is not None and any(character.isdigit() for character in text)
