"""Texts as words in bytes, and lists of words that are counted many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # numpy takes a tenth of a second to import, which only a search has to pay
    import numpy as np
    from numpy.typing import NDArray

SEPARATOR = b"\0"
"""What stands between the words of a text in bytes, and in no word."""

_BYTES = 8
"""How much of a word one number holds."""

_MARKS = 2**22
"""How many pairs of a text and a word are marked at a time."""

_TO_WORDS = bytes(
    byte + 32
    if byte in b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    else byte
    if byte in b"abcdefghijklmnopqrstuvwxyz0123456789"
    else 0
    for byte in range(256)
)
_LOWERED_TO_ASCII = ("\N{LATIN CAPITAL LETTER I WITH DOT ABOVE}", "\N{KELVIN SIGN}")


def words_of(text: str) -> bytes:
    """Return the words of `text`, the `[a-z0-9]+` of `text.lower()`, with a separator for each byte between them."""
    if not text.isascii() and any(letter in text for letter in _LOWERED_TO_ASCII):
        text = text.lower()
    return text.encode("utf-8", "replace").translate(_TO_WORDS)


class WordList:
    """All words of all texts in their order, a word as two numbers that no other word has.

    The first has its first 8 bytes, the second the next 8, or of a word of more than 16 the number it was given, with
    a lowest byte of 0, which no second number of another word has.
    """

    def __init__(self, texts: Sequence[bytes], empty_words: bool) -> None:
        import numpy as np  # noqa: PLC0415

        joined = SEPARATOR.join([b"", *texts, bytes(2 * _BYTES)])
        begins, sizes = _spans(joined, empty_words)
        text_begins = list(accumulate((len(text) + 1 for text in texts), initial=1))
        end = int(begins.searchsorted(text_begins[-1]))
        begins, sizes = begins[:end], sizes[:end]
        self._text_begins = begins.searchsorted(text_begins)
        self.lengths: NDArray[np.int64] = np.diff(self._text_begins)
        self._text = np.repeat(np.arange(len(texts)), self.lengths)
        self._numbered: dict[bytes, int] = {}
        self._first = _numbers(joined, begins, sizes)
        long = np.flatnonzero(sizes > _BYTES)
        self._second = np.zeros_like(self._first)
        self._second[long] = _numbers(joined, begins[long] + _BYTES, sizes[long] - _BYTES)
        longer = np.flatnonzero(sizes > 2 * _BYTES)
        for at, begin, size in zip(longer.tolist(), begins[longer].tolist(), sizes[longer].tolist(), strict=True):
            word = joined[begin : begin + size]
            self._second[at] = self._numbered.setdefault(word, len(self._numbered) + 1) << 8

    def frequencies(self, word: bytes) -> NDArray[np.int64]:
        """Return how often each text holds `word`."""
        import numpy as np  # noqa: PLC0415

        first, second = (int.from_bytes(word[at : at + _BYTES], "little") for at in (0, _BYTES))
        if len(word) > 2 * _BYTES:
            if word not in self._numbered:
                return np.zeros(len(self.lengths), np.int64)
            second = self._numbered[word] << 8
        found = np.flatnonzero(self._first == np.uint64(first))
        found = found[self._second[found] == np.uint64(second)]
        return np.bincount(self._text[found], minlength=len(self.lengths))

    def words_held_by(self) -> list[int]:
        """Return for each number of texts, from 0, how many different words are held by just so many."""
        import numpy as np  # noqa: PLC0415

        words, different = self._distinct()
        holding = np.zeros(different, np.int64)
        block = max(1, min(np.iinfo(np.uint8).max, _MARKS // max(different, 1)))
        for begin in range(0, len(self.lengths), block):
            end = min(begin + block, len(self.lengths))
            span = slice(self._text_begins[begin], self._text_begins[end])
            marks = np.zeros((end - begin) * different, np.uint8)
            marks[(self._text[span] - begin) * different + words[span]] = 1
            holding += np.add.reduce(marks.reshape(end - begin, different), axis=0, dtype=np.uint8)
        counts: list[int] = np.bincount(holding).tolist()
        return counts

    def _distinct(self) -> tuple[NDArray[np.int32], int]:
        """Number the different words from 0; return the number of each word of the texts, and how many there are.

        In a table of hashes one word keeps each place; those that lost theirs to it go into the next round, which
        hashes otherwise.
        """
        import numpy as np  # noqa: PLC0415

        words = np.empty(len(self._first), np.int32)
        different = 0
        rest, first, second = np.arange(len(words)), self._first, self._second
        factor = 0x9E3779B97F4A7C15
        while len(rest):
            bits = len(rest).bit_length() + 1
            mixed = first * np.uint64(factor) ^ second * np.uint64(factor ^ 0x5851F42D4C957F2C)
            places = (mixed >> np.uint64(64 - bits)).view(np.int64)
            here = np.arange(len(rest), dtype=np.int32)
            table = np.empty(1 << bits, np.int32)
            table[places] = here
            keeper = table[places]
            kept = (first[keeper] == first) & (second[keeper] == second)
            keepers = np.flatnonzero(keeper == here)
            table[places[keepers]] = np.arange(different, different + len(keepers), dtype=np.int32)
            different += len(keepers)
            words[rest[kept]] = table[places[kept]]
            lost = np.flatnonzero(~kept)
            rest, first, second = rest[lost], first[lost], second[lost]
            factor = factor * 0xD1342543DE82EF95 % 2**64
        return words, different


def _spans(joined: bytes, empty_words: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where each word begins, and its size in bytes; `joined` begins and ends with separators."""
    import numpy as np  # noqa: PLC0415

    is_word = np.frombuffer(joined, np.uint8) != 0
    if empty_words:
        separators = np.flatnonzero(~is_word)
        return separators[:-1] + 1, np.diff(separators) - 1
    turns = np.flatnonzero(is_word[1:] != is_word[:-1]) + 1
    return turns[0::2], turns[1::2] - turns[0::2]


def _numbers(joined: bytes, begins: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Read at most 8 bytes of each span as a number, the first byte lowest."""
    import numpy as np  # noqa: PLC0415

    at_each_byte = np.ndarray((len(joined) - _BYTES + 1,), "<u8", joined, strides=(1,))
    masks = np.array([2 ** (8 * size) - 1 for size in range(_BYTES + 1)], np.uint64)
    numbers: NDArray[np.uint64] = at_each_byte[begins]
    numbers &= masks.take(sizes, mode="clip")
    return numbers
