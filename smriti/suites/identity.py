"""What a system or agent says it is, in a form that a manifest can hold."""

from __future__ import annotations

from smriti.errors import UsageError
from smriti.protocols import Agent, MemorySystem
from smriti.types import SystemIdentity


def identity_of(adapter: MemorySystem | Agent) -> SystemIdentity:
    """Return what `adapter.identity()` gives, as it will be read from the manifest; UsageError where that fails."""
    try:
        return SystemIdentity.model_validate_json(adapter.identity().model_dump_json())
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise UsageError(
            f"{type(adapter).__name__}.identity() gives nothing that a receipt can hold: {said:.300}. Expected a "
            "SystemIdentity with a name, a version and a detail of plain JSON values"
        ) from error
