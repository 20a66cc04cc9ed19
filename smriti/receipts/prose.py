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

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from urllib.parse import unquote

from pydantic import ValidationError

from smriti.errors import UsageError
from smriti.receipts.cited import Library, Part, Unnamed, is_figure, stated_figure, unlike
from smriti.receipts.claim import MARK, Claim, markdown, remade
from smriti.receipts.sealed import SealedReceipt
from smriti.types import BenchManifest

Render = Callable[[SealedReceipt, Path], tuple[Sequence[str], Sequence[str]]]
"""Prints the summary and the verdict of a receipt under the name of a folder: lines of the one, lines of the other."""

_LINK = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(\s*receipt:([^\s()]*(?:\([^\s()]*\)[^\s()]*)*)\s*\)")
_LEFT_OVER = re.compile(r"\]\(\s*<?receipt:|\]:\s*<?receipt:|href\s*=\s*[\"']?receipt:", re.IGNORECASE)
_COMMENT = re.compile(r"\s*<!--\s*receipt:\s*(\S+)\s*-->\s*")
_ANY_COMMENT = re.compile(r"\s*<!--(?:(?!-->).)*-->\s*")
_A_COMMENT = re.compile(r"<!--\s*receipt\b")
_FENCE = re.compile(r" {0,3}(`{3,}(?!.*`)|~{3,})")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\s*\n).)*?(?<!`)\1(?!`)", re.DOTALL)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_OPEN_CHECK = re.compile(r"\s*(?:ok|not checked)  (data set|tasks): .*")

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


def check_prose(path: Path, text: str, roots: Sequence[Path], render: Render) -> Prose:
    """Check the text of the file `path`; run ids and digests are looked for below `roots`."""
    check = _Check(text, Library(path.parent, roots), render)
    check.links("\n".join(check.blocks()))
    if MARK in text.splitlines():
        check.claim(path.parent / "claim.json", text)
    check.prose.problems.sort(key=lambda problem: problem.line)
    return check.prose


class _Check:
    """One pass over one text."""

    def __init__(self, text: str, library: Library, render: Render) -> None:
        self.prose = Prose()
        self._lines = text.splitlines()
        self._library = library
        self._render = render

    def blocks(self) -> Iterator[str]:
        """Check tables and fences that a comment names a receipt for; yield each line as prose, fences left blank."""
        named: tuple[str, int] | None = None
        at = 0
        while at < len(self._lines):
            line = self._lines[at]
            fence, comment = _FENCE.match(line), _COMMENT.fullmatch(line)
            end = self._end_of_fence(at, fence[1]) if fence else self._end_of_table(at) if named else at + 1
            if comment or (line.strip() and not _ANY_COMMENT.fullmatch(line)):
                if named:
                    self._block(*named, at, end, fence=bool(fence))
                named = (comment[1], at + 1) if comment else None
            if not fence and not comment and _A_COMMENT.search(_without_code(line)):
                self._say(at + 1, "a comment that cannot be read, expected <!-- receipt: NAME --> on a line of its own")
            yield from ("" if fence else kept for kept in self._lines[at:end])
            at = end
        if named:
            self._say(named[1], _NOTHING_AFTER.format(named[0]))

    def links(self, text: str) -> None:
        """Check the figures that are links, in prose without fences."""
        text = _without_code(text)
        for link in _LINK.finditer(text):
            line = text.count("\n", 0, link.start()) + 1
            name, _, target = link[2].partition("#")
            if receipt := self._receipt(name, line):
                self._link(receipt, line, " ".join(link[1].split()), target)
        rest = _LINK.sub(_blank, text)
        for left in _LEFT_OVER.finditer(rest):
            line = rest.count("\n", 0, left.start()) + 1
            self._say(line, "a link that cannot be read, expected [FIGURE](receipt:NAME#METRIC/CONDITION/GROUP)")

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
            pairs = zip_longest(self._lines, right.splitlines())
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

    def _end_of_fence(self, at: int, mark: str) -> int:
        closing = re.compile(rf" {{0,3}}{re.escape(mark[0])}{{{len(mark)},}}\s*")
        ends = (i + 1 for i in range(at + 1, len(self._lines)) if closing.fullmatch(self._lines[i]))
        return next(ends, len(self._lines))

    def _end_of_table(self, at: int) -> int:
        ends = (i for i in range(at + 1, len(self._lines)) if "|" not in self._lines[i])
        return next(ends, len(self._lines)) if "|" in self._lines[at] else at + 1

    def _block(self, name: str, line: int, at: int, end: int, *, fence: bool) -> None:
        if not fence and "|" not in self._lines[at]:
            self._say(line, _NOTHING_AFTER.format(name))
        elif receipt := self._receipt(name, line):
            if fence:
                self._output(receipt, at, end)
            else:
                self._table(receipt, at, end)

    def _link(self, receipt: SealedReceipt, line: int, text: str, target: str) -> None:
        metric, *of = (unquote(part) for part in target.split("/"))
        if not 1 <= len(of) <= 2:
            arm = "CONDITION" if isinstance(receipt.manifest, BenchManifest) else "SYSTEM"
            self._say(line, f"{target!r} names no figure, expected METRIC/{arm} or METRIC/{arm}/GROUP")
        else:
            self._compare(receipt, line, text, (metric, of[0], of[1] if len(of) == 2 else "all"), "figure")

    def _table(self, receipt: SealedReceipt, at: int, end: int) -> None:
        names = _cells(self._lines[at])
        known = {score.metric for score in receipt.summary.scores}
        figures = 0
        for number in range(at + 1, end):
            cells = _cells(self._lines[number])
            if len(cells) != len(names):
                self._say(number + 1, f"{len(cells)} cells, {len(names)} in the head of the table")
            elif number > at + 1 or not all(re.fullmatch(":?-+:?", cell) for cell in cells):
                arm, group = _row_of(receipt, names, cells)
                for text, metric, part in _figures(names, cells, known):
                    self._compare(receipt, number + 1, text, (metric, arm, group), part)
                    figures += 1
        if not figures:
            self._say(at + 1, "a table that names a receipt and has no figure of it")

    def _compare(self, receipt: SealedReceipt, line: int, text: str, figure: tuple[str, str, str], part: Part) -> None:
        found = stated_figure(receipt, *figure)
        named = "/".join(figure[:2] if figure[0] == "coverage" else figure)
        if isinstance(found, str):
            self._say(line, f"{named} of {receipt.manifest.run_id}: {found}")
            return
        self.prose.figures += 1
        for why in unlike(text, found, part):
            self._say(line, f"{named} of {receipt.manifest.run_id}: {why}")

    def _output(self, receipt: SealedReceipt, at: int, end: int) -> None:
        """Compare a fence with what the receipt prints, but for blank lines and the commands that printed it."""
        closed = end - 1 if end > at + 1 and _FENCE.match(self._lines[end - 1]) else end
        found = [
            (number, line.rstrip())
            for number, line in enumerate(self._lines[at + 1 : closed], at + 2)
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


def _without_code(text: str) -> str:
    return _CODE.sub(_blank, text)


def _blank(found: re.Match[str]) -> str:
    """Leave nothing of what was found but its lines."""
    return re.sub(r"[^\n]", " ", found[0])


def _settled(line: str) -> str:
    """Take from a line of a verdict what depends on the machine: whether the data set or the tasks are on it."""
    return _OPEN_CHECK.sub(r"\1", line)


def _cells(line: str) -> list[str]:
    r"""Split a row of a table at its bars, and take the backslashes away; `\|` is a bar in a cell."""
    cells = re.split(r"(?<!\\)\|", line.strip().removeprefix("|"))
    if len(cells) > 1 and not cells[-1].strip():
        cells.pop()
    return [_ESCAPED.sub(r"\1", cell.strip().strip("`*")) for cell in cells]


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
