"""A mapped system as suites see it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version as installed
from pathlib import Path

from smriti.memory._mapped.client import Client
from smriti.memory._mapped.mapping import Mapped
from smriti.memory._mapped.place import Place
from smriti.memory._mapped.store import MappedStore
from smriti.types import SystemIdentity


@dataclass(frozen=True)
class MappedSystem:
    """A memory system that its mapping describes."""

    name: str
    mapped: Mapped
    start: Callable[[Place], Client]
    lanes: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """As the mapping says."""
        said = self.mapped.mapping.version
        return installed("smriti") if said == "{smriti}" else said

    @property
    def layers(self) -> tuple[str, ...]:
        return self.mapped.interface.layers

    @property
    def capabilities(self) -> frozenset[str]:
        """Those of its verbs, and those that the mapping lists."""
        return self.mapped.interface.derived(self.mapped.kind)

    def identity(self) -> SystemIdentity:
        mapping = self.mapped.mapping
        detail = {
            "mapping": self.mapped.file,
            "mapping_sha256": self.mapped.sha256,
            "packages": [package.model_dump() for package in mapping.packages],
            "note": mapping.note,
            "search_per": self.mapped.interface.search.per,
        }
        return SystemIdentity(name=self.name, version=self.version, detail=detail)

    def open(self, workspace: Path, replica: Path | None = None) -> MappedStore:
        """Start the system over a state of its own in `workspace`, a copy of the folder `replica` if that is given."""
        place = Place.of(self.name, self.mapped.mapping.name, self.mapped.interface, workspace)
        if replica is not None:
            place.copy_in(replica)
        return MappedStore(place, self.start)
