"""State what a run of the lifecycle suite is about to do, before it does anything."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from smriti.errors import UsageError
from smriti.protocols import MemorySystem
from smriti.receipts.fingerprint import code_identity, host, installed_packages
from smriti.suites.identity import identity_of
from smriti.suites.lifecycle.checks import Checks
from smriti.types import LIFECYCLE_CHECKS, LifecycleConfig, LifecycleManifest


def lifecycle_manifest(
    config: LifecycleConfig,
    checks: Checks,
    *,
    systems: Sequence[MemorySystem],
    own: bool,
    artifacts: Mapping[str, str],
    engine: str,
    jobs: int,
) -> LifecycleManifest:
    """Describe the run as it would start now; `own` says that the checks are those that come with smriti."""
    now = datetime.now(UTC)
    code = code_identity()
    count = len(checks.checks)
    named = dict(zip(config.memory, systems, strict=True))
    return LifecycleManifest(
        suite="lifecycle",
        evidence_class="component" if own and code.commit and code.dirty is False else "development",
        run_id=f"{now:%Y%m%dt%H%M%S}-{secrets.token_hex(3)}",
        config=config,
        code=code,
        packages=installed_packages(),
        systems=tuple(map(identity_of, systems)),
        artifacts=dict(artifacts),
        engine=engine,
        datasets={LIFECYCLE_CHECKS: checks.sha256},
        selection={"selected": count, "of": count},
        seed=0,
        sandbox="none",
        jobs=jobs,
        host=host(),
        planned=len(config.memory) * count,
        started=now.isoformat(timespec="seconds"),
        capabilities={name: _names(name, "capabilities", system.capabilities) for name, system in named.items()},
        layers={name: _layers(name, system) for name, system in named.items()},
        checks=checks.checks,
    )


def _layers(name: str, system: MemorySystem) -> tuple[str, ...]:
    """Return where the system can be searched, if it tells layers apart; one that names none has its lanes."""
    if "layers" not in system.capabilities:
        return ()
    return _names(name, "layers", getattr(system, "layers", system.lanes))


def _names(system: str, what: str, found: object) -> tuple[str, ...]:
    if not isinstance(found, Sequence | frozenset | set) or not all(isinstance(each, str) for each in found):
        raise UsageError(f"memory system {system}: {what} is {found!r:.100}, expected names")
    return tuple(sorted(set(found)))
