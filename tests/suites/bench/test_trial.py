"""One trial from end to end: what is planted, what the agent gets, how it is graded, and each way to fail."""

from __future__ import annotations

import errno
import os
import re
import shutil
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from smriti import registry
from smriti.errors import AgentError, MemorySystemError, SmritiError
from smriti.protocols import AgentJob, Store
from smriti.suites import bench
from smriti.types import AgentRun, Attachment, Completed, Condition, Phase, Status, SystemIdentity, Usage
from tests.benches import (
    DYING_CHECK,
    HANGING_CHECK,
    PLAIN_CHECK,
    README,
    Acting,
    CannotTell,
    ForgetsNothing,
    LeaksItsNeighbours,
    LosesOne,
    NeverHeard,
    Ran,
    RemembersNothing,
    RepeatsAnId,
    StoreAround,
    SystemAround,
    Watched,
    command_agent,
    fact,
    mooring_code,
    planted,
    run_bench,
    tiny_task,
)

UNKNOWN = Usage()
TWO_MEMORIES = [planted(fact("alpha")), planted("The pilots meet at noon.", "distractor", source_id="m2")]


def answering(job: AgentJob) -> None:
    """Write the right answer."""
    (job.cage.workdir / "answer.txt").write_text(mooring_code(job.task.task.id))


def assert_ended(ran: Ran, status: Status, phase: Phase, message: str) -> None:
    """The on-trial ended in this fault, without a verdict."""
    record = ran.record()
    assert (record.status, record.passed) == (status, None)
    assert record.fault is not None
    assert (record.fault.status, record.fault.phase) == (status, phase)
    assert re.search(message, record.fault.message), record.fault.message
    assert not ran.record().passed
    assert ran.value("sr") == 0, "a fault stays in the denominator"


# What memory is for


def test_on_passes_where_off_fails(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task()], trials=2)
    assert [ran.record("on", trial).status for trial in (1, 2)] == ["passed", "passed"]
    assert [ran.record("off", trial).status for trial in (1, 2)] == ["failed", "failed"]
    assert (ran.value("delta_sr"), ran.value("mui"), ran.value("sr_lift"), ran.value("mhi")) == (1, 1, 1, 0)


def test_where_the_answer_can_be_found_memory_saves_tokens(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task(deducible=True, family="exploration")])
    on, off = ran.record("on"), ran.record("off")
    assert (on.passed, off.passed) == (True, True)
    assert on.usage.total is not None
    assert off.usage.total is not None
    assert off.usage.total >= 1.5 * on.usage.total
    assert (ran.value("sr_lift"), ran.value("cost_saving")) == (0, 1)


def test_injection_is_confirmed_under_on_and_not_under_off(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task()])
    on, off = ran.record("on"), ran.record("off")
    assert (on.injected_confirmed, on.contaminated, on.injected_ids) == (True, False, on.planted_ids)
    assert (off.injected_confirmed, off.contaminated, off.injected_ids, off.planted_ids) == (False, False, (), ())


def test_a_memory_of_somebody_else_is_contamination(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task()], memory=SystemAround(LeaksItsNeighbours))
    assert (ran.record("on").contaminated, ran.record("on").injected_confirmed) == (True, True)
    assert (ran.record("off").contaminated, ran.record("off").injected_confirmed) == (True, False)
    assert any(flag.startswith("contamination: ") for flag in ran.summary.flags)


def test_a_system_without_a_ledger_confirms_nothing_and_denies_nothing(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task()], memory=SystemAround(NeverHeard))
    record = ran.record()
    assert (record.status, record.injected_ids) == ("passed", None)
    assert (record.injected_confirmed, record.contaminated) == (None, None)
    assert ran.value("injection_confirmation_rate") is None
    assert ran.value("mui") == 0, "what is not confirmed earns nothing"


def test_realms_are_canonical_and_used_once(tmp_path: Path) -> None:
    nop = registry.load("agents", "nop")
    tasks = [tiny_task(), tiny_task("beta")]
    ran = run_bench(tmp_path, tasks, agent=nop, conditions=("off", "on", "ablate:all"), trials=2)
    realms = {row.case: row.realm for row in ran.evidence}
    assert len(set(realms.values())) == len(ran.evidence) == 12
    assert realms["beta/ablate:all/t2"] == "project:smriti-beta-run-ablate-all-t2"
    assert all(re.fullmatch(r"project:[a-z0-9-]+", realm) for realm in realms.values())
    sessions = {row.session_id for row in ran.evidence}
    assert len(sessions) == 12
    assert all(uuid.UUID(session) for session in sessions)


def test_every_planted_memory_is_forgotten_and_no_search_finds_one(tmp_path: Path) -> None:
    watched = Watched()
    ran = run_bench(
        tmp_path,
        [tiny_task(memories=TWO_MEMORIES)],
        memory=watched.system,
        conditions=("off", "on", "ablate:kw"),
        trials=2,
    )
    planted_ids = [memory.id for row in ran.evidence for memory in row.planted]
    assert len(planted_ids) == len(watched.remembered) == 2 * 2 * 2, "off plants nothing"
    assert sorted(watched.forgotten) == sorted(planted_ids)
    assert watched.closed == 1, "one store was lent again and again"
    assert watched.left == []


def test_a_neighbouring_projects_memory_is_planted_in_a_realm_of_its_own(tmp_path: Path) -> None:
    watched = Watched()
    memories = [
        planted(fact("alpha")),
        planted("The mooring code of harbour alpha is cod-9.", "stale", source_id="m2", realm="project:ferry"),
        planted("Pilots wear boots.", "distractor", source_id="m3"),
    ]
    ran = run_bench(tmp_path, [tiny_task(memories=memories)], memory=watched.system, conditions=("on",))
    own = ran.trial().realm
    assert [realm for realm, _ in watched.remembered] == [own, f"{own}-ferry", own], "and in the task's order"
    assert [memory.source_id for memory in ran.trial().planted] == ["m1", "m2", "m3"]
    assert sorted(watched.forgotten) == sorted(memory.id for memory in ran.trial().planted)
    assert ran.record().passed, "the agent followed its own project's memory"


def test_the_seconds_of_each_phase_are_there(tmp_path: Path) -> None:
    seconds = run_bench(tmp_path, [tiny_task()]).record().seconds
    parts = (seconds.prepare, seconds.plant, seconds.agent, seconds.grade, seconds.forget)
    assert seconds.check is not None
    assert seconds.grade is not None
    assert seconds.total is not None
    assert all(part is not None and part > 0 for part in parts)
    assert sum(part or 0 for part in parts) <= seconds.total
    assert seconds.check <= seconds.grade


def test_a_phase_that_was_not_reached_has_no_seconds(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task()], memory=SystemAround(RemembersNothing), conditions=("on",))
    seconds = ran.record().seconds
    assert (seconds.agent, seconds.grade, seconds.check) == (None, None, None)


def test_nothing_of_a_trial_is_left_in_the_scratch_directory(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task()], conditions=("off", "on", "file"))
    assert list((ran.scratch / "trials").iterdir()) == []


# Planting and forgetting go wrong


@pytest.mark.parametrize(
    ("around", "message"),
    [
        (RemembersNothing, "no room for 2 memories"),
        (LosesOne, "2 memories were planted, and 1 new ids came back"),
        (RepeatsAnId, "2 memories were planted, and 1 new ids came back"),
    ],
)
def test_a_failed_plant_ends_the_trial_before_the_agent_and_the_check(
    tmp_path: Path, around: type[StoreAround], message: str
) -> None:
    worked: list[str] = []
    system = SystemAround(around)
    ran = run_bench(
        tmp_path,
        [tiny_task(memories=TWO_MEMORIES)],
        memory=system,
        agent=Acting(lambda job: worked.append(job.session_id)),
        conditions=("on",),
        trials=2,
    )
    assert_ended(ran, "plant_failed", "plant", message)
    assert worked == [], "an agent without its memory must not run as if it had one"
    row = ran.trial()
    assert (row.agent_exit_status, row.check_exit_status, row.check_output_sha256) == (None, None, None)
    assert row.transcript_sha256 is None
    assert row.usage == UNKNOWN
    assert len(system.opened) == 2, "the store was not lent to the second trial"


def test_what_was_planted_before_the_plant_failed_is_forgotten_all_the_same(tmp_path: Path) -> None:
    class RemembersOnlyOwn(StoreAround):
        def remember(self, memories: Any, realm: str) -> list[str]:
            if realm.endswith("-ferry"):
                raise MemorySystemError("no such project")
            return super().remember(memories, realm)

    watched = Watched(SystemAround(RemembersOnlyOwn))
    memories = [planted(fact("alpha")), planted("Cod.", "stale", source_id="m2", realm="project:ferry")]
    ran = run_bench(tmp_path, [tiny_task(memories=memories)], memory=watched.system, conditions=("on",))
    assert_ended(ran, "plant_failed", "plant", "no such project")
    assert watched.forgotten == [memory.id for memory in ran.trial().planted] != []


def test_a_store_that_does_not_forget_is_a_fault_and_is_not_lent_again(tmp_path: Path) -> None:
    system = SystemAround(ForgetsNothing)
    ran = run_bench(tmp_path, [tiny_task()], memory=system, conditions=("on",), trials=2)
    assert_ended(ran, "forget_failed", "forget", "1 memories are still there")
    assert ran.trial().check_exit_status == 0, "the check had passed, and that is kept"
    assert len(system.opened) == 2


def test_a_store_that_does_not_forget_is_not_lent_again_though_something_else_failed_first(tmp_path: Path) -> None:
    system = SystemAround(ForgetsNothing)
    agent = command_agent(tmp_path, CRASH)
    ran = run_bench(tmp_path, [tiny_task()], agent=agent, memory=system, conditions=("on",), trials=2)
    assert_ended(ran, "agent_error", "agent", "out of ideas")
    assert len(system.opened) == 2


def test_the_first_fault_is_the_one_that_is_told(tmp_path: Path) -> None:
    class ForgetsAndTellsNothing(ForgetsNothing, CannotTell): ...

    ran = run_bench(tmp_path, [tiny_task()], memory=SystemAround(ForgetsAndTellsNothing), conditions=("on",))
    assert_ended(ran, "memory_error", "confirm", "the ledger is torn")


def test_a_ledger_that_cannot_be_read_leaves_no_verdict(tmp_path: Path) -> None:
    system = SystemAround(CannotTell)
    ran = run_bench(tmp_path, [tiny_task()], memory=system, conditions=("on",), trials=2)
    assert_ended(ran, "memory_error", "confirm", "the ledger is torn")
    row = ran.trial()
    assert (row.injected_ids, row.check_exit_status) == (None, None)
    assert row.transcript_sha256 is not None, "what the agent did is kept"
    assert len(system.opened) == 2, "nobody knows what the store holds"


def test_a_store_that_cannot_be_opened_during_the_run_is_a_fault_of_the_trial(tmp_path: Path) -> None:
    def refuse(store: Store) -> Store:
        store.close()
        raise MemorySystemError("its server does not answer")

    ran = run_bench(tmp_path, [tiny_task()], memory=SystemAround(refuse), conditions=("on",))
    assert_ended(ran, "memory_error", "prepare", "could not be opened.*its server does not answer")


def test_a_full_disk_under_a_store_is_a_fault_of_the_trial(tmp_path: Path) -> None:
    def refuse(store: Store) -> Store:
        store.close()
        raise OSError(errno.ENOSPC, "No space left on device")

    ran = run_bench(tmp_path, [tiny_task()], memory=SystemAround(refuse), conditions=("on",))
    assert_ended(ran, "infra_error", "prepare", "No space left on device")


# The agent goes wrong


HANG = "import threading; print('{\"half\": ', flush=True); threading.Event().wait()\n"
CRASH = "import sys; print('a word'); print('out of ideas', file=sys.stderr); sys.exit(3)\n"
GARBAGE = "print('a word and no JSON')\n"
RESULT = {"source": "stdout", "format": "json"}
PATHS = {"input_tokens": "in", "output_tokens": "out", "cache_read_tokens": 0, "cache_write_tokens": 0}


@dataclass(frozen=True)
class Failing:
    """An agent's script, and what becomes of the trial."""

    code: str
    status: Status
    message: str
    transcript: str
    timeout_s: float = 20.0


@pytest.mark.parametrize(
    "failing",
    [
        Failing(HANG, "agent_timeout", "not done within 0.5 s", "half", timeout_s=0.5),
        Failing(CRASH, "agent_error", "exit status 3: out of ideas", "a word"),
        Failing(GARBAGE, "agent_error", "no JSON", "a word and no JSON"),
    ],
    ids=["hangs", "crashes", "prints garbage"],
)
def test_an_agent_that_fails_has_no_verdict_and_unknown_tokens(tmp_path: Path, failing: Failing) -> None:
    agent = command_agent(tmp_path, failing.code, result=RESULT, usage=PATHS)
    ran = run_bench(tmp_path, [tiny_task()], agent=agent, conditions=("on",), timeout_s=failing.timeout_s)
    assert_ended(ran, failing.status, "agent", failing.message)
    assert ran.record().usage == UNKNOWN, "unknown is None, never 0"
    row = ran.trial()
    assert failing.transcript in ran.kept("transcripts", row.transcript_sha256)
    assert (row.check_exit_status, row.check_output_sha256) == (None, None)
    assert ran.value("usage_unknown_rate") == 1
    assert ran.value("tokens") is None


def test_after_a_fault_of_the_agent_the_store_is_clean_and_lent_again(tmp_path: Path) -> None:
    watched = Watched()
    agent = command_agent(tmp_path, CRASH)
    run_bench(tmp_path, [tiny_task()], agent=agent, memory=watched.system, conditions=("on",), trials=2)
    assert (watched.closed, len(watched.forgotten), watched.left) == (1, 2, [])


def test_an_agent_that_cannot_be_started_is_a_fault_of_the_agent(tmp_path: Path) -> None:
    def absent(job: AgentJob) -> None:
        raise AgentError(f"'no-such-agent' could not be started in {job.cage.workdir.name}")

    ran = run_bench(tmp_path, [tiny_task()], agent=Acting(absent), conditions=("on",))
    assert_ended(ran, "agent_error", "agent", "'no-such-agent' could not be started")
    assert ran.trial().transcript_sha256 is None


def test_what_an_agent_used_over_the_limit_is_a_fault_that_keeps_its_figure(tmp_path: Path) -> None:
    code = "import json; print(json.dumps({'in': 900, 'out': 101}))\n"
    agent = command_agent(tmp_path, code, result=RESULT, usage=PATHS)
    over = run_bench(tmp_path, [tiny_task()], agent=agent, conditions=("on",), max_tokens=1000)
    assert_ended(over, "token_limit", "agent", "1001 tokens used, 1000 allowed")
    assert over.record().usage.total == 1001
    under = run_bench(tmp_path, [tiny_task()], agent=agent, conditions=("on",), max_tokens=1001)
    assert under.record().status == "failed"


def test_the_rehearsal_agent_keeps_to_the_limit_itself(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task(deducible=True)], conditions=("off",), max_tokens=600)
    record = ran.record("off")
    assert (record.status, record.fault and record.fault.phase) == ("token_limit", "agent")
    assert record.usage.total is not None
    assert 0 < record.usage.total <= 600


def without_workdir(job: AgentJob) -> None:
    """Delete the repository."""
    shutil.rmtree(job.cage.workdir)


def link_for_a_deliverable(job: AgentJob) -> None:
    """Leave a link to the right answer."""
    elsewhere = Path(job.cage.env["HOME"]) / "answer"
    elsewhere.write_text(mooring_code("alpha"))
    (job.cage.workdir / "answer.txt").symlink_to(elsewhere)


def link_for_a_workdir(job: AgentJob) -> None:
    """Put a link in the repository's place, to a folder with the right answer."""
    elsewhere = Path(job.cage.env["HOME"]) / "repo"
    job.cage.workdir.rename(elsewhere)
    (elsewhere / "answer.txt").write_text(mooring_code("alpha"))
    job.cage.workdir.symlink_to(elsewhere)


def file_for_a_workdir(job: AgentJob) -> None:
    """Put a file in the repository's place."""
    shutil.rmtree(job.cage.workdir)
    job.cage.workdir.write_text(mooring_code("alpha"))


def folder_for_a_deliverable(job: AgentJob) -> None:
    """Make the answer a folder."""
    (job.cage.workdir / "answer.txt").mkdir()


def pipe_for_a_deliverable(job: AgentJob) -> None:
    """Make the answer a pipe that nobody writes to."""
    os.mkfifo(job.cage.workdir / "answer.txt")


@pytest.mark.parametrize(
    ("act", "became"),
    [(without_workdir, "removed"), (link_for_a_workdir, "replaced"), (file_for_a_workdir, "replaced")],
)
def test_a_working_directory_that_is_no_more_is_named_first(
    tmp_path: Path, act: Callable[[AgentJob], None], became: str
) -> None:
    ran = run_bench(tmp_path, [tiny_task()], agent=Acting(act), conditions=("on",))
    assert ran.trial().left_out[0] == f".: the working directory was {became}"


def test_what_the_agent_took_the_rights_from_is_read_all_the_same(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.touch(mode=0o600)

    def lock(job: AgentJob) -> None:
        answering(job)
        workdir = job.cage.workdir
        (workdir / "link").symlink_to(outside)
        outside.chmod(0o000)
        for path in (workdir / "answer.txt", workdir / "office", workdir, workdir.parent, workdir.parent.parent):
            path.chmod(0o000)

    ran = run_bench(tmp_path, [tiny_task()], agent=Acting(lock), conditions=("on",))
    assert (ran.record().status, ran.trial().left_out) == ("passed", ("link: a symbolic link",))
    assert list((ran.scratch / "trials").iterdir()) == []
    assert outside.stat().st_mode & 0o777 == 0, "what a link names is not the trial's"


@pytest.mark.parametrize(
    "act",
    [
        without_workdir,
        link_for_a_deliverable,
        link_for_a_workdir,
        file_for_a_workdir,
        folder_for_a_deliverable,
        pipe_for_a_deliverable,
    ],
)
def test_an_agent_that_leaves_no_file_to_grade_has_failed(tmp_path: Path, act: Callable[[AgentJob], None]) -> None:
    ran = run_bench(tmp_path, [tiny_task()], agent=Acting(act), conditions=("on",))
    record = ran.record()
    assert (record.status, record.passed, record.fault) == ("failed", False, None)
    assert ran.trial().check_exit_status == 1
    assert list((ran.scratch / "trials").iterdir()) == []


def test_a_link_in_the_repositorys_place_is_not_followed(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task()], agent=Acting(link_for_a_workdir), conditions=("on",))
    assert mooring_code("alpha") not in ran.kept("diffs", ran.record().diff_sha256)


def test_a_file_in_the_place_of_the_checks_folder_neither_helps_nor_harms_the_agent(tmp_path: Path) -> None:
    def in_the_way(job: AgentJob) -> None:
        (job.cage.workdir / "grader").write_text("no check here")

    def right_and_in_the_way(job: AgentJob) -> None:
        answering(job)
        in_the_way(job)

    task = tiny_task(deliverables=("**",))
    for act, status in ((in_the_way, "failed"), (right_and_in_the_way, "passed")):
        ran = run_bench(tmp_path, [task], agent=Acting(act), conditions=("on",))
        assert ran.record().status == status


def test_what_the_agent_may_not_change_is_left_out_with_its_reason(tmp_path: Path) -> None:
    def everywhere(job: AgentJob) -> None:
        answering(job)
        (job.cage.workdir / "README.md").write_text("Mine.\n")
        (job.cage.workdir / "notes").symlink_to("/")

    ran = run_bench(tmp_path, [tiny_task()], agent=Acting(everywhere), conditions=("on",))
    assert ran.record().passed
    assert ran.trial().left_out == ("notes: a symbolic link", "README.md: not among the deliverables")
    assert "+Mine." in ran.kept("diffs", ran.record().diff_sha256)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may remove a folder whatever its mode")
def test_a_locked_folder_is_removed_and_what_its_links_name_is_not_touched(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)

    def lock(job: AgentJob) -> None:
        locked = Path(job.cage.env["HOME"]) / "locked"
        (locked / "inner").mkdir(parents=True)
        (locked / "outside").symlink_to(outside)
        (locked / "inner").chmod(0o000)
        locked.chmod(0o500)

    ran = run_bench(tmp_path, [tiny_task()], agent=Acting(lock), conditions=("on",))
    assert ran.record().status == "failed"
    assert list((ran.scratch / "trials").iterdir()) == []
    assert outside.stat().st_mode & 0o777 == 0o755


def test_folders_nested_beyond_any_recursion_are_removed_too(tmp_path: Path) -> None:
    def dig(job: AgentJob) -> None:
        here = os.open(job.cage.workdir, os.O_RDONLY)
        for _ in range(1500):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)

    ran = run_bench(tmp_path, [tiny_task()], agent=Acting(dig), conditions=("on",))
    assert ran.record().status == "failed"
    assert list((ran.scratch / "trials").iterdir()) == []


# The check and the machine go wrong


def test_a_check_that_hangs_gives_no_verdict(tmp_path: Path) -> None:
    task = tiny_task(check=HANGING_CHECK, timeout_s=0.3)
    ran = run_bench(tmp_path, [task], agent=Acting(answering), conditions=("on",))
    assert_ended(ran, "check_timeout", "grade", "no verdict within 0.3 s")
    assert (ran.record().usage.total, ran.trial().check_exit_status) == (10, None)


def test_a_check_that_is_killed_gives_no_verdict(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task(check=DYING_CHECK)], agent=Acting(answering), conditions=("on",))
    assert_ended(ran, "check_error", "grade", "ended by signal 9")
    assert ran.trial().check_exit_status == -9


def test_a_check_whose_program_is_not_there_gives_no_verdict(tmp_path: Path) -> None:
    task = tiny_task(check_cmd=("no-such-grader", "check"))
    ran = run_bench(tmp_path, [task], agent=Acting(answering), conditions=("on",))
    assert_ended(ran, "check_error", "grade", "no-such-grader")


def test_what_a_check_prints_is_kept(tmp_path: Path) -> None:
    check = "import sys; print('one seen'); print('two seen', file=sys.stderr)"
    ran = run_bench(tmp_path, [tiny_task(check=check)], agent=Acting(answering), conditions=("on",))
    assert ran.kept("checks", ran.trial().check_output_sha256) == "one seen\ntwo seen\n"


def test_a_task_with_a_history_is_skipped_where_there_is_no_git(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "missing_commands", lambda commands: [name for name in commands if name == "git"])
    tasks = [tiny_task(), replace(tiny_task("beta"), history=b"")]
    ran = run_bench(tmp_path, tasks, agent=Acting(answering), conditions=("on",))
    assert (ran.record().status, ran.record(task="beta").status) == ("passed", "skipped")
    fault = ran.record(task="beta").fault
    assert fault is not None
    assert fault.message == "not on this machine: git"


def test_a_task_whose_command_is_missing_is_skipped_and_counted_and_never_passed(tmp_path: Path) -> None:
    watched = Watched()
    tasks = [tiny_task(), tiny_task("beta", requires=("python3", "no-such-command"))]
    ran = run_bench(tmp_path, tasks, memory=watched.system, agent=Acting(answering), trials=2)
    skipped = [record for record in ran.records if record.task_id == "beta"]
    assert [record.status for record in skipped] == ["skipped"] * 4
    assert {record.passed for record in skipped} == {None}
    assert {record.fault and record.fault.message for record in skipped} == {"not on this machine: no-such-command"}
    assert len(watched.remembered) == 2, "nothing was planted for it"
    cover = ran.summary.coverage
    assert (cover.planned, cover.completed, cover.failed, cover.skipped) == (8, 4, 0, 4)
    assert (ran.value("sr"), ran.value("sr", "on", "beta")) == (1, None)
    assert any("beta" in flag and flag.startswith("skipped: ") for flag in ran.summary.flags)


@pytest.mark.parametrize("step", ["smriti.sandbox.fixture.lay", "smriti.suites.bench.trial.make_cage"])
def test_a_full_disk_while_preparing_is_a_fault_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def full(*_arguments: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    watched = Watched()
    monkeypatch.setattr(step, full)
    ran = run_bench(tmp_path, [tiny_task()], memory=watched.system, conditions=("on",))
    assert_ended(ran, "infra_error", "prepare", "No space left on device")
    assert watched.remembered == []
    assert ran.record().usage == UNKNOWN


def test_what_cannot_be_removed_is_a_fault_of_the_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(_root: object) -> None:
        raise OSError(errno.ENOTEMPTY, "Directory not empty")

    with monkeypatch.context() as patch:
        patch.setattr("smriti.suites.bench.shutil.rmtree", stuck)
        ran = run_bench(tmp_path, [tiny_task()], agent=Acting(answering), conditions=("on",))
    assert_ended(ran, "infra_error", "teardown", "Directory not empty")


@pytest.mark.parametrize("step", ["deliver", "select_deliverables", "unified_diff"])
def test_what_is_wrong_with_the_harness_stops_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    def broken(*_arguments: object, **_named: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(f"smriti.suites.bench.trial.{step}", broken)
    with pytest.raises(ZeroDivisionError):
        run_bench(tmp_path, [tiny_task()], agent=Acting(answering), conditions=("on",))


def test_a_history_that_git_does_not_import_is_a_fault_of_the_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(*_arguments: object) -> None:
        raise SmritiError("git fast-import of history.fast-import ended with 128")

    monkeypatch.setattr("smriti.sandbox.fixture.import_history", torn)
    task = replace(tiny_task(), history=b"torn", sha256="1" * 64)
    ran = run_bench(tmp_path, [task], agent=Acting(answering), conditions=("on",))
    assert_ended(ran, "infra_error", "prepare", "ended with 128")


# A verdict that nobody earned


def test_what_the_agent_left_running_is_ended_before_its_work_is_graded(tmp_path: Path) -> None:
    code = f"""
import os, pathlib, time
if os.fork() == 0:
    os.setsid()
    os.close(1)
    os.close(2)
    while True:
        for check in pathlib.Path({str(tmp_path)!r}).glob("*/scratch/**/grader/check.py"):
            check.write_text("raise SystemExit(0)")
        pathlib.Path("started").touch()
while not os.path.exists("started"):
    time.sleep(0.01)
print("done")
"""
    check = "import time\ntime.sleep(0.1)\n" + PLAIN_CHECK
    ran = run_bench(tmp_path, [tiny_task(check=check)], agent=command_agent(tmp_path, code), conditions=("on",))
    assert ran.record().status == ("failed" if sys.platform == "linux" else "check_error")


def test_the_graded_copy_is_made_after_the_agent_where_it_cannot_foresee_it(tmp_path: Path) -> None:
    agents: list[Path] = []
    check = "import os, sys; print(os.getcwd()); sys.exit(1)"
    agent = Acting(lambda job: agents.append(job.cage.workdir))
    ran = run_bench(tmp_path, [tiny_task(check=check)], agent=agent, conditions=("on",), trials=2)
    graded = [Path(ran.kept("checks", ran.trial("on", trial).check_output_sha256).strip()) for trial in (1, 2)]
    assert len({folder.parent for folder in graded}) == 2
    assert all(folder.parent.parent == ran.scratch.resolve() for folder in graded)
    assert not any(folder.is_relative_to(path.parents[1].resolve()) for folder in graded for path in agents)
    assert sorted(path.name for path in ran.scratch.iterdir()) == ["stores", "trials"], "and nothing is left of it"


def test_a_check_that_passes_the_untouched_fixture_gives_no_verdict(tmp_path: Path) -> None:
    task = tiny_task(check="pass")
    idle = Acting(lambda job: (job.cage.workdir / "stray").touch())
    ran = run_bench(tmp_path, [task], agent=idle, conditions=("on",))
    assert_ended(ran, "check_error", "grade", "passed without any change")
    assert ran.trial().check_exit_status == 0
    assert run_bench(tmp_path, [task], agent=Acting(answering), conditions=("on",)).record().passed


@pytest.mark.parametrize(
    "act", ["here.write_text('')", "here.unlink()", "here.chmod(0o755)", "here.unlink(); here.symlink_to('/dev/null')"]
)
def test_a_check_whose_own_files_were_altered_meanwhile_gives_no_verdict(tmp_path: Path, act: str) -> None:
    check = f"import pathlib, sys; here = pathlib.Path('grader/check.py'); {act}"
    ran = run_bench(tmp_path, [tiny_task(check=check)], agent=Acting(answering), conditions=("on",))
    assert_ended(ran, "check_error", "grade", "altered: grader/check.py")


def test_no_more_checks_run_at_once_than_the_machine_has_cores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running: list[int] = [0]
    most: list[int] = []

    def counted(*arguments: Any) -> Completed:
        running[0] += 1
        most.append(running[0])
        time.sleep(0.02)
        running[0] -= 1
        return Completed(exit_status=1, stdout=b"", stderr=b"", seconds=0.0) if arguments else NotImplemented

    monkeypatch.setattr("smriti.suites.bench.trial.run_check", counted)
    monkeypatch.setattr("smriti.suites.bench.trial.altered_checks", lambda *_: [])
    monkeypatch.setattr("smriti.suites.bench.os.cpu_count", lambda: 1)
    run_bench(tmp_path, [tiny_task()], agent=Acting(answering), conditions=("on",), trials=4, jobs=4)
    assert most == [1] * 4


# How memory is delivered


def notes(prompt: str) -> list[str]:
    """The notes that stand before the prompt."""
    return [line.removeprefix("- ") for line in prompt.splitlines() if line.startswith("- ")]


def test_handed_puts_the_memories_into_the_prompt_newest_first(tmp_path: Path) -> None:
    task = tiny_task(memories=[*TWO_MEMORIES, planted("Cod.", "stale", source_id="m3", realm="project:ferry")])
    ran = run_bench(tmp_path, [task], conditions=("handed", "off"))
    assert notes(ran.prompt("handed")) == [TWO_MEMORIES[1].content, TWO_MEMORIES[0].content]
    assert ran.prompt("handed").endswith(ran.prompt("off"))
    assert (ran.trial("handed").delivery, ran.trial("handed").planted) == ("prefix", ())
    assert ran.record("handed").passed


def test_placebo_is_as_many_words_and_none_of_the_memories(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task(memories=TWO_MEMORIES)], conditions=("placebo", "handed"), trials=2)
    for trial in (1, 2):
        handed, placebo = notes(ran.prompt("handed", trial)), notes(ran.prompt("placebo", trial))
        assert len(" ".join(placebo).split()) == len(" ".join(handed).split())
        assert not any(memory.content in ran.prompt("placebo", trial) for memory in TWO_MEMORIES)
        assert mooring_code("alpha") not in ran.prompt("placebo", trial)
        assert ran.record("placebo", trial).status == "failed"
        assert ran.prompt("placebo", trial).splitlines()[0] == ran.prompt("handed", trial).splitlines()[0]
    assert ran.prompt("placebo", 1) != ran.prompt("placebo", 2), "each trial has notes of its own"


def test_file_lays_both_context_files_and_takes_them_out_again(tmp_path: Path) -> None:
    seen: dict[str, str] = {}

    def read(job: AgentJob) -> None:
        seen.update({path.name: path.read_text() for path in job.cage.workdir.glob("*.md")})
        answering(job)

    task = tiny_task(fixture={"README.md": README, "AGENTS.md": "House rules.\n"}, deliverables=("**",))
    ran = run_bench(tmp_path, [task], agent=Acting(read), conditions=("file",))
    assert fact("alpha") in seen["CLAUDE.md"]
    assert seen["AGENTS.md"].startswith("House rules.\n")
    assert fact("alpha") in seen["AGENTS.md"]
    row = ran.trial("file")
    diff = ran.kept("diffs", row.diff_sha256)
    assert (row.delivery, row.left_out, ran.record("file").status) == ("files", (), "passed")
    assert "answer.txt" in diff
    assert "AGENTS.md" not in diff
    assert "CLAUDE.md" not in diff


def test_a_context_file_that_the_agent_changed_is_its_change(tmp_path: Path) -> None:
    def amend(job: AgentJob) -> None:
        answering(job)
        with (job.cage.workdir / "CLAUDE.md").open("a") as file:
            file.write("- and so I noted\n")
        (job.cage.workdir / "AGENTS.md").unlink()

    task = tiny_task(fixture={"README.md": README, "AGENTS.md": "House rules.\n"})
    ran = run_bench(tmp_path, [task], agent=Acting(amend), conditions=("file",))
    diff = ran.kept("diffs", ran.trial("file").diff_sha256)
    assert "+- and so I noted" in diff
    assert "-House rules." in diff
    assert ran.trial("file").left_out == (
        "AGENTS.md: not among the deliverables",
        "CLAUDE.md: not among the deliverables",
    )


def test_a_context_file_may_lie_in_a_folder_that_the_fixture_does_not_have(tmp_path: Path) -> None:
    class InAFolder(StoreAround):
        def attach(self, realm: str, condition: Condition) -> Attachment:
            del realm, condition
            return Attachment(files={".rules/memory.md": "Cod.\n"})

    seen: list[str] = []
    agent = Acting(lambda job: seen.append((job.cage.workdir / ".rules/memory.md").read_text()))
    ran = run_bench(tmp_path, [tiny_task()], agent=agent, memory=SystemAround(InAFolder), conditions=("on",))
    assert (seen, ran.record().status, ran.trial().left_out) == (["Cod.\n"], "failed", ())


def test_an_agent_without_hooks_gets_their_text_before_its_prompt(tmp_path: Path) -> None:
    seen: list[AgentJob] = []
    agent = Acting(seen.append, frozenset({"env", "prefix"}))
    ran = run_bench(tmp_path, [tiny_task()], agent=agent, trials=2)
    assert {row.delivery for row in ran.evidence} == {"prompt", "none"}
    for trial in (1, 2):
        on = ran.record("on", trial)
        assert ran.trial("on", trial).delivery == "prompt"
        assert (on.injected_confirmed, on.contaminated, on.injected_ids) == (True, False, on.planted_ids)
        assert (ran.trial("off", trial).delivery, ran.record("off", trial).injected_confirmed) == ("none", False)
    prefixes = [job.attachment.prefix for job in seen]
    assert sum(fact("alpha") in prefix for prefix in prefixes) == 2
    assert sum(prefix == "" for prefix in prefixes) == 2
    assert all(job.attachment.hooks == () for job in seen)


def test_what_the_harness_delivered_is_found_though_the_agent_names_its_own_session(tmp_path: Path) -> None:
    """The hooks ran under the trial's session id: what the agent reports of itself comes later."""
    code = "import json; print(json.dumps({'me': 'my-own-session'}))\n"
    agent = command_agent(tmp_path, code, result={**RESULT, "session_id": "me"})
    ran = run_bench(tmp_path, [tiny_task()], agent=agent, conditions=("on",))
    assert (ran.trial().delivery, ran.record().injected_confirmed) == ("prompt", True)
    assert ran.trial().session_id != "my-own-session"


def test_what_the_agents_own_hooks_delivered_is_found_under_its_own_session(tmp_path: Path) -> None:
    code = """
import json, shlex, subprocess, sys
settings = json.load(open(sys.argv[1]))
((entry,),) = [group["hooks"] for group in settings["hooks"]["UserPromptSubmit"]]
call = {"session_id": "my-own-session", "cwd": ".", "prompt": "harbour alpha"}
subprocess.run(shlex.split(entry["command"]), input=json.dumps(call).encode(), check=True)
print()
print(json.dumps({"me": "my-own-session"}))
"""
    place = {"source": "stdout", "format": "ndjson-last", "session_id": "me"}
    agent = command_agent(tmp_path, code, arguments=["{hooks_file}"], result=place)
    ran = run_bench(tmp_path, [tiny_task()], agent=agent, conditions=("on",))
    assert (ran.trial().delivery, ran.trial().session_id) == ("hooks", "my-own-session")
    assert ran.record().injected_confirmed


def test_a_ledger_that_knows_only_the_clock_is_asked_from_the_delivery_on(tmp_path: Path) -> None:
    """A hook that the harness runs before the agent starts is inside the window."""
    moments: list[tuple[str, int, int]] = []

    class Clocked(StoreAround):
        def attach(self, realm: str, condition: Condition) -> Attachment:
            moments.append(("attach", 0, 0))
            return super().attach(realm, condition)

        def injected(self, session_id: str, window: tuple[int, int]) -> list[str] | None:
            moments.append(("injected", *window))
            return super().injected(session_id, window)

    began: list[int] = []
    agent = Acting(lambda _job: began.append(time.time_ns() // 1_000_000), frozenset({"env", "prefix"}))
    run_bench(tmp_path, [tiny_task()], agent=agent, memory=SystemAround(Clocked), conditions=("on",))
    _, (asked, low, high) = moments
    assert asked == "injected"
    assert low < began[0] <= high, "starting the hook's interpreter alone takes longer than a millisecond"


def test_an_agent_that_cannot_take_files_is_refused_by_name(tmp_path: Path) -> None:
    agent = Acting(answering, frozenset({"env", "prefix", "hooks"}))
    ran = run_bench(tmp_path, [tiny_task()], agent=agent, conditions=("on", "file"))
    record = ran.record("file")
    assert record.status == "memory_error"
    assert record.fault is not None
    assert (record.fault.phase, record.fault.message) == (
        "attach",
        "agent 'acting' cannot take a memory system's files",
    )
    assert ran.record("on").passed


def test_a_hook_that_fails_before_the_agent_is_a_fault_of_the_memory_system(tmp_path: Path) -> None:
    class BrokenHook(StoreAround):
        def attach(self, realm: str, condition: Condition) -> Attachment:
            attachment = super().attach(realm, condition)
            (hook,) = attachment.hooks
            return replace(attachment, hooks=(replace(hook, command=("python3", "-c", "raise SystemExit(4)")),))

    agent = Acting(answering, frozenset({"env", "prefix"}))
    ran = run_bench(tmp_path, [tiny_task()], agent=agent, memory=SystemAround(BrokenHook), conditions=("on",))
    assert_ended(ran, "memory_error", "attach", "exit status 4")


def test_a_memory_that_the_agent_says_aloud_is_an_echo(tmp_path: Path) -> None:
    class Parrot:
        name, version, scripted = "parrot", "1", True
        channels = frozenset({"env", "files", "prefix", "hooks"})

        def identity(self) -> SystemIdentity:
            return SystemIdentity(name=self.name, version=self.version)

        def run(self, job: AgentJob) -> AgentRun:
            said = "I recall:  " + fact("alpha").replace(" ", "\n")
            return AgentRun(b"", said, Usage(), 0.0, None, 0, job.session_id)

    ran = run_bench(tmp_path, [tiny_task(memories=TWO_MEMORIES)], agent=Parrot())
    (needed, _) = ran.trial("on").planted
    assert ran.trial("on").echoed_ids == (needed.id,)
    assert (ran.record("on").echoed, ran.record("off").echoed) == (True, False)
    assert ran.value("echo_rate") == 1


def test_memory_off_injects_nothing_under_on_either(tmp_path: Path) -> None:
    ran = run_bench(tmp_path, [tiny_task()], memory=registry.load("memory", "off"))
    assert [ran.record(condition).status for condition in ("off", "on")] == ["failed", "failed"]
    assert ran.record("on").injected_confirmed is False
    assert len(ran.record("on").planted_ids) == 1
