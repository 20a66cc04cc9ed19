"""Read what a receipt names and does not hold, where it is on this machine: its data set, its tasks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path

from smriti.cli import sources
from smriti.corpus import load_corpus
from smriti.datasets import lock
from smriti.errors import ReceiptError, UsageError
from smriti.receipts.check import Check, judge
from smriti.receipts.fingerprint import code_identity
from smriti.receipts.gold import DATA_SET, check_gold, check_tasks, evidence_rows, left_open, settled, unsettled
from smriti.receipts.verify import Verdict
from smriti.receipts.writer import read_manifest
from smriti.suites.lifecycle.checks import checks_path, read_checks
from smriti.types import (
    LIFECYCLE_CHECKS,
    BenchManifest,
    CodeIdentity,
    LifecycleManifest,
    RetrievalManifest,
    RetrievalSuite,
    TaskIdentity,
)

_READERS: dict[RetrievalSuite, Callable[[Path | None, Mapping[str, sources.Option]], sources.Source]] = {
    "longmemeval": sources.longmemeval,
    "locomo": sources.locomo,
    "coding-life": sources.coding_life,
}
_CLAIMABLE = {"measured", "component"}
"""Classes that rest on tasks or a data set that everybody knows by their digests."""


class Present:
    """What this machine has beside receipts; `data` is a file that was named, instead of those of the cache."""

    def __init__(self, data: Path | None = None) -> None:
        self._data = data
        self.used = False
        """Some receipt was made from `data`."""
        self.why = "their manifests say what is"
        """Why none was, as far as a receipt has shown."""

    def look(self, verdict: Verdict) -> Verdict:
        """Settle what `verify` left open of a receipt that holds, as far as what it takes is here."""
        if verdict.state != "verified":
            return verdict
        manifest = read_manifest(verdict.directory)
        try:
            if isinstance(manifest, BenchManifest):
                return self._tasks(verdict, manifest)
            if isinstance(manifest, LifecycleManifest):
                return self._checks(verdict, manifest)
            return self._gold(verdict, manifest)
        except UsageError as error:
            return self._unsettled(verdict, str(error))

    def vouch(self, verdict: Verdict) -> Verdict:
        """Look, and take no class at its word: ReceiptError where it rests on what this version does not know.

        Anything can be called `coding-life`, or be thirteen tasks: what is measured or a component names tasks or a
        data set that come with this version, or a data set that it pins.
        """
        return self._taken(verdict, pinned_will_do=True)

    def settle(self, verdict: Verdict) -> Verdict:
        """Vouch for a receipt whose tasks or data set are on this machine, and were looked at; else ReceiptError."""
        return self._taken(verdict, pinned_will_do=False)

    def _taken(self, verdict: Verdict, *, pinned_will_do: bool) -> Verdict:
        verdict = self.look(verdict)
        if verdict.state != "verified" or verdict.evidence_class not in _CLAIMABLE:
            return verdict
        manifest = read_manifest(verdict.directory)
        if (check := left_open(verdict)) is None or (pinned_will_do and _pinned(manifest)):
            return verdict
        made_by = f"smriti {manifest.code.version}, commit {manifest.code.commit}"
        raise ReceiptError(
            f"{verdict.directory} says {verdict.evidence_class}, and what that rests on is not known here: "
            f"{check.name}: {check.detail}. It says that {made_by} made it, which should know"
        )

    def _unsettled(self, verdict: Verdict, why: str) -> Verdict:
        self.why = why
        return unsettled(verdict, why)

    def _gold(self, verdict: Verdict, manifest: RetrievalManifest) -> Verdict:
        pins = [pin for sha256 in manifest.datasets.values() if (pin := lock.matching(sha256)) is not None]
        if self._data is None and manifest.suite != "coding-life":
            if not pins:
                return self._unsettled(verdict, "no pin knows it; name the file with --data")
            if not lock.cached(pins[0]).is_file():
                fetch = f"`smriti data fetch {pins[0].name}` brings it, --data names a file"
                return self._unsettled(verdict, f"it is not on this machine; {fetch}")
        source = _READERS[manifest.suite](self._data, manifest.config.options)
        if source.datasets != manifest.datasets:
            here = ", ".join(f"{name} {sha256}" for name, sha256 in source.datasets.items())
            return self._unsettled(verdict, f"what is here is another ({here})")
        if not manifest.config.options.items() <= source.options.items():  # a file that was named has no `set`
            wrong = f"options {manifest.config.options!r}, which the suite reads as {source.options!r}"
            return settled(verdict, Check(DATA_SET, False, wrong))
        self.used = self._data is not None
        return settled(verdict, check_gold(manifest, evidence_rows(verdict.directory), source.reading))

    def _checks(self, verdict: Verdict, manifest: LifecycleManifest) -> Verdict:
        here = read_checks(checks_path())
        if manifest.datasets != {LIFECYCLE_CHECKS: here.sha256}:
            return self._unsettled(verdict, f"what is here are others ({LIFECYCLE_CHECKS} {here.sha256})")
        found = {check.id: check for check in here.checks}
        wrong = [f"{check.id}: not the check that is here" for check in manifest.checks if found.get(check.id) != check]
        wrong += [f"{name}: left out" for name in found.keys() - {check.id for check in manifest.checks}]
        return settled(verdict, judge(DATA_SET, wrong, f"the {len(found)} checks are those that are here, by digest"))

    def _tasks(self, verdict: Verdict, manifest: BenchManifest) -> Verdict:
        here = self._code
        same_code = here == manifest.code and here.commit is not None and here.dirty is False
        return settled(verdict, check_tasks(manifest, self._installed, same_code=same_code))

    @cached_property
    def _code(self) -> CodeIdentity:
        return code_identity()

    @cached_property
    def _installed(self) -> dict[str, TaskIdentity]:
        return {
            folder.task.id: TaskIdentity(
                id=folder.task.id,
                version=folder.task.version,
                family=folder.task.family,
                split=folder.task.split,
                sha256=folder.sha256,
            )
            for folder in load_corpus()
        }


def _pinned(manifest: BenchManifest | RetrievalManifest | LifecycleManifest) -> bool:
    """Tell whether a data set that does not come with smriti is one that this version pins for the suite."""
    pins = [lock.matching(sha256) for sha256 in manifest.datasets.values()]
    return bool(pins) and all(pin is not None and pin.name.startswith(manifest.suite) for pin in pins)
