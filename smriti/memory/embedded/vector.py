"""The hashing vectoriser: a text as a sparse vector of its words and their n-grams, the same on every machine."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import sqrt
from zlib import crc32

NAME = "hashing-vectoriser-v1"

Vector = dict[int, float]
"""Feature (a CRC-32) → weight; of length 1, unless it is empty."""

_GRAM_SIZES = (3, 4)
_GRAMS_WEIGHT = 0.7
"""Length of all n-grams of a word together, where the word itself is 1."""


def vectorise(telling_words: Sequence[str]) -> Vector:
    """Return the vector of a text by its telling words: each counts once, and its n-grams bring like spellings near."""
    weights: Vector = {}
    for word in telling_words:
        marked = f"<{word}>"
        grams = [marked[start : start + size] for size in _GRAM_SIZES for start in range(len(marked) - size + 1)]
        _add(weights, f"word {word}", 1.0)
        for gram in grams:
            _add(weights, gram, _GRAMS_WEIGHT / sqrt(len(grams)))
    length = sqrt(sum(weight * weight for weight in weights.values()))
    return {feature: weight / length for feature, weight in weights.items()}


def pack(vector: Vector) -> bytes:
    """Write `vector` as its features (uint32) and then its weights (float32), little-endian."""
    return struct.pack(f"<{len(vector)}I{len(vector)}f", *vector.keys(), *vector.values())


def unpack(packed: bytes) -> Vector:
    """Read what `pack` wrote."""
    count = len(packed) // 8
    numbers = struct.unpack(f"<{count}I{count}f", packed)
    return dict(zip(numbers[:count], numbers[count:], strict=True))


def cosine(vector: Vector, packed: bytes) -> float:
    """Return the cosine of `vector` and a packed one, from 0 to 1 within rounding; 0 where either is empty."""
    other = unpack(packed)
    return sum(weight * other[feature] for feature, weight in vector.items() if feature in other)


def _add(weights: Vector, feature: str, weight: float) -> None:
    hashed = crc32(feature.encode())
    weights[hashed] = weights.get(hashed, 0.0) + weight
