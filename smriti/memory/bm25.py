"""BM25 as rank-bm25's BM25Okapi scores it, to the last digits but faster: the ranking that others compare with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import log
from pathlib import Path
from typing import TYPE_CHECKING, Any

from smriti.errors import MemorySystemError, UsageError
from smriti.memory._ranked import RankedStore
from smriti.memory._words import SEPARATOR, WordList, words_of
from smriti.types import SystemIdentity

if TYPE_CHECKING:  # numpy takes a tenth of a second to import, which only a search has to pay
    import numpy as np
    from numpy.typing import NDArray

OFFICIAL = "longmemeval-official"

FORMULA = "BM25Okapi of rank-bm25 0.2.2"
K1, B = 1.5, 0.75
EPSILON = 0.25
"""The weight of a word whose own would be below 0, as a share of the average over all words of the realm."""


def create(argument: str | None) -> Bm25:
    """Make the system, or with `longmemeval-official` the one that is as LongMemEval's own script has it.

    UsageError for any other argument.
    """
    if argument not in _VARIANTS:
        raise UsageError(f"memory system 'bm25' has no variant {argument!r}; expected 'bm25' or 'bm25:{OFFICIAL}'")
    return Bm25(argument)


class Bm25:
    """Every memory of the realm, ranked by Okapi BM25: also those that share no word with the query.

    Source: Trotman, Puurula and Burgess, Improvements to BM25 and language models examined, ADCS 2014, with the floor
    that rank-bm25 puts under the weight of a word that more than half of the memories hold.
    """

    version = "1"
    lanes: tuple[str, ...] = ()
    capabilities: frozenset[str] = frozenset({"projects", "provenance"})

    def __init__(self, variant: str | None) -> None:
        self.name = "bm25" if variant is None else f"bm25:{variant}"
        self._variant = _VARIANTS[variant]

    def identity(self) -> SystemIdentity:
        detail = {
            "tokeniser": self._variant.tokeniser,
            "ties": self._variant.ties,
            "formula": FORMULA,
            "k1": K1,
            "b": B,
            "epsilon": EPSILON,
        }
        return SystemIdentity(name=self.name, version=self.version, detail=detail)

    def open(self, workspace: Path, replica: Path | None = None) -> RankedStore:
        """Open an empty store; MemorySystemError for a replica, which a list in memory does not have."""
        del workspace
        if replica is not None:
            raise MemorySystemError(f"{self.name}: there is no stored form to replicate")
        return RankedStore("bm25", partial(_Okapi, variant=self._variant))


@dataclass(frozen=True, slots=True)
class _Variant:
    """How a text becomes words, and in which order equals come."""

    tokeniser: str
    ties: str
    words_of: Callable[[str], bytes]
    """The words of a text, a separator between each two."""
    empty_words: bool
    """Whether there is an empty word between separators that stand side by side."""
    newest_first: bool


_TO_PARTS = bytes({0: 0xFF, ord(" "): 0}.get(byte, byte) for byte in range(256))
"""A blank separates; 0xFF, which UTF-8 never has, stands for the byte that separates here."""


def _parts_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass").translate(_TO_PARTS)


_VARIANTS = {
    None: _Variant(
        tokeniser="[a-z0-9]+ of the lower-cased text",
        ties="input order",
        words_of=words_of,
        empty_words=False,
        newest_first=False,
    ),
    OFFICIAL: _Variant(
        tokeniser='split(" ") of the text as it stands',
        # Its sort is not stable, so that the order of equals is that of numpy's version and the processor.
        ties="reverse input order, as the script's np.argsort(scores)[::-1] has it where that sort is stable",
        words_of=_parts_of,
        empty_words=True,
        newest_first=True,
    ),
}


class _Okapi:
    """The words of the texts, and the weights of those that were asked for."""

    def __init__(self, texts: Sequence[str], variant: _Variant) -> None:
        self._variant = variant
        self._texts = len(texts)
        self._words = WordList([variant.words_of(text) for text in texts], variant.empty_words)
        self._weights: dict[bytes, NDArray[np.float64] | None] = {}

    def rank(self, query: str, k: int) -> tuple[list[int], list[float]]:
        import numpy as np  # noqa: PLC0415

        scores = np.zeros(self._texts)
        for word in self._variant.words_of(query).split(SEPARATOR):
            if word or self._variant.empty_words:
                if word not in self._weights:
                    self._weights[word] = self._weights_of(word)
                weights = self._weights[word]
                if weights is not None:
                    scores += weights
        if self._variant.newest_first:
            order = np.argsort(scores, kind="stable")[::-1][:k]
        else:
            order = np.argsort(-scores, kind="stable")[:k]
        return order.tolist(), scores[order].tolist()

    def _weights_of(self, word: bytes) -> NDArray[np.float64] | None:
        """Return what one `word` of a query adds to the score of each text; None for a word that is in none."""
        frequencies = self._words.frequencies(word)
        holding = int((frequencies > 0).sum())
        if not holding:
            return None
        idf = self._idf(holding)
        if idf < 0:
            idf = EPSILON * self._average_idf
        weights: NDArray[np.float64] = idf * (frequencies * (K1 + 1) / (frequencies + self._norms))
        return weights

    @cached_property
    def _norms(self) -> NDArray[np.floating[Any]]:
        lengths = self._words.lengths
        average = int(lengths.sum()) / self._texts
        norms: NDArray[np.floating[Any]] = K1 * (1 - B + B * lengths / average)
        return norms

    @cached_property
    def _average_idf(self) -> float:
        words_held_by = self._words.words_held_by()
        total = sum(words * self._idf(holding) for holding, words in enumerate(words_held_by) if words)
        return total / sum(words_held_by)

    def _idf(self, holding: int) -> float:
        return log(self._texts - holding + 0.5) - log(holding + 0.5)
