"""Read the data set that a retrieval run names, or that its receipt was made from."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from smriti.cli.amount import Amount
from smriti.datasets import coding_life as coding_life_set
from smriti.datasets import errata, lock, prepared
from smriti.datasets import locomo as locomo_set
from smriti.datasets import longmemeval as longmemeval_set
from smriti.errors import UsageError
from smriti.types import DatasetReading, RetrievalManifest

FORMS: tuple[longmemeval_set.Form, ...] = ("session", "user-turns")
GRANULARITIES: tuple[locomo_set.Granularity, ...] = ("session", "turn")

_UNPINNED = "sha256:"
"""How a data set is called that no pin knows."""
_LARGE_BYTES = 1 << 26
"""From here on it takes long enough to digest a file that somebody might wonder."""

Option = bool | str | tuple[int, ...]
"""What a flag of one suite alone can be."""


@dataclass(frozen=True)
class Source:
    """A data set that was read, and how."""

    reading: DatasetReading
    options: dict[str, Option]
    """As resolved."""
    datasets: dict[str, str]
    whole: bool
    """It is a pinned set, of which the options leave nothing out."""


def needs_file(manifest: RetrievalManifest) -> bool:
    """Tell whether a run read a file that was named by --data, and that cannot be found again without."""
    if manifest.suite == "longmemeval":
        return "set" not in manifest.config.options
    return any(name.startswith(_UNPINNED) for name in manifest.datasets)


def longmemeval(data: Path | None, options: Mapping[str, Option]) -> Source:
    """Read the LongMemEval file `data`, or the pinned one that `set` names; `form` is what a document is."""
    form = _one_of("--form", options.get("form", "session"), FORMS)
    which = _one_of("--set", options.get("set", "s"), ("s", "m", "oracle"))
    path = (data or lock.locate(f"longmemeval-{which}")).absolute()
    state = longmemeval_set.FileState.of(path)
    identity = _identified(path)
    found = prepared.read(path, identity.sha256, state, form)
    if found.unkept is not None:
        sys.stderr.write(f"smriti: warning: {found.unkept}\n")
    resolved: dict[str, Option] = {"form": form}
    if data is None:
        resolved["set"] = which
    return Source(found.reading, resolved, _named(identity), whole=identity.name is not None)


def locomo(data: Path | None, options: Mapping[str, Option]) -> Source:
    """Read the LoCoMo file `data`, or the pinned one, with the errata overlay that is for just its bytes."""
    granularity = _one_of("--granularity", options.get("granularity", "session"), GRANULARITIES)
    categories = options.get("categories")
    numbers = categories if isinstance(categories, tuple) else None
    path = data or lock.locate("locomo10")
    state = longmemeval_set.FileState.of(path)
    identity = _identified(path)
    overlay = errata.shipped(identity.sha256)
    captions, dates = options.get("captions") is True, options.get("dates") is True
    reading = locomo_set.read(path, granularity, numbers, captions=captions, dates=dates, errata=overlay)
    if longmemeval_set.FileState.of(path) != state:
        raise longmemeval_set.changed(path)
    all_is_of = tuple(sorted(locomo_set.DEFAULT_CATEGORIES if numbers is None else numbers))
    resolved: dict[str, Option] = {
        "granularity": granularity,
        "captions": captions,
        "dates": dates,
        "all_categories": all_is_of,
    }
    if numbers is not None:
        resolved["categories"] = numbers
    whole = identity.name is not None and set(numbers or locomo_set.CATEGORIES) == set(locomo_set.CATEGORIES)
    datasets = _named(identity) if overlay is None else {**_named(identity), **_named(overlay.identity)}
    return Source(reading, resolved, datasets, whole=whole)


def coding_life(data: Path | None, options: Mapping[str, Option]) -> Source:
    """Read the fixture, or a folder `data` of its form."""
    del options
    own = coding_life_set.folder()
    path = data or own
    identity = coding_life_set.identity(path)
    reading = coding_life_set.read(path)
    if coding_life_set.identity(path) != identity:
        raise longmemeval_set.changed(path)
    whole = identity == coding_life_set.identity(own)
    return Source(reading, {}, _named(identity if whole else replace(identity, name=None)), whole=whole)


def _identified(path: Path) -> lock.Identity:
    large = path.is_file() and path.stat().st_size >= _LARGE_BYTES
    with Amount(path.name, "bytes") as amount:
        return lock.identify(path, amount if large else None)


def _named(identity: lock.Identity) -> dict[str, str]:
    """Name a data set; a file that no pin knows goes by its digest alone."""
    return {identity.name or f"{_UNPINNED}{identity.sha256[:12]}": identity.sha256}


_ChoiceT = TypeVar("_ChoiceT", bound=str)


def _one_of(flag: str, given: object, choices: Sequence[_ChoiceT]) -> _ChoiceT:
    for choice in choices:
        if given == choice:
            return choice
    raise UsageError(f"{flag} is {given!r}; expected {' or '.join(choices)}")
