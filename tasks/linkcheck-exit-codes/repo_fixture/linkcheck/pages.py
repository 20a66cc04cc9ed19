"""The pages below a folder, and which of their links are broken."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from posixpath import normpath
from urllib.parse import unquote

from linkcheck import markdown
from linkcheck.config import Config
from linkcheck.errors import CannotCheck

SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)


@dataclass(frozen=True)
class Broken:
    page: str
    line: int
    reason: str
    target: str


@dataclass(frozen=True)
class Outcome:
    pages: int
    """How many pages were checked."""
    broken: list[Broken]


def check(folder: Path, config: Config) -> Outcome:
    """Check every page below `folder`; raise CannotCheck if it is no folder or holds no page."""
    if not folder.is_dir():
        raise CannotCheck(f"no such folder: {folder}")
    texts = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8", errors="replace")
        for path in sorted(folder.rglob("*.md"))
    }
    if not texts:
        raise CannotCheck(f"no pages in {folder}")
    anchors = {page: markdown.headings(text) for page, text in texts.items()}
    checked = [page for page in texts if not _matches(page, config.ignore)]
    broken = []
    for page in checked:
        for line, target in markdown.links(texts[page]):
            if SCHEME.match(target) or _matches(target, config.allow):
                continue
            reason = _fault(folder, page, target, anchors)
            if reason:
                broken.append(Broken(page, line, reason, target))
    return Outcome(len(checked), broken)


def _fault(folder: Path, page: str, target: str, anchors: dict[str, set[str]]) -> str | None:
    where, _, heading = target.partition("#")
    if where:
        linked = normpath((PurePosixPath(page).parent / unquote(where)).as_posix())
        if linked.startswith("../") or not (folder / linked).exists():
            return "no such file"
    else:
        linked = page
    if heading and linked in anchors and unquote(heading) not in anchors[linked]:
        return "no such heading"
    return None


def _matches(name: str, globs: tuple[str, ...]) -> bool:
    return any(fnmatchcase(name, glob) for glob in globs)
