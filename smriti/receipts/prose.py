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
at, nor is what stands in a code span or in any other fence. What is a link, code, a table or a comment is so by
CommonMark, with the tables of GitHub: what a reader is shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import takewhile, zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from pydantic import ValidationError

from smriti.errors import ReceiptError, UsageError
from smriti.receipts.cited import Library, Part, Unnamed, is_figure, stated_figure, unlike
from smriti.receipts.claim import MARK, WRITTEN_BY, Claim, markdown, remade
from smriti.receipts.sealed import Look, SealedReceipt, by_itself
from smriti.receipts.writer import read_file
from smriti.types import BenchManifest

Render = Callable[[SealedReceipt, Path], tuple[Sequence[str], Sequence[str]]]
"""Prints the summary and the verdict of a receipt under the name of a folder: lines of the one, lines of the other."""

_RECEIPT = re.compile(r"\s*receipt:", re.IGNORECASE)
_LEFT_OVER = re.compile(r"\](?:\(|:)\s*<?\s*receipt:", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"=\s*[\"']?\s*" + r"\s*".join("receipt:"), re.IGNORECASE)
_COMMENT = re.compile(r"\s*<!--\s*receipt:\s*(\S+)\s*-->\s*", re.IGNORECASE)
_ANY_COMMENT = re.compile(r"\s*<!--(?!-?>)(?:(?!--!?>).)*-->\s*", re.DOTALL)
_A_COMMENT = re.compile(r"<!--\s*receipt\b", re.IGNORECASE)
_OPEN_CHECK = re.compile(r"\s*(?:ok|not checked)  (data set|tasks): .*")

_DEEPEST = 100
"""Containers in containers, and brackets in brackets, that are read; Python's own stack bears no more than a few."""

_NOTHING_AFTER = "receipt {} is named before neither a table nor a fence"
_NO_COMMENT = "a comment that cannot be read, expected <!-- receipt: NAME --> on a line of its own"
_NO_LINK = "a link that cannot be read, expected [FIGURE](receipt:NAME#METRIC/CONDITION/GROUP)"
_ARMS, _GROUPS = {"condition", "system", "memory"}, {"group", "type"}
_PLACE = "place"
_PARTS: dict[str, Part] = {part: part for part in ("value", "interval", "n", "excluded", "method")}
_NAMES = {"metric", *_ARMS, *_GROUPS, *_PARTS}


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


def check_prose(path: Path, text: str, roots: Sequence[Path], render: Render, look: Look = by_itself) -> Prose:
    """Check the text of the file `path`; run ids and digests are looked for below `roots`."""
    check = _Check(text, Library(path.parent, roots, look), render)
    check.blocks()
    check.footnotes()
    check.claim(path)
    check.prose.problems.sort(key=lambda problem: problem.line)
    return check.prose


class _Check:
    """One pass over one text."""

    def __init__(self, text: str, library: Library, render: Render) -> None:
        self.prose = Prose()
        self._text = text
        self._lines = re.split(r"\r\n?|\n", text)
        self._references: dict[str, Any] = {}
        self._tokens = _parser().parse(text, self._references)
        self._library = library
        self._render = render

    def blocks(self) -> None:
        """Check every link, and the tables and fences that a comment names a receipt for."""
        named: tuple[str, int] | None = None
        for at, token in enumerate(self._tokens):
            if token.type == "inline":
                self._inline(token)
            elif token.nesting >= 0:
                comment = _COMMENT.fullmatch(token.content) if token.type == "html_block" else None
                if named and (comment or not _is_comment(token)):
                    self._block(*named, at)
                    named = None
                if comment:
                    named = (comment[1], _line(token))
                elif token.type == "html_block":
                    self._html(token.content, _line(token))
                if token.level >= _DEEPEST - 1:
                    self._say(_line(token), "nested too deep in lists or quotes to be read")
        if named:
            self._say(named[1], _NOTHING_AFTER.format(named[0]))

    def footnotes(self) -> None:
        """Refuse figures in what GitHub shows as a footnote, and CommonMark takes for the target of a link."""
        first = self._references.get("references", {}).items()
        again = ((reference["label"], reference) for reference in self._references.get("duplicate_refs", ()))
        for label, reference in (*first, *again):
            if label.startswith("^") and "receipt:" in unquote(f"{reference['href']} {reference['title']}").lower():
                self._say(reference["map"][0] + 1, _NO_LINK)

    def claim(self, text: Path) -> None:
        """Check that a text that is a claim says what the file beside it does, and that file what receipts support.

        It is one by its mark, and without it by its name or by saying what only claims say.
        """
        path = text.with_name("claim.json")
        line = next((_line(token) for token in self._tokens if token.type == "html_block" and MARK in token.content), 0)
        says_so = any(token.type == "inline" and WRITTEN_BY in token.content for token in self._tokens)
        if not line and (says_so or (text.name == "claim.md" and path.exists())):
            line = 1
            self._say(line, f"a claim without its mark, expected {MARK}")
        if not line:
            return
        try:
            claim = Claim.model_validate_json(read_file(path))
        except (OSError, ReceiptError, ValidationError):
            self._say(line, f"{path.name} beside it cannot be read, and it is what this text is to say")
            return
        right = markdown(claim)
        if self._text != right:
            pairs = zip_longest(self._text.split("\n"), right.split("\n"))
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

    def _inline(self, token: Token) -> None:
        children = token.children or []
        for at, child in enumerate(children):
            # Text that nothing follows has no place of its own: it stands in the last line.
            place = child.meta.get(_PLACE, len(token.content))
            line = _line(token) + token.content.count("\n", 0, place)
            if child.type == "link_open":
                within = takewhile(lambda other: other.type != "link_close", children[at + 1 :])
                self._target(child, line, _shown(within))
            elif child.type == "image":
                if _RECEIPT.match(unquote(str(child.attrGet("src")))) or _LEFT_OVER.search(child.content):
                    self._say(line, _NO_LINK)
            elif child.type == "html_inline":
                self._html(child.content, line)
            elif child.type == "text" and _LEFT_OVER.search(child.content):
                self._say(line, _NO_LINK)

    def _html(self, content: str, line: int) -> None:
        """Refuse what names a receipt in HTML: the text of such a link is not known."""
        for found in _A_COMMENT.finditer(content):
            self._say(line + content.count("\n", 0, found.start()), _NO_COMMENT)
        if not _ANY_COMMENT.fullmatch(content):
            decoded = unescape(content)
            for pattern in (_ATTRIBUTE, _LEFT_OVER):
                for found in pattern.finditer(decoded):
                    self._say(line + decoded.count("\n", 0, found.start()), _NO_LINK)

    def _block(self, name: str, line: int, at: int) -> None:
        kind = self._tokens[at].type
        if kind not in ("fence", "table_open"):
            self._say(line, _NOTHING_AFTER.format(name))
        elif receipt := self._receipt(name, line):
            if kind == "fence":
                self._output(receipt, self._tokens[at])
            else:
                self._table(receipt, at)

    def _target(self, link: Token, line: int, text: str) -> None:
        href = str(link.attrGet("href"))
        if href.startswith("receipt:") and not link.attrGet("title"):
            name, _, target = href.removeprefix("receipt:").partition("#")
            if receipt := self._receipt(name, line):
                self._link(receipt, line, text, target)
        elif _RECEIPT.match(unquote(href)):
            self._say(line, _NO_LINK)

    def _link(self, receipt: SealedReceipt, line: int, text: str, target: str) -> None:
        metric, *of = (unquote(part) for part in target.split("/"))
        if not 1 <= len(of) <= 2:
            arm = "CONDITION" if isinstance(receipt.manifest, BenchManifest) else "SYSTEM"
            self._say(line, f"{target!r} names no figure, expected METRIC/{arm} or METRIC/{arm}/GROUP")
        else:
            self._compare(receipt, line, text, (metric, of[0], of[1] if len(of) == 2 else "all"), "figure")

    def _table(self, receipt: SealedReceipt, at: int) -> None:
        head, *rows = _rows(self._tokens[at:])
        known = {score.metric for score in receipt.summary.scores}
        names = [cell.lower() if cell.lower() in _NAMES else cell for cell in head.cells]
        for kind in ({"metric"}, _ARMS, _GROUPS):
            if len(twice := [name for name in names if name in kind]) > 1:
                self._say(head.line, f"columns {' and '.join(twice)} say the same thing twice")
        for name in _unreadable(names, rows):
            self._say(head.line, f"column {name!r} cannot be read, expected {', '.join(_PARTS)}")
        figures = 0
        for row in rows:
            if (written := _count_cells(self._lines[row.line - 1])) != len(names):
                self._say(row.line, f"{written} cells, {len(names)} in the head of the table")
                continue
            arm, group = _row_of(receipt, names, row.cells)
            for text, metric, part in _figures(names, row.cells, known):
                self._compare(receipt, row.line, text, (metric, arm, group), part)
                figures += 1
        if not figures:
            self._say(head.line, "a table that names a receipt and has no figure of it")

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
        found = [
            (number, line.rstrip())
            for number, line in enumerate(fence.content.split("\n"), _line(fence) + 1)
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
            self._say(_line(fence), f"the summary is cut: {len(found)} lines, {least} by receipt {run_id}")

    def _receipt(self, name: str, line: int) -> SealedReceipt | None:
        try:
            receipt = self._library(name)
        except Unnamed as why:
            self._say(line, str(why), missing=why.missing)
            return None
        self.prose.receipts[unquote(name)] = receipt
        return receipt

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


def _parser() -> MarkdownIt:
    """Return a parser of CommonMark and tables that notes where each inline token begins in its block."""
    parser = MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable("table")
    rules = parser.inline.ruler
    for name, rule in zip(rules.get_active_rules(), rules.getRules(""), strict=True):
        rules.at(name, _placed(rule))
    return parser


def _placed(rule: Callable[[StateInline, bool], bool]) -> Callable[[StateInline, bool], bool]:
    def read(state: StateInline, silent: bool) -> bool:
        start, before = state.pos, len(state.tokens)
        matched = rule(state, silent)
        for token in state.tokens[before:]:
            token.meta.setdefault(_PLACE, start)
        return matched

    return read


def _line(token: Token) -> int:
    return token.map[0] + 1 if token.map else 0


def _is_comment(token: Token) -> bool:
    return token.type == "html_block" and _ANY_COMMENT.fullmatch(token.content) is not None


def _shown(tokens: Iterable[Token]) -> str:
    """Return the text that a reader is shown; HTML and images, which may show anything, stay as they are written."""
    shown = "".join(
        " " if token.type in ("softbreak", "hardbreak") else "![]" if token.type == "image" else token.content
        for token in tokens
    )
    return " ".join(shown.split())


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    cells: list[str]


def _rows(tokens: Iterable[Token]) -> list[_Row]:
    """Return the rows of the table that `tokens` begin with, its head first."""
    rows: list[_Row] = []
    for token in takewhile(lambda token: token.type != "table_close", tokens):
        if token.type == "tr_open":
            rows.append(_Row(_line(token), []))
        elif token.type == "inline":
            rows[-1].cells.append(_shown(token.children or []))
    return rows


def _count_cells(line: str) -> int:
    """Count the cells that are written in a row: a table has as many in each as in its head, whatever is written."""
    bare = line.lstrip(" \t>").removeprefix("|").rstrip().removesuffix("|")
    return len(re.split(r"(?<!\\)\|", bare))


def _unreadable(names: Sequence[str], rows: Sequence[_Row]) -> Iterator[str]:
    """Yield each column of figures that is not compared, of a table that says in another column what they are of."""
    for at, name in enumerate(names if "metric" in names else ()):
        if name not in _NAMES and any(_has_figure(row.cells[at]) for row in rows):
            yield name


def _has_figure(cell: str) -> bool:
    return is_figure(re.sub("<[^>]*>", "", cell).strip())


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
        elif name not in _ARMS | _GROUPS and _has_figure(cell):
            yield cell, name, "figure"
