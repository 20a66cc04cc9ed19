"""A claim says what verified receipts support, and nothing where a gate is not met."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from smriti.metrics import intervals
from smriti.receipts.claim import Claim, Compared, make_claim, markdown
from smriti.receipts.gates import Gate
from smriti.receipts.sealed import read_sealed
from smriti.receipts.writer import MANIFEST, SCORES
from smriti.types import CodeIdentity, Status, TrialCase
from tests.receipts.claimable import BASELINES, bench, bench_manifest, retrieval, retrieval_manifest

EFFECT = re.compile(r"improv|better|worse|benefit|help|increas|outperform|effective", re.IGNORECASE)


@pytest.fixture(autouse=True)
def _intervals_of_fewer_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "RESAMPLES", 100)


def claimed(*directories: Path, **named: Any) -> Claim:
    made = make_claim(directories, **named)
    assert isinstance(made, Claim), made
    return made


def unmet(*directories: Path, **named: Any) -> list[Gate]:
    made = make_claim(directories, **named)
    assert isinstance(made, list)
    return made


def names(gates: Sequence[Gate]) -> list[str]:
    return [gate.name for gate in gates]


# What is refused


def test_a_measured_receipt_of_clean_code_passes_every_gate(tmp_path: Path) -> None:
    claim = claimed(bench(tmp_path / "run"))
    assert claim.receipts[0].sha256 == read_sealed(tmp_path / "run").sha256


@pytest.mark.parametrize(
    ("fields", "gate", "found"),
    [
        ({"evidence_class": "rehearsal"}, "class", "rehearsal"),
        ({"evidence_class": "development"}, "class", "development"),
    ],
)
def test_each_thing_that_the_manifest_lacks_is_a_gate(
    tmp_path: Path, fields: dict[str, Any], gate: str, found: str
) -> None:
    (only,) = unmet(bench(tmp_path / "run", bench_manifest(**fields)))
    assert (only.name, only.found, only.receipt) == (gate, found, str(tmp_path / "run"))


@pytest.mark.parametrize(("commit", "dirty"), [(None, None), ("c" * 40, True), ("c" * 40, None), (None, False)])
def test_code_that_is_not_clean_or_of_no_commit_is_a_gate(
    tmp_path: Path, commit: str | None, dirty: bool | None
) -> None:
    code = CodeIdentity(version="0", commit=commit, dirty=dirty, sha256="0" * 64)
    made = bench_manifest(code=code, evidence_class="development")
    assert names(unmet(bench(tmp_path / "run", made))) == ["code", "class"]


def test_a_part_of_the_corpus_is_a_gate(tmp_path: Path) -> None:
    made = bench_manifest(selection={"selected": 12, "of": 27}, evidence_class="development")
    gates = unmet(bench(tmp_path / "run", made))
    assert names(gates) == ["class", "coverage"]
    assert gates[1].found == "12 of 27 selected"


def test_two_trials_are_too_few_and_three_are_not(tmp_path: Path) -> None:
    (gate,) = unmet(bench(tmp_path / "two", bench_manifest(trials=2)))
    assert (gate.name, gate.found) == ("trials", "2")
    claimed(bench(tmp_path / "three", bench_manifest(trials=3)))


def test_nine_tasks_are_too_few_and_ten_are_not(tmp_path: Path) -> None:
    (gate,) = unmet(bench(tmp_path / "nine", bench_manifest(9)))
    assert (gate.name, gate.found) == ("tasks", "9 attempted")
    claimed(bench(tmp_path / "ten", bench_manifest(10)))


def test_a_task_that_was_skipped_is_none_that_was_attempted(tmp_path: Path) -> None:
    def ending(case: TrialCase) -> Status:
        return "skipped" if case.task_id == "t00" else "passed"

    (gate,) = unmet(bench(tmp_path / "run", bench_manifest(10), ending))
    assert (gate.name, gate.found) == ("tasks", "9 attempted")


def test_memory_that_did_not_arrive_often_enough_is_a_gate(tmp_path: Path) -> None:
    """Of 60 on-trials 57 are 0.95, and 56 are fewer."""

    def missing(count: int) -> Any:
        lost = {f"t{number:02}/on/t1" for number in range(count)}
        return lambda case: () if case.id in lost else None

    claimed(bench(tmp_path / "enough", bench_manifest(20), injected=missing(3)))
    (gate,) = unmet(bench(tmp_path / "few", bench_manifest(20), injected=missing(4)))
    assert (gate.name, gate.found) == ("injection", "memory is confirmed to have arrived in 56 of 60 on-trials")


def test_an_attempt_that_cannot_tell_is_none_that_is_confirmed(tmp_path: Path) -> None:
    """A fault of the memory system before the agent ran is no proof that memory arrives."""

    def ending(case: TrialCase) -> Status:
        return "plant_failed" if case.trial == 1 and case.condition == "on" else "passed"

    receipt = bench(tmp_path / "run", None, ending, injected=lambda case: () if ending(case) != "passed" else None)
    assert names(unmet(receipt)) == ["injection"]


@pytest.mark.parametrize("condition", ["on", "off"])
def test_a_single_strange_memory_is_a_gate(tmp_path: Path, condition: str) -> None:
    case_id = f"t00/{condition}/t1"
    strange = (f"{case_id}/m1", "somebody else's")
    receipt = bench(tmp_path / "run", injected=lambda case: strange if case.id == case_id else None)
    (gate,) = unmet(receipt)
    assert gate.name == "contamination"
    assert f"under {condition}" in gate.found


def test_without_an_on_condition_there_is_nothing_to_claim(tmp_path: Path) -> None:
    (gate,) = unmet(bench(tmp_path / "run", bench_manifest(conditions=("off", "placebo"))))
    assert (gate.name, gate.found) == ("conditions", "off, placebo")


def ablated(case: TrialCase) -> Status:
    return "passed" if case.condition in {"on", "ablate:kw"} else "failed"


def test_an_ablated_lane_needs_the_check_that_ablation_works(tmp_path: Path) -> None:
    (gate,) = unmet(bench(tmp_path / "lane", bench_manifest(conditions=("off", "on", "ablate:kw")), ablated))
    assert (gate.name, gate.found) == ("ablation", "no ablate_all_gap")
    claim = claimed(
        bench(tmp_path / "all", bench_manifest(conditions=("off", "on", "ablate:kw", "ablate:all")), ablated)
    )
    assert "ablation_delta_sr[kw]" in {figure.score.metric for figure in claim.receipts[0].figures}


def test_a_gap_that_does_not_cover_zero_is_a_gate(tmp_path: Path) -> None:
    made = bench_manifest(conditions=("off", "on", "ablate:all"))
    (gate,) = unmet(bench(tmp_path / "run", made, lambda case: "failed" if case.condition == "off" else "passed"))
    assert (gate.name, gate.found) == ("ablation", "ablate_all_gap in [1.0, 1.0]")
    claimed(bench(tmp_path / "chance", made, lambda case: "passed" if case.id == "t00/ablate:all/t1" else "failed"))


def test_memory_that_comes_through_where_all_of_it_is_off_is_a_gate(tmp_path: Path) -> None:
    made = bench_manifest(conditions=("off", "on", "ablate:all"))
    leaked = bench(
        tmp_path / "run",
        made,
        injected=lambda case: ("t00/ablate:all/t1/m1",) if case.id == "t00/ablate:all/t1" else None,
    )
    (gate,) = unmet(leaked)
    assert (gate.name, gate.expected) == ("ablation", "no memory where all of it is off")


def test_a_figure_without_an_interval_is_a_gate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("smriti.metrics.outcome.clustered_bootstrap", lambda *_: None)
    gates = unmet(bench(tmp_path / "run"))
    assert names(gates) == ["interval"]
    assert "delta_sr/on/all" in gates[0].found


def test_a_receipt_that_does_not_verify_is_a_gate(tmp_path: Path) -> None:
    scores = bench(tmp_path / "run") / SCORES
    scores.write_bytes(scores.read_bytes().replace(b'"passed":true', b'"passed":false'))
    (gate,) = unmet(tmp_path / "run")
    assert gate.name == "verified"
    assert "does not follow from the evidence" in gate.found


def test_an_interrupted_run_is_a_gate(tmp_path: Path) -> None:
    (gate,) = unmet(bench(tmp_path / "run", sealed=False))
    assert gate.name == "verified"
    assert "was interrupted" in gate.found


def test_what_is_no_receipt_is_a_gate(tmp_path: Path) -> None:
    assert names(unmet(tmp_path)) == ["verified"]


def test_every_gate_of_every_receipt_is_named_at_once(tmp_path: Path) -> None:
    code = CodeIdentity(version="0", commit=None, dirty=None, sha256="0" * 64)
    bad = bench_manifest(2, 1, evidence_class="rehearsal", code=code, conditions=("off", "on", "ablate:kw"))
    first = bench(tmp_path / "first", bad, injected=lambda _: ())
    second = bench(tmp_path / "second", bad, sealed=False)
    third = bench(tmp_path / "third")
    gates = unmet(first, second, third)
    everything = ["code", "class", "trials", "tasks", "injection", "ablation"]
    assert names([gate for gate in gates if gate.receipt == str(first)]) == everything
    assert names([gate for gate in gates if gate.receipt == str(second)]) == ["verified", *everything[:4]]
    assert [gate for gate in gates if gate.receipt == str(third)] == []


def test_a_component_needs_the_whole_set_and_clean_code(tmp_path: Path) -> None:
    claimed(retrieval(tmp_path / "whole"))
    part = {"stratify": None, "limit": None, "selected": 6, "of": 60}
    made = retrieval_manifest(evidence_class="development", selection=part)
    assert names(unmet(retrieval(tmp_path / "part", made))) == ["class", "coverage"]


def test_a_manifest_that_cannot_be_read_is_one_gate(tmp_path: Path) -> None:
    (bench(tmp_path / "run") / MANIFEST).write_bytes(b"{}")
    assert names(unmet(tmp_path / "run")) == ["verified"]


def a_comparison(**fields: Any) -> Compared:
    stated: dict[str, Any] = {"a_system": None, "b_system": None, "condition": "on", "verdict": "no difference shown"}
    return Compared(**{**stated, "exceptions": {}, "statements": (), **fields})


def test_a_comparison_needs_both_receipts_in_the_claim(tmp_path: Path) -> None:
    receipt = bench(tmp_path / "run")
    digest = read_sealed(receipt).sha256
    compared = a_comparison(a=digest, b="9" * 64, verdict="better")
    (gate,) = unmet(receipt, comparisons=[compared])
    assert (gate.name, gate.receipt) == ("comparison", "9" * 64)
    within = compared.model_copy(update={"b": digest})
    assert claimed(receipt, comparisons=[within]).comparisons == (within,)
    assert names(unmet(receipt, comparisons=[within.model_copy(update={"verdict": "no verdict"})])) == ["comparison"]


# What is said


def with_all_baselines(tmp_path: Path, passing: set[str]) -> Claim:
    """Under the conditions in `passing` every trial passes, and under the others every one fails."""
    made = bench_manifest(conditions=BASELINES)
    return claimed(
        bench(
            tmp_path / "-".join(passing or {"none"}),
            made,
            lambda case: "passed" if case.condition in passing else "failed",
        )
    )


def test_every_figure_is_the_receipts_own_and_names_it(tmp_path: Path) -> None:
    for receipt in (bench(tmp_path / "bench"), retrieval(tmp_path / "retrieval")):
        sealed = read_sealed(receipt)
        (section,) = claimed(receipt).receipts
        assert section.figures
        for figure in section.figures:
            assert figure.receipt == section.sha256 == sealed.sha256
            assert figure.score in sealed.summary.scores
            assert figure.score.value is None or figure.score.interval is not None


def test_failures_exclusions_class_code_and_sandbox_are_stated(tmp_path: Path) -> None:
    def ending(case: TrialCase) -> Status:
        return "skipped" if case.task_id == "t00" else "infra_error" if case.id == "t01/off/t1" else "passed"

    text = markdown(claimed(bench(tmp_path / "run", None, ending)))
    assert re.search(
        r"Of \[72\]\S+ planned attempts \[65\]\S+ were completed, \[1\]\S+ failed .* and \[6\]\S+ were skipped", text
    )
    assert "faults: 1 of 72 trials have no verdict" in text
    assert "skipped: 1 tasks were not attempted" in text
    assert "| class | measured |" in text
    assert f"commit {'c' * 40}, clean" in text
    assert "| sandbox | bubblewrap |" in text


def test_no_sandbox_is_named_as_a_limit_and_a_sandbox_is_not(tmp_path: Path) -> None:
    assert "There was no sandbox" in markdown(claimed(bench(tmp_path / "none", bench_manifest(sandbox="none"))))
    assert "There was no sandbox" not in markdown(claimed(bench(tmp_path / "bubblewrap")))


@pytest.mark.parametrize("missing", ["off", "placebo", "file"])
def test_without_one_of_the_baselines_no_word_is_said_of_an_effect(tmp_path: Path, missing: str) -> None:
    conditions = [condition for condition in BASELINES if condition != missing]
    claim = claimed(bench(tmp_path / "run", bench_manifest(conditions=conditions)))
    assert claim.receipts[0].wording == "descriptive"
    assert f"the baselines {missing} were not run" in markdown(claim)
    assert not EFFECT.search(markdown(claim))


def test_a_retrieval_claim_is_descriptive_and_sets_no_systems_against_each_other(tmp_path: Path) -> None:
    claim = claimed(retrieval(tmp_path / "run"))
    assert claim.receipts[0].wording == "descriptive"
    assert not EFFECT.search(markdown(claim))
    assert {figure.score.group for figure in claim.receipts[0].figures} == {"all", "fact", "hard"}


def test_with_all_baselines_beaten_it_improves(tmp_path: Path) -> None:
    claim = with_all_baselines(tmp_path, {"on"})
    assert claim.receipts[0].wording == "effect"
    text = markdown(claim)
    assert "On these tasks the memory system mine 1 improves the success rate of agent coder 2" in text
    assert "It is better than a plain context file" in text


@pytest.mark.parametrize(
    ("passing", "said", "of_file"),
    [
        ({"on", "placebo"}, "no improvement is claimed", "It is better than a plain context file"),
        ({"on", "file"}, "improves the success rate", "No difference from a plain context file"),
        ({"off", "file"}, "worsens the success rate", "It is worse than a plain context file"),
        (set(), "No difference from no memory was shown", "No difference from a plain context file"),
        ({"on", "off"}, "No difference from no memory was shown", "It is better than a plain context file"),
    ],
)
def test_the_words_follow_the_intervals(tmp_path: Path, passing: set[str], said: str, of_file: str) -> None:
    text = markdown(with_all_baselines(tmp_path, passing))
    assert said in text
    assert of_file in text
    assert ("improves the success rate" in text) == (said == "improves the success rate")


@pytest.mark.parametrize("lucky", ["on", "off"])
def test_an_interval_that_holds_zero_shows_no_difference(tmp_path: Path, lucky: str) -> None:
    """One task in twelve is not enough."""
    made = bench_manifest(conditions=BASELINES)
    receipt = bench(
        tmp_path / "run",
        made,
        lambda case: "passed" if (case.task_id, case.condition) == ("t00", lucky) else "failed",
    )
    text = markdown(claimed(receipt))
    assert "No difference from no memory was shown" in text
    assert "No difference from a plain context file" in text


def test_a_comparison_is_repeated_with_what_was_let_differ(tmp_path: Path) -> None:
    receipt = bench(tmp_path / "run")
    digest = read_sealed(receipt).sha256
    compared = a_comparison(a=digest, b=digest, exceptions={"k": "k: 5 | 10"}, statements=("So.",))
    text = markdown(claimed(receipt, comparisons=[compared]))
    assert f"## {digest[:12]} and {digest[:12]}: no difference shown\n\n- So.\n" in text
    assert r"- Allowed to differ: k: 5 \| 10" in text


def test_the_title_is_the_only_free_text_and_is_shown_as_it_is(tmp_path: Path) -> None:
    title = "<b>50 % | better</b> [x](y) `z`"
    text = markdown(claimed(bench(tmp_path / "run"), title=title))
    assert text.splitlines()[0] == r"# \<b\>50 % \| better\</b\> \[x\]\(y\) \`z\`"
    assert "The title is its author's" in text
    assert "author" not in markdown(claimed(tmp_path / "run"))


def test_names_from_a_receipt_are_no_markup(tmp_path: Path) -> None:
    made = bench_manifest()
    systems = (made.systems[0].model_copy(update={"name": "a|<script> # b"}),)
    text = markdown(claimed(bench(tmp_path / "run", made.model_copy(update={"systems": systems}))))
    assert "<script>" not in text


def test_what_smriti_brings_itself_is_named_as_a_limit(tmp_path: Path) -> None:
    made = bench_manifest()
    systems = (made.systems[0].model_copy(update={"name": "embedded"}),)
    text = markdown(claimed(bench(tmp_path / "run", made.model_copy(update={"systems": systems}))))
    assert "made with the shipped tasks in view" in text


def test_the_same_receipts_make_the_same_claim(tmp_path: Path) -> None:
    receipts = bench(tmp_path / "bench"), retrieval(tmp_path / "retrieval")
    first, second = claimed(*receipts), claimed(*receipts)
    assert first.model_dump_json() == second.model_dump_json()
    assert markdown(first) == markdown(second)
    assert [section.suite for section in first.receipts] == ["bench", "locomo"]


def test_a_claim_is_read_back_from_its_json(tmp_path: Path) -> None:
    claim = claimed(bench(tmp_path / "run"), title="Mine")
    assert Claim.model_validate_json(claim.model_dump_json(by_alias=True)) == claim
