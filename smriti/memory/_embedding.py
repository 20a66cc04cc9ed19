"""A store that ranks memories by the cosine of their embeddings: what `vector` and `openai-vector` share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from smriti.errors import MemorySystemError
from smriti.types import Attachment, Condition, Hit, Memory

if TYPE_CHECKING:  # numpy is slow to import, and only a used store needs it
    import numpy as np
    import numpy.typing as npt

    Vectors = npt.NDArray[np.float32]


class Embedder(Protocol):
    """Turns texts into unit vectors of one length."""

    def documents(self, texts: Sequence[str]) -> list[Vectors]:
        """Return for each text its windows' vectors, one row each and at least one.

        MemorySystemError where one cannot be had.
        """

    def query(self, text: str) -> Vectors:
        """Return the one vector of `text`."""

    def close(self) -> None:
        """Let go of what the embedder holds for one store."""


class EmbeddingStore:
    """Memories and their vectors, realm by realm, in the order in which they were remembered."""

    def __init__(self, label: str, embedder: Embedder) -> None:
        self._label = label
        self._embedder = embedder
        self._given = 0
        self._realm_of: dict[str, str] = {}
        self._realms: dict[str, dict[str, _Embedded]] = {}
        self._stacks: dict[str, _Stack] = {}

    def remember(self, memories: Sequence[Memory], realm: str) -> list[str]:
        if not memories:
            return []
        vectors = self._embedder.documents([encodable(memory.content) for memory in memories])
        ids = [f"{self._label}-{self._given + index}" for index in range(len(memories))]
        self._given += len(memories)
        entries = [_Embedded(memory, rows) for memory, rows in zip(memories, vectors, strict=True)]
        self._realms.setdefault(realm, {}).update(zip(ids, entries, strict=True))
        self._realm_of.update(dict.fromkeys(ids, realm))
        self._stacks.pop(realm, None)
        return ids

    def search(self, query: str, realm: str, k: int, layer: str | None = None) -> list[Hit]:
        """Rank every memory of the realm by the cosine of its best window; the older comes first among equals."""
        if layer is not None:
            raise MemorySystemError(f"{self._label}: has no layer {layer!r}")
        entries = self._realms.get(realm)
        if not entries:
            return []
        if realm not in self._stacks:
            self._stacks[realm] = _Stack.of([entry.vectors for entry in entries.values()])
        scores = self._stacks[realm].cosines(self._embedder.query(encodable(query)))
        listed = list(entries.items())
        hits = []
        for index in (-scores).argsort(kind="stable")[:k].tolist():
            id_, entry = listed[index]
            hits.append(Hit(id_, entry.memory.content, float(scores[index]), (entry.memory.source_id,)))
        return hits

    def forget(self, ids: Sequence[str]) -> None:
        """Remove exactly `ids`, all or none."""
        unknown = [id_ for id_ in ids if id_ not in self._realm_of]
        if unknown:
            raise MemorySystemError(f"{self._label}: no memory has the id {unknown[0]!r}; nothing was forgotten")
        for id_ in set(ids):
            realm = self._realm_of.pop(id_)
            del self._realms[realm][id_]
            self._stacks.pop(realm, None)

    def attach(self, realm: str, condition: Condition) -> Attachment:
        """Return nothing: the system has no hooks, and no file that an agent reads."""
        del realm, condition
        return Attachment()

    def injected(self, session_id: str, window: tuple[int, int]) -> None:
        """Return None: it is not told what reached an agent."""
        del session_id, window

    def restart(self) -> None:
        """Nothing to restart."""

    def close(self) -> None:
        self._realm_of.clear()
        self._realms.clear()
        self._stacks.clear()
        self._embedder.close()


@dataclass(frozen=True, slots=True)
class _Embedded:
    memory: Memory
    vectors: Vectors


@dataclass(frozen=True, slots=True)
class _Stack:
    """The windows of a realm below each other, and the row at which each memory's begin."""

    rows: Vectors
    starts: npt.NDArray[np.intp]

    @classmethod
    def of(cls, windows: Sequence[Vectors]) -> _Stack:
        import numpy as np  # noqa: PLC0415

        lengths = [len(rows) for rows in windows]
        return cls(np.concatenate(windows), np.cumsum([0, *lengths[:-1]], dtype=np.intp))

    def cosines(self, query: Vectors) -> npt.NDArray[np.float64]:
        """Return each memory's best cosine.

        Row by row and not as a matrix product, whose rounding depends on a row's place: equal texts have equal scores.
        """
        import numpy as np  # noqa: PLC0415

        of_windows = np.multiply(self.rows, query, dtype=np.float64).sum(axis=1)
        best: npt.NDArray[np.float64] = np.maximum.reduceat(of_windows, self.starts)
        return best


def encodable(text: str) -> str:
    """Return `text` with a question mark for each lone surrogate, which no tokeniser and no JSON body can take."""
    return text.encode("utf-8", "replace").decode("utf-8")


def unit(rows: npt.ArrayLike) -> Vectors:
    """Scale every row to length 1; MemorySystemError where a row has no direction."""
    import numpy as np  # noqa: PLC0415

    wide = np.asarray(rows, dtype=np.float64)
    with np.errstate(over="ignore"):
        lengths = np.sqrt((wide * wide).sum(axis=-1, keepdims=True))
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise MemorySystemError("an embedding is not finite, or is zero: it has no direction to compare")
    scaled: Vectors = (wide / lengths).astype(np.float32)
    return scaled
