r"""Find the figures of a Markdown text that name a receipt, and compare each with it.

A text names a receipt in one of three ways. NAME is a folder (relative to the text, with a `/` in it), a run id, or the
sha256 of summary.json, of which 12 digits will do; `NAME@DIGEST` says which receipt a folder or a run id must be.

* A figure, as a link: `[0.593 [0.333, 0.815], n = 81](receipt:NAME#delta_sr/on/all)`. After `#` stand the metric, the
  condition (of a retrieval receipt: the system) and the group (`all` unless it is given), or `coverage/planned`.
* A table, after `<!-- receipt: NAME -->`: with a column `metric`, and `value`, `interval`, `n`, `excluded`, `method`;
  or with a column for each metric, by its full name. `condition`, `system` and `group` say what a row is of.
* What a command printed, in a fence after `<!-- receipt: NAME -->`: the whole summary of the run, and then as much as
  is shown of what `smriti verify` prints.

A figure matches when it is the receipt's, rounded to the digits that are written. What names no receipt is not looked
at, nor is what stands in a code span or in any other fence.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import zip_longest
from pathlib import Path
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.token import Token
from pydantic import ValidationError

from smriti.errors import UsageError
from smriti.receipts.cited import Library, Part, Unnamed, is_figure, stated_figure, unlike
from smriti.receipts.claim import MARK, Claim, markdown, remade
from smriti.receipts.sealed import Look, SealedReceipt
from smriti.types import BenchManifest

Render = Callable[[SealedReceipt, Path], tuple[Sequence[str], Sequence[str]]]
"""Prints the summary and the verdict of a receipt under the name of a folder: lines of the one, lines of the other."""

_COMMENT = re.compile(r"\s*<!--\s*receipt\s*:\s*(\S+)\s*-->\s*", re.IGNORECASE)
_A_COMMENT = re.compile(r"<!--\s*receipt\b", re.IGNORECASE)
_ANY_COMMENT = re.compile(r"\s*<!--(?:(?!-->).)*-->\s*", re.DOTALL)
_HTML_LINK = re.compile(r"receipt\s*:", re.IGNORECASE)
_OPEN_CHECK = re.compile(r"\s*(?:ok|not checked)  (data set|tasks): .*")
_BAR = re.compile(r"(?<!\\)\|")
_SCHEME = "receipt:"

_NO_COMMENT = "a comment that cannot be read, expected <!-- receipt: NAME --> on a line of its own"
_UNREADABLE = "a link that cannot be read, expected [FIGURE](receipt:NAME#METRIC/CONDITION/GROUP)"
_NOTHING_AFTER = "receipt {} is named before neither a table nor a fence"
_ARMS, _GROUPS = {"condition", "system", "memory"}, {"group", "type"}
_PARTS: dict[str, Part] = {part: part for part in ("value", "interval", "n", "excluded", "method")}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong in a line of a text; `missing` where it is no more than that a receipt is not there."""

    line: int
    message: str
    missing: bool = False


@dataclass(slots=True)
class Prose:
    """What was found in one text."""

    figures: int = 0
    """That were compared with a receipt."""
    output_lines: int = 0
    """Likewise, of what commands printed."""
    receipts: dict[str, SealedReceipt] = field(default_factory=dict)
    """By the name that the text has for each."""
    problems: list[Problem] = field(default_factory=list)
    """By line."""


def check_prose(
    path: Path, text: str, roots: Sequence[Path], render: Render, look: Look = lambda verdict: verdict
) -> Prose:
    """Check the text of the file `path`; run ids and digests are looked for below `roots`.

    `look` settles what `verify` leaves open of a receipt, as in `read_sealed`.
    """
    check = _Check(text, Library(path.parent, roots, look), render)
    check.blocks()
    if MARK in text.split("\n"):
        check.claim(path.parent / "claim.json", text)
    check.prose.problems.sort(key=lambda problem: problem.line)
    return check.prose


class _Check:
    """One pass over one text."""

    def __init__(self, text: str, library: Library, render: Render) -> None:
        self.prose = Prose()
        self._lines = text.split("\n")
        self._tokens = MarkdownIt("commonmark").enable("table").parse(text)
        self._library = library
        self._render = render
        self._named: tuple[str, int] | None = None
        """The receipt that the next table or fence is of, and the line that says so."""

    def blocks(self) -> None:
        """Check what a reader sees: links, and the tables and fences that a comment names a receipt for."""
        tokens = iter(self._tokens)
        for token in tokens:
            at = token.map[0] + 1 if token.map else 0
            match token.type:
                case "html_block":
                    self._html(token.content, at)
                case "fence":
                    self._block(lambda receipt, token=token: self._output(receipt, token))  # type: ignore[misc]
                case "table_open":
                    rows = list(_rows(itertools.takewhile(lambda each: each.type != "table_close", tokens)))
                    self._block(lambda receipt, rows=rows: self._table(receipt, rows))  # type: ignore[misc]
                    for row in rows:
                        for cell in row:
                            self._links(cell)
                case "inline" | "code_block":
                    self._nothing_named()
                    self._links(token)
        self._nothing_named()

    def _html(self, content: str, line: int) -> None:
        if named := _COMMENT.fullmatch(content):
            self._nothing_named()
            self._named = named[1], line
        elif not _ANY_COMMENT.fullmatch(content):
            self._nothing_named()
        if not named and _A_COMMENT.search(content):
            self._say(line, _NO_COMMENT)
        elif not named and _HTML_LINK.search(unescape(content)):
            self._say(line, _UNREADABLE)

    def _links(self, inline: Token) -> None:
        """Check the figures that are links."""
        line = inline.map[0] + 1 if inline.map else 0
        opened: tuple[str, int] | None = None
        text: list[str] = []
        for child in inline.children or ():
            match child.type:
                case "link_open":
                    opened, text = (str(child.attrs.get("href", "")), line), []
                case "link_close" if opened:
                    self._link(*opened, " ".join("".join(text).split()))
                    opened = None
                case "html_inline" if _A_COMMENT.search(child.content):
                    self._say(line, _NO_COMMENT)
                case "html_inline" if _HTML_LINK.search(unescape(child.content)):
                    self._say(line, _UNREADABLE)
            line += child.type in {"softbreak", "hardbreak"}
            text.append(" " if child.type in {"softbreak", "hardbreak"} else child.content)

    def _link(self, href: str, line: int, text: str) -> None:
        if not href.lower().startswith(_SCHEME):
            return
        name, _, target = href[len(_SCHEME) :].partition("#")
        receipt = self._receipt(name, line)
        if receipt is None:
            return
        metric, *of = (unquote(part) for part in target.split("/"))
        if not 1 <= len(of) <= 2:
            arm = "CONDITION" if isinstance(receipt.manifest, BenchManifest) else "SYSTEM"
            self._say(line, f"{unquote(target)!r} names no figure, expected METRIC/{arm} or METRIC/{arm}/GROUP")
        else:
            self._compare(receipt, line, text, (metric, of[0], of[1] if len(of) == 2 else "all"), "figure")

    def claim(self, path: Path, text: str) -> None:
        """Check that a claim says what the file beside it does, and that file what its receipts support."""
        line = self._lines.index(MARK) + 1
        try:
            claim = Claim.model_validate_json(path.read_bytes())
        except (OSError, ValidationError):
            self._say(line, f"{path.name} beside it cannot be read, and it is what this text is to say")
            return
        right = markdown(claim)
        if text != right:
            pairs = zip_longest(self._lines, right.split("\n"))
            number, (found, expected) = next((n, pair) for n, pair in enumerate(pairs, 1) if len(set(pair)) > 1)
            self._say(number, f"{found!r} in the text, {expected!r} by {path.name}")
        try:
            made = remade(claim, self._library)
        except (Unnamed, UsageError) as why:
            self._say(line, f"{path.name}: {why}", missing=isinstance(why, Unnamed) and why.missing)
            return
        if isinstance(made, list):
            self._say(line, f"{path.name}: its receipts support no claim: {made[0].name}: found {made[0].found}")
        elif made != claim:
            fields = [name for name in Claim.model_fields if getattr(made, name) != getattr(claim, name)]
            self._say(line, f"{path.name}: {', '.join(fields)} are not what its receipts support")

    def _nothing_named(self) -> None:
        if self._named is not None:
            self._say(self._named[1], _NOTHING_AFTER.format(self._named[0]))
            self._named = None

    def _block(self, check: Callable[[SealedReceipt], None]) -> None:
        if self._named is not None:
            name, at = self._named
            self._named = None
            if receipt := self._receipt(name, at):
                check(receipt)

    def _table(self, receipt: SealedReceipt, rows: Sequence[Sequence[Token]]) -> None:
        head, *body = [[_text(cell) for cell in row] for row in rows]
        line = _line(rows[0])
        names = [_column(name) for name in head]
        for kinds in (_ARMS, _GROUPS):
            if len(twice := [name for name in names if name in kinds]) > 1:
                self._say(line, f"columns {' and '.join(twice)} say the same thing twice")
        known = {score.metric for score in receipt.summary.scores}
        figures = 0
        for row, cells in zip(rows[1:], body, strict=True):
            at = _line(row)
            source = self._lines[at - 1].strip()
            written = len(_BAR.split(source.removeprefix("|"))) - source.endswith("|")
            if written != len(names):
                self._say(at, f"{written} cells, {len(names)} in the head of the table")
            arm, group = _row_of(receipt, names, cells)
            for text, metric, part in _figures(names, cells, known):
                self._compare(receipt, at, text, (metric, arm, group), part)
                figures += 1
            if "metric" in names:
                for name, cell in zip(names, cells, strict=True):
                    if name not in {"metric", *_PARTS, *_ARMS, *_GROUPS} and is_figure(cell):
                        self._say(at, f"column {name!r} cannot be read, expected {', '.join(_PARTS)}")
        if not figures:
            self._say(line, "a table that names a receipt and has no figure of it")

    def _compare(self, receipt: SealedReceipt, line: int, text: str, figure: tuple[str, str, str], part: Part) -> None:
        found = stated_figure(receipt, *figure)
        named = "/".join(figure[:2] if figure[0] == "coverage" else figure)
        if isinstance(found, str):
            self._say(line, f"{named} of {receipt.manifest.run_id}: {found}")
            return
        self.prose.figures += 1
        for why in unlike(text, found, part):
            self._say(line, f"{named} of {receipt.manifest.run_id}: {why}")

    def _output(self, receipt: SealedReceipt, fence: Token) -> None:
        """Compare a fence with what the receipt prints, but for blank lines and the commands that printed it."""
        at = fence.map[0] if fence.map else 0
        found = [
            (number, line.rstrip())
            for number, line in enumerate(fence.content.split("\n"), at + 2)
            if line.strip() and not line.startswith(("$ ", "nox > "))
        ]
        summary, verdict = self._render(receipt, _folder_in(receipt, [line for _, line in found]))
        expected = [line.rstrip() for line in (*summary, *verdict) if line.strip()]
        least = sum(bool(line.strip()) for line in summary)
        run_id = receipt.manifest.run_id
        self.prose.output_lines += len(found)
        for (number, line), right in zip(found, expected, strict=False):
            if _settled(line) != _settled(right):
                self._say(number, f"{line.strip()!r} in the text, {right.strip()!r} by receipt {run_id}")
        for number, line in found[len(expected) :]:
            self._say(number, f"{line.strip()!r} is not what receipt {run_id} prints")
        if len(found) < least:
            self._say(at + 1, f"the summary is cut: {len(found)} lines, {least} by receipt {run_id}")

    def _receipt(self, name: str, line: int) -> SealedReceipt | None:
        try:
            self.prose.receipts[name] = self._library(name)
        except Unnamed as why:
            self._say(line, str(why), missing=why.missing)
            return None
        return self.prose.receipts[name]

    def _say(self, line: int, message: str, *, missing: bool = False) -> None:
        self.prose.problems.append(Problem(line, message, missing))


def _folder_in(receipt: SealedReceipt, output: Sequence[str]) -> Path:
    """Return the folder that the output names, wherever the receipt stood then; its own if another one is named."""
    named = next((Path(line.removeprefix("receipt ")) for line in output if line.startswith("receipt ")), None)
    own = {receipt.manifest.run_id, receipt.directory.resolve().name}
    return named if named is not None and named.name in own else receipt.directory


def _settled(line: str) -> str:
    """Take from a line of a verdict what depends on the machine: whether the data set or the tasks are on it."""
    return _OPEN_CHECK.sub(r"\1", line)


def _rows(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    """Yield the cells of each row of a table, each an inline token."""
    row: list[Token] = []
    for token in tokens:
        if token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(token)
        elif token.type == "tr_close":
            yield row


def _text(cell: Token) -> str:
    return "".join(child.content for child in cell.children or () if child.type != "html_inline").strip()


def _line(row: Sequence[Token]) -> int:
    return next((cell.map[0] + 1 for cell in row if cell.map), 0)


def _column(name: str) -> str:
    """Return a name of a column as it is known here, in whatever letters it is written."""
    known = {"metric", *_PARTS, *_ARMS, *_GROUPS}
    return name.lower() if name.lower() in known else name


def _row_of(receipt: SealedReceipt, names: Sequence[str], cells: Sequence[str]) -> tuple[str, str]:
    """Return the condition or system, and the group, that a row is of; the only one, on and all where it says none."""
    manifest = receipt.manifest
    only = ("on",) if isinstance(manifest, BenchManifest) else manifest.config.memory
    row = dict(zip(names, cells, strict=True))
    arm = next((row[name] for name in names if name in _ARMS), only[0] if len(only) == 1 else "")
    return arm, next((row[name] for name in names if name in _GROUPS), "all")


def _figures(names: Sequence[str], cells: Sequence[str], known: Collection[str]) -> Iterator[tuple[str, str, Part]]:
    """Yield what is written in a row, the metric that it is of, and which part of the figure."""
    row = list(zip(names, cells, strict=True))
    if "metric" in names:
        metric = cells[names.index("metric")]
        yield from ((cell, metric, _PARTS[name]) for name, cell in row if name in _PARTS)
        return
    first = last = next((name for name in names if name in known), "")
    for name, cell in row:
        if name in known:
            last = name
            yield cell, name, "figure"
        elif name in _PARTS:
            yield cell, last if name == "interval" else first, _PARTS[name]
        elif name not in _ARMS | _GROUPS and is_figure(cell):
            yield cell, name, "figure"
