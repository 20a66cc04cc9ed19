"""Records and configuration to scores. Pure: the same evidence and manifest give the same bits on any machine."""

from __future__ import annotations

from typing import Any

from smriti.protocols import Scoring
from smriti.score.bench import BenchScoring
from smriti.score.lifecycle import LifecycleScoring
from smriti.score.retrieval import RetrievalScoring
from smriti.types import BenchManifest, LifecycleManifest, Manifest, RetrievalManifest, Summary


def scoring_of(manifest: Manifest) -> Scoring[Any, Any]:
    """Return how the run that `manifest` describes is scored."""
    match manifest:
        case BenchManifest():
            return BenchScoring(manifest)
        case RetrievalManifest():
            return RetrievalScoring(manifest)
        case LifecycleManifest():
            return LifecycleScoring(manifest)
    raise TypeError(f"a manifest of suite {manifest.suite!r} is none that can be scored")


def stands(summary: Summary) -> bool:
    """Tell whether every attempt got a verdict and no flag says that the run did not measure what it set out to."""
    spoilt = ("distrust:", "contamination:", "ablation:")
    return summary.coverage.failed == 0 and not any(flag.startswith(spoilt) for flag in summary.flags)
