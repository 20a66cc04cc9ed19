"""What queries and realms become for systems that do not take them as they are."""

from __future__ import annotations

import hashlib
import re

_SAFE = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_MOST_KEYWORDS = 32


def project_of(realm: str) -> str | None:
    """Return a name of letters, digits, `-` and `_` that no other realm has; None for no project.

    `project:` before a name that is one already is left away; anything else gets a digest at its end.
    """
    if not realm:
        return None
    name = realm.removeprefix("project:")
    if name != realm and _SAFE.fullmatch(name):
        return name
    digest = hashlib.sha256(realm.encode(errors="surrogatepass")).hexdigest()[:12]
    slug = re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")[:40]
    return f"{slug}_{digest}" if slug else f"x_{digest}"


def keywords(query: str) -> list[str]:
    """Return the different words of at least 3 characters, lower-cased and in order, at most 32; else the query."""
    words = dict.fromkeys(word for word in re.findall(r"\w+", query.lower()) if len(word) >= 3)
    return list(words)[:_MOST_KEYWORDS] or [query]


def cut(query: str, most: int | None) -> str:
    """Return at most `most` characters, cut at a blank where there is one."""
    if most is None or len(query) <= most:
        return query
    kept = query[: most + 1].rsplit(maxsplit=1)
    return kept[0] if len(kept) == 2 and kept[0] else query[:most]
