"""Word by word search of whole memories, as with grep: the baseline without any weighting."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

from smriti.errors import MemorySystemError, UsageError
from smriti.memory._ranked import RankedStore
from smriti.memory._words import SEPARATOR, words_of
from smriti.types import SystemIdentity

if TYPE_CHECKING:  # numpy takes a tenth of a second to import, which only a search has to pay
    import numpy as np
    from numpy.typing import NDArray

_MARGIN = 8
"""Separators before the first text and after the last, so that whatever begins in a text can be read as 8 bytes."""


def create(argument: str | None) -> Grep:
    """Make the system; UsageError if an argument is given."""
    if argument is not None:
        raise UsageError(f"memory system 'grep' takes no argument, found {argument!r}")
    return Grep()


class Grep:
    """Memories in which some word of the query occurs, also inside of a word, the most different words first."""

    name = "grep"
    version = "1"
    lanes: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset({"projects", "provenance"})

    def identity(self) -> SystemIdentity:
        detail = {
            "tokeniser": "[a-z0-9]+ of the lower-cased query",
            "score": "number of different words of the query that are part of the lower-cased text",
            "ties": "input order",
        }
        return SystemIdentity(name=self.name, version=self.version, detail=detail)

    def open(self, workspace: Path, replica: Path | None = None) -> RankedStore:
        """Open an empty store; MemorySystemError for a replica, which a list in memory does not have."""
        del workspace
        if replica is not None:
            raise MemorySystemError("grep: there is no stored form to replicate")
        return RankedStore("grep", _Texts)


class _Texts:
    """The texts, and which of them hold the words that were asked for.

    A word of a query has no byte but [a-z0-9], so that it occurs in a text just where it occurs in the text's words.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        import numpy as np  # noqa: PLC0415

        self._texts = [words_of(text) for text in texts]
        self._begins = np.fromiter(accumulate((len(text) + 1 for text in self._texts[:-1]), initial=_MARGIN), np.int64)
        joined = SEPARATOR.join([bytes(_MARGIN - 1), *self._texts, bytes(_MARGIN)])
        self._joined = joined + bytes(-len(joined) % _MARGIN)
        self._holding: dict[bytes, NDArray[np.bool_]] = {}

    def rank(self, query: str, k: int) -> tuple[list[int], list[float]]:
        import numpy as np  # noqa: PLC0415

        scores = np.zeros(len(self._texts))
        for word in set(filter(None, words_of(query).split(SEPARATOR))):
            if word not in self._holding:
                self._holding[word] = self._texts_with(word)
            scores += self._holding[word]
        order = np.argsort(-scores, kind="stable")[: min(k, np.count_nonzero(scores))]
        return order.tolist(), scores[order].tolist()

    def _texts_with(self, word: bytes) -> NDArray[np.bool_]:
        """Say for each text whether it holds `word`.

        Wherever a word of 7 bytes stands, it covers a whole aligned group of 4, and one of 3 bytes a group of 2. To
        compare all groups with the 4 or 2 that it may be takes half the time of searching byte by byte.
        """
        import numpy as np  # noqa: PLC0415

        group = 4 if len(word) >= 7 else 2
        if len(word) < 2 * group - 1:
            return np.array([word in text for text in self._texts])  # so short that most texts hold it near their start
        groups = np.frombuffer(self._joined, f"<u{group}")
        at_each_byte = np.ndarray((len(self._joined) - 7,), "<u8", self._joined, strides=(1,))
        mask, start = (np.uint64(int.from_bytes(part[:8], "little")) for part in (b"\xff" * len(word), word))
        holding = np.zeros(len(self._texts), np.bool_)
        for shift in range(group):
            part = int.from_bytes(word[shift : shift + group], "little")
            found = np.flatnonzero(groups == groups.dtype.type(part)) * group - shift
            found = found[at_each_byte[found] & mask == start]
            if len(word) > 8:
                found = np.array([at for at in found.tolist() if self._joined.startswith(word, at)], np.int64)
            holding[self._begins.searchsorted(found, "right") - 1] = True
        return holding
