"""What two receipts must have in common before they are compared, and what of it a user lets pass."""

from __future__ import annotations

import difflib
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from smriti.errors import UsageError
from smriti.receipts.sealed import SealedReceipt
from smriti.types import BenchManifest, RetrievalManifest, SystemIdentity

FIRM = ("suite", "evidence_class", "conditions")
"""Fields that no --allow lets pass: without them there is nothing to compare, or nothing that it would say."""

_SHA256 = re.compile(r"\b([0-9a-f]{12})[0-9a-f]{52}\b")
_NOTHING = "nothing"


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two things compared: a receipt and, of a retrieval suite, one of its systems."""

    label: str
    """A or B."""
    receipt: SealedReceipt
    system: str | None = None
    """As config.memory has it; None for the bench, whose receipts have one."""

    @property
    def memory(self) -> SystemIdentity:
        """The memory system under test."""
        manifest = self.receipt.manifest
        if isinstance(manifest, BenchManifest):
            return manifest.systems[0]
        return dict(zip(manifest.config.memory, manifest.systems, strict=True))[self.system or ""]


@dataclass(frozen=True, slots=True)
class Difference:
    """A field in which two receipts differ, with both values."""

    field: str
    """Dotted where it is a part of one."""
    a: Any
    b: Any

    def __str__(self) -> str:
        return f"{self.field}: {shown(self.a)} in A, {shown(self.b)} in B"


def experiment(manifest: BenchManifest | RetrievalManifest) -> dict[str, Any]:
    """Return the fields that are the experiment, and so must be the same; what is compared is not among them.

    What is compared is the memory system: `systems`, `config.memory`, what of `artifacts` is its own and `packages`,
    where its libraries are. `code` is part of the experiment, since another smriti may plant, deliver or grade in
    another way; who compares two states of a system that ships inside smriti lets it pass with --allow code. `seed`,
    `jobs`, `engine`, `host` and the times name the occasion.
    """
    fields: dict[str, Any] = {
        "suite": manifest.suite,
        "evidence_class": manifest.evidence_class,
        "code": f"{manifest.code.version}, sha256 {manifest.code.sha256}",
        "datasets": manifest.datasets,
        "selection": manifest.selection,
        "sandbox": manifest.sandbox,
    }
    if isinstance(manifest, BenchManifest):
        return fields | {
            "tasks": {task.id: f"version {task.version}, sha256 {task.sha256}" for task in manifest.tasks},
            "agent": _agent(manifest),
            "agent_artifacts": _artifacts(manifest, of_agents=True),
            "delivery": manifest.delivery,
            "trials": manifest.config.trials,
            "timeout_s": manifest.config.timeout_s,
            "max_tokens": manifest.config.max_tokens,
            "flake": manifest.config.flake,
        }
    return fields | {
        "questions": _questions(manifest),
        "k": list(manifest.config.k),
        "options": json.loads(json.dumps(manifest.config.options)),
    }


def compared(side: Side) -> dict[str, Any]:
    """Return the fields that are what is compared, or of the occasion: they may differ, and are named where they do."""
    manifest = side.receipt.manifest
    conditions = {"conditions": list(manifest.config.conditions)} if isinstance(manifest, BenchManifest) else {}
    return {
        **conditions,
        "memory": _identity(side.memory),
        "memory_artifacts": _artifacts(manifest, of_agents=False),
        "packages": manifest.packages,
        "seed": manifest.seed,
        "engine": manifest.engine,
        "host": manifest.host,
    }


def configuration(receipt: SealedReceipt) -> dict[str, Any]:
    """Return every field that repeats of one configuration have in common."""
    manifest = receipt.manifest
    names = manifest.config.memory if isinstance(manifest, RetrievalManifest) else [s.name for s in manifest.systems]
    also: dict[str, Any] = {
        "memory": {name: _identity(system) for name, system in zip(names, manifest.systems, strict=True)},
        "memory_artifacts": _artifacts(manifest, of_agents=False),
        "packages": manifest.packages,
    }
    if isinstance(manifest, BenchManifest):
        also["conditions"] = sorted(manifest.config.conditions)
    return experiment(manifest) | also


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> list[Difference]:
    """Name every field of both, or part of one, in which they differ."""
    return [found for field in a if field in b for found in _differing(field, a[field], b[field])]


def let_pass(
    found: Sequence[Difference], allow: Sequence[str], known: Sequence[str]
) -> tuple[tuple[Difference, ...], tuple[Difference, ...]]:
    """Split differences into those that `allow` names, by field or by part, and the others.

    UsageError for a name in `allow` that no field has, that does not differ, or that is firm.
    """
    wrong = [why for name in dict.fromkeys(allow) for why in _misnamed(name, found, known)]
    if wrong:
        raise UsageError(f"--allow: {'; '.join(wrong)}")
    allowed = tuple(difference for difference in found if any(_names(name, difference) for name in allow))
    return allowed, tuple(difference for difference in found if difference not in allowed)


def shown(value: object) -> str:
    """Write a value of a manifest for a reader, digests by their first twelve digits."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
    return _SHA256.sub(r"\1…", "none" if value is None else text) or "''"


def _misnamed(name: str, found: Sequence[Difference], known: Sequence[str]) -> Iterator[str]:
    differing = [difference.field for difference in found]
    if any(_names(name, difference) for difference in found):
        if name.partition(".")[0] in FIRM:
            yield f"{name!r} cannot be let pass: nothing could be said of two receipts that differ in it"
    elif name.partition(".")[0] in known:
        yield f"{name!r} is the same in A and B, so there is nothing to let pass"
    else:
        near = difflib.get_close_matches(name, [*differing, *known], n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        yield f"{name!r} is no field of the experiment, which has {', '.join(known)}{hint}"


def _names(name: str, difference: Difference) -> bool:
    return difference.field == name or difference.field.startswith(f"{name}.")


def _differing(field: str, a: object, b: object) -> Iterator[Difference]:
    if a == b:
        return
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(a.keys() | b.keys()):
            yield from _differing(f"{field}.{key}", a.get(key, _NOTHING), b.get(key, _NOTHING))
    else:
        yield Difference(field, a, b)


def _identity(system: SystemIdentity) -> dict[str, Any]:
    stated: dict[str, Any] = system.model_dump(mode="json")
    return stated


def _agent(manifest: BenchManifest) -> Any:
    """Return the agent's identity, its model among the details, in parts; several stand as a whole."""
    agents = [_identity(agent) for agent in manifest.agents]
    return agents[0] if len(agents) == 1 else agents


def _artifacts(manifest: BenchManifest | RetrievalManifest, *, of_agents: bool) -> dict[str, str]:
    return {label: sha256 for label, sha256 in manifest.artifacts.items() if label.startswith("agents/") is of_agents}


def _questions(manifest: RetrievalManifest) -> str:
    """Name which questions are asked of which corpora, in any order, by count and digest."""
    plan = sorted((corpus.id, corpus.documents, sorted(corpus.questions)) for corpus in manifest.corpora)
    count = sum(len(corpus.questions) for corpus in manifest.corpora)
    digest = hashlib.sha256(json.dumps(plan).encode()).hexdigest()
    return f"{count} questions of {len(plan)} corpora, sha256 {digest}"
