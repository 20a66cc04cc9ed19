"""The rehearsal agent: what it does with a memory, without one, and with a wrong one, and what that costs."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from smriti.agents.rehearsal import Rehearsal, create
from smriti.errors import AgentError, UsageError
from smriti.types import AgentRun, Attachment, Fault, File, Hook, Usage
from tests.agents.agent_bench import FACT, REALM, STALE, Bench

RIGHT, NAIVE = "LIMIT = 640\n", "LIMIT = 0\n"
TEN_FILES = {f"pkg/part{number}.py": f"value_{number} = {number}\n" * 100 for number in range(9)} | {
    "app/main.py": "x = 1\n" * 200
}


def hook(script: str, timeout_s: float = 5.0, event: Any = "UserPromptSubmit") -> Hook:
    return Hook(event, ("sh", "-c", script), timeout_s)


def adds(context: str, then: str = "", timeout_s: float = 5.0) -> Hook:
    answer = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": context}}
    return hook(f"printf '%s' {shlex.quote(json.dumps(answer))}; {then}", timeout_s)


def events(run: AgentRun, kind: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in run.transcript.splitlines()]
    return [line for line in lines if line["type"] == kind]


def files_read(run: AgentRun) -> list[str]:
    return [use["input"]["path"] for use in events(run, "tool_use") if use["tool"] == "read_file"]


def script(run: AgentRun) -> dict[str, Any]:
    return next(line for line in events(run, "system") if line["subtype"] == "script")


class TestWithAMemory:
    @pytest.mark.parametrize(
        "attachment",
        [
            Attachment(prefix=f"Remember: {FACT}"),
            Attachment(hooks=(adds(f"[wisdom m1] {FACT}"),)),
            Attachment(files={"AGENTS.md": f"# Notes\n{FACT}\n"}),
            Attachment(files={"CLAUDE.md": FACT.replace("\n", " \n\n ")}),
        ],
        ids=["prefix", "hook", "AGENTS.md", "CLAUDE.md, other whitespace"],
    )
    def test_a_needed_memory_is_followed_however_it_came(self, bench: Bench, attachment: Attachment) -> None:
        run = Rehearsal().run(bench.job(attachment=attachment))
        assert bench.edit == RIGHT
        assert script(run)["decision"] == "memory"
        assert files_read(run) == ["app/main.py"]
        assert run.fault is None

    def test_whichever_memory_stands_first_is_followed(self, bench: Bench) -> None:
        Rehearsal().run(bench.job(attachment=Attachment(hooks=(adds(f"{FACT}\n\n{STALE}"),))))
        assert bench.edit == RIGHT
        run = Rehearsal().run(bench.job(attachment=Attachment(hooks=(adds(f"{STALE}\n\n{FACT}"),))))
        assert bench.edit == NAIVE
        assert script(run)["decision"] == "misled"

    def test_the_prompt_stands_before_hooks_and_hooks_before_files(self, bench: Bench) -> None:
        Rehearsal().run(bench.job(attachment=Attachment(prefix=FACT, hooks=(adds(STALE),))))
        assert bench.edit == RIGHT
        Rehearsal().run(bench.job(attachment=Attachment(hooks=(adds(STALE),), files={"AGENTS.md": FACT})))
        assert bench.edit == NAIVE

    @pytest.mark.parametrize(
        ("role", "realm"),
        [("stale", REALM), ("poison", REALM), ("convention", "project:other"), ("distractor", "project:other")],
    )
    def test_a_memory_that_is_wrong_or_of_another_project_misleads(self, bench: Bench, role: str, realm: str) -> None:
        task = bench.task(memories=[(FACT, "convention", REALM), ("Another fact.", role, realm)], deducible=True)
        run = Rehearsal().run(bench.job(task, Attachment(prefix="Another fact.")))
        assert (bench.edit, script(run)["decision"]) == (NAIVE, "misled")
        assert files_read(run) == ["app/main.py"]

    def test_a_correction_is_as_good_as_a_convention(self, bench: Bench) -> None:
        Rehearsal().run(bench.job(bench.task(memories=[(FACT, "correction", REALM)]), Attachment(prefix=FACT)))
        assert bench.edit == RIGHT

    def test_a_memory_that_only_begins_like_another_is_not_mistaken_for_it(self, bench: Bench) -> None:
        task = bench.task(
            memories=[("The limit is 640", "convention", REALM), ("The limit is 640 in Foo.", "stale", REALM)]
        )
        Rehearsal().run(bench.job(task, Attachment(prefix="The limit is 640 in Foo.")))
        assert bench.edit == NAIVE

    def test_a_distractor_of_the_own_project_changes_nothing(self, bench: Bench) -> None:
        run = Rehearsal().run(
            bench.job(
                bench.task(memories=[("Tea is at four.", "distractor", REALM)]), Attachment(prefix="Tea is at four.")
            )
        )
        assert (bench.edit, script(run)["decision"]) == (NAIVE, "guess")


class TestWithoutAMemory:
    def test_it_guesses_after_a_look_at_the_readme(self, bench: Bench) -> None:
        run = Rehearsal().run(bench.job())
        assert bench.edit == NAIVE
        assert files_read(run) == ["README.md", "app/main.py"]

    def test_it_explores_every_file_of_a_deducible_task_and_finds_the_answer(self, bench: Bench) -> None:
        task = bench.task(deducible=True)
        (bench.cage.workdir / ".git").mkdir()
        (bench.cage.workdir / ".git/config").write_text("[core]\n")
        run = Rehearsal().run(bench.job(task))
        assert bench.edit == RIGHT
        assert files_read(run) == ["README.md", "app/main.py", "app/other.py"]
        assert script(run)["decision"] == "explore"

    def test_exploring_ten_files_costs_over_twice_what_acting_on_a_memory_does(self, bench: Bench) -> None:
        task = bench.task(fixture=TEN_FILES, deducible=True)
        without = Rehearsal().run(bench.job(task)).usage.total
        with_memory = Rehearsal().run(bench.job(task, Attachment(hooks=(adds(FACT),)))).usage.total
        assert without is not None
        assert with_memory is not None
        assert without > 2 * with_memory


class TestTokens:
    def test_every_turn_sends_the_whole_context_again(self, bench: Bench) -> None:
        run = Rehearsal().run(bench.job(attachment=Attachment(prefix=FACT)))
        context, total_in, total_out = 0, 0, 0
        for line in map(json.loads, run.transcript.splitlines()):
            match line["type"]:
                case "system" if line["subtype"] == "init":
                    context += len(line["text"])
                case "user" | "tool_result":
                    context += len(line["text"])
                case "assistant":
                    uses = [use for use in events(run, "tool_use") if use["turn"] == line["turn"]]
                    written = len(line["text"]) + sum(
                        len(use["tool"]) + len(json.dumps(use["input"], ensure_ascii=False)) for use in uses
                    )
                    total_in, total_out = total_in + -(-context // 4), total_out + -(-written // 4)
                    context += written
        assert run.usage == Usage(
            input_tokens=total_in, output_tokens=total_out, cache_read_tokens=0, cache_write_tokens=0, source="agent"
        )
        assert run.turns == len(events(run, "assistant")) == 3

    def test_it_costs_the_same_on_every_run(self, bench: Bench) -> None:
        runs = [Rehearsal().run(bench.job(bench.task(deducible=True))) for _ in range(2)]
        assert runs[0].usage == runs[1].usage
        assert runs[0].transcript == runs[1].transcript

    def test_it_stops_before_the_turn_that_would_go_over_the_limit(self, bench: Bench) -> None:
        whole = Rehearsal().run(bench.job(bench.task(deducible=True)))
        assert whole.usage.total is not None
        exact = Rehearsal().run(bench.job(bench.task(deducible=True), max_tokens=whole.usage.total))
        assert exact.fault is None
        short = Rehearsal().run(bench.job(bench.task(deducible=True), max_tokens=whole.usage.total - 1))
        assert short.fault == Fault(
            status="token_limit",
            phase="agent",
            message="it stopped after 3 turns: the next one would have gone over its token limit",
        )
        assert short.turns == 3
        assert short.usage.total is not None
        assert short.usage.total < whole.usage.total

    def test_with_no_room_for_a_first_turn_it_truly_used_nothing(self, bench: Bench) -> None:
        run = Rehearsal().run(bench.job(max_tokens=1))
        assert (run.usage.total, run.turns, bench.edit) == (0, 0, "LIMIT = None\n")
        assert run.fault is not None
        assert run.fault.status == "token_limit"


class TestHooks:
    def test_a_hook_gets_the_common_protocol_and_the_attachments_environment(self, bench: Bench) -> None:
        tell = hook('cat > given.json; printf %s "$KEY" > key')
        job = bench.job(attachment=Attachment(env={"KEY": "a value"}, prefix="Before.", hooks=(tell,)))
        Rehearsal().run(job)
        given = json.loads(bench.repository()["given.json"])
        assert given == {
            "session_id": job.session_id,
            "cwd": str(bench.cage.workdir),
            "hook_event_name": "UserPromptSubmit",
            "prompt": "Before.\n\nAdd the limit.",
        }
        assert bench.repository()["key"] == "a value"

    def test_session_start_hooks_run_before_those_of_the_prompt(self, bench: Bench) -> None:
        order = (hook("echo prompt >> order"), hook("echo start >> order", event="SessionStart"))
        Rehearsal().run(bench.job(attachment=Attachment(hooks=order)))
        assert bench.repository()["order"] == "start\nprompt\n"

    @pytest.mark.parametrize(
        ("failing", "problem", "exit_status"),
        [
            (adds(FACT, f"echo {shlex.quote(FACT)} >&2; exit 2"), "exit status 2", 2),
            (hook("kill -9 $$"), "exit status -9", -9),
            (adds(FACT, "sleep 60", timeout_s=0.2), "not done within 0.2 s", None),
            (hook(f"echo {shlex.quote(FACT)}"), "Expecting value", 0),
            (hook(f"echo '[{json.dumps(STALE)}]'"), "the answer is not an object", 0),
            (hook(f"printf '{'[' * 100_000}'"), "", 0),
            (Hook("UserPromptSubmit", ("/no/such/hook",)), "could not be run", None),
        ],
        ids=["exit 2", "signal", "timeout", "plain text", "no object", "too deep", "missing"],
    )
    def test_a_hook_that_fails_adds_nothing_and_the_agent_goes_on(
        self, bench: Bench, failing: Hook, problem: str, exit_status: int | None
    ) -> None:
        run = Rehearsal().run(bench.job(attachment=Attachment(hooks=(failing, adds("Something else.")))))
        assert (bench.edit, run.fault, script(run)["decision"]) == (NAIVE, None, "guess")
        told, after = events(run, "hook")
        assert told["problem"].startswith(problem)
        assert (told["exit_status"], told["context"]) == (exit_status, "")
        assert after["context"] == "Something else."

    @pytest.mark.parametrize("more", [(), (hook("exit 3"),), (hook("", event="SessionStart"),)])
    def test_where_every_hook_of_the_prompt_fails_no_memory_came_and_that_is_the_runs_fault(
        self, bench: Bench, more: tuple[Hook, ...]
    ) -> None:
        run = Rehearsal().run(bench.job(attachment=Attachment(hooks=(hook("echo 'no\nstore' >&2; exit 1"), *more))))
        assert run.fault is not None
        assert (run.fault.status, run.fault.phase) == ("memory_error", "agent")
        assert run.fault.message.startswith(
            "every UserPromptSubmit hook failed, and no memory came: 'sh': exit status 1"
        )
        assert "no store" in run.fault.message
        assert run.usage.total

    @pytest.mark.parametrize("silent", [hook(""), hook("echo"), hook("echo '{}'"), adds("")])
    def test_a_hook_that_adds_nothing_has_not_failed(self, bench: Bench, silent: Hook) -> None:
        assert Rehearsal().run(bench.job(attachment=Attachment(hooks=(silent,)))).fault is None
        assert Rehearsal().run(bench.job(attachment=Attachment(hooks=(silent, hook("exit 1"))))).fault is None

    def test_a_hook_that_fails_at_the_start_of_the_session_is_no_fault(self, bench: Bench) -> None:
        failing = hook("exit 1", event="SessionStart")
        assert Rehearsal().run(bench.job(attachment=Attachment(hooks=(failing,)))).fault is None

    def test_a_timeout_of_the_agent_goes_before_the_failure_of_its_hooks(self, bench: Bench) -> None:
        hooks = (hook("exit 1"), hook("sleep 60", timeout_s=50))
        run = Rehearsal().run(bench.job(attachment=Attachment(hooks=hooks), timeout_s=1.0))
        assert run.fault is not None
        assert run.fault.status == "agent_timeout"

    def test_the_transcript_keeps_the_tail_of_a_hooks_stderr(self, bench: Bench) -> None:
        run = Rehearsal().run(bench.job(attachment=Attachment(hooks=(hook("echo no store >&2; exit 1"),))))
        assert events(run, "hook")[0]["stderr"] == "no store\n"

    def test_what_a_hook_leaves_behind_does_not_hold_the_agent_up(self, bench: Bench) -> None:
        run = Rehearsal().run(bench.job(attachment=Attachment(hooks=(hook("sleep 60 & exit 0", timeout_s=5),))))
        assert run.fault is None
        assert run.seconds < 4

    @pytest.mark.parametrize(
        ("before", "decision", "cut"), [(1_900, "memory", True), (2_100, "guess", True), (9_900, "memory", False)]
    )
    def test_a_context_over_10000_characters_is_cut_to_a_preview_of_2000(
        self, bench: Bench, before: int, decision: str, cut: bool
    ) -> None:
        context = "." * before + FACT + "." * (10_001 - before - len(FACT) if cut else 0)
        run = Rehearsal().run(bench.job(attachment=Attachment(hooks=(adds(context),))))
        assert script(run)["decision"] == decision
        told = events(run, "hook")[0]
        assert (told["cut"], told["context_characters"]) == (cut, len(context))
        assert len(told["context"]) == (2_000 if cut else len(context))

    def test_it_leaves_no_file_of_its_own_behind(self, bench: Bench) -> None:
        Rehearsal().run(bench.job(attachment=Attachment(hooks=(adds("x"), hook("exit 1")))))
        assert list(Path(bench.cage.env["TMPDIR"]).iterdir()) == []
        assert bench.repository().keys() == {"README.md", "app/main.py", "app/other.py"}


class TestContextFiles:
    def test_a_text_that_stands_in_both_files_is_taken_in_once(self, bench: Bench) -> None:
        once = Rehearsal().run(bench.job(attachment=Attachment(files={"AGENTS.md": FACT})))
        both = Rehearsal().run(bench.job(attachment=Attachment(files={"AGENTS.md": FACT, "CLAUDE.md": FACT + "\n"})))
        assert both.usage == once.usage
        assert [line["same_as"] for line in events(both, "context_file")] == [None, "AGENTS.md"]

    def test_two_different_files_are_both_taken_in(self, bench: Bench) -> None:
        Rehearsal().run(bench.job(attachment=Attachment(files={"AGENTS.md": "Be kind.", "CLAUDE.md": FACT})))
        assert bench.edit == RIGHT


class TestFlake:
    @pytest.mark.parametrize(("deducible", "prefix"), [(False, FACT), (True, "")], ids=["memory", "explore"])
    def test_a_slip_is_the_naive_edit_and_the_transcript_says_so(
        self, bench: Bench, deducible: bool, prefix: str
    ) -> None:
        run = Rehearsal(flake=1.0).run(bench.job(bench.task(deducible=deducible), Attachment(prefix=prefix)))
        assert (bench.edit, script(run)["slip"]) == (NAIVE, True)

    def test_slips_follow_from_the_seed_and_come_about_as_often_as_told(self, bench: Bench) -> None:
        agent = Rehearsal(flake=0.5)
        slips = [
            script(agent.run(bench.job(attachment=Attachment(prefix=FACT), seed=f"seed {number}")))["slip"]
            for number in (*range(12), *range(12))
        ]
        assert slips[:12] == slips[12:]
        assert 2 <= sum(slips[:12]) <= 10

    def test_it_cannot_slip_where_it_is_wrong_anyway(self, bench: Bench) -> None:
        run = Rehearsal(flake=1.0).run(bench.job())
        assert (bench.edit, script(run)["slip"]) == (NAIVE, False)

    def test_the_argument_sets_the_probability(self) -> None:
        assert create(None).flake == 0.0
        assert create("flake=0.2").flake == 0.2
        assert create("flake=0.2").identity().detail == {"flake": 0.2}

    @pytest.mark.parametrize(
        "argument", ["", "flake", "flake=", "flake=2", "flake=-0.1", "flake=nan", "0.2", "flaky=0.2"]
    )
    def test_any_other_argument_is_refused(self, argument: str) -> None:
        with pytest.raises(UsageError, match=r"expected flake=P"):
            create(argument)


class TestEdits:
    def test_binary_new_and_executable_files_arrive_as_they_are(self, bench: Bench) -> None:
        solution = {"bin/run": File(b"#!/bin/sh\n", executable=True), "logo.png": File(bytes(range(256)))}
        Rehearsal().run(bench.job(bench.task(solution=solution), Attachment(prefix=FACT)))
        assert (bench.cage.workdir / "logo.png").read_bytes() == bytes(range(256))
        assert (bench.cage.workdir / "bin/run").stat().st_mode & 0o111

    def test_its_own_words_never_repeat_what_it_was_given(self, bench: Bench) -> None:
        for attachment in (Attachment(prefix=FACT), Attachment(files={"AGENTS.md": STALE}), Attachment()):
            for deducible in (False, True):
                said = Rehearsal().run(bench.job(bench.task(deducible=deducible), attachment)).said
                assert said
                assert not any(text in said for text in (FACT, STALE, "640", "100", "limit.", "main.py"))


class TestWhatGoesWrong:
    def test_a_timeout_keeps_the_transcript_so_far_and_knows_no_usage(self, bench: Bench) -> None:
        job = bench.job(attachment=Attachment(hooks=(hook("sleep 60", timeout_s=50),)), timeout_s=1.0)
        run = Rehearsal().run(job)
        assert run.fault == Fault(status="agent_timeout", phase="agent", message="it was not done within 1 s")
        assert [line["type"] for line in map(json.loads, run.transcript.splitlines())] == ["system", "user"]
        assert (run.usage, run.turns, run.exit_status, run.session_id) == (Usage(), None, None, None)

    @pytest.mark.parametrize(
        ("source", "message", "exit_status"),
        [
            (
                "import sys; print('first\\nlost its model', file=sys.stderr); sys.exit(3)",
                "exit status 3: lost its model",
                3,
            ),
            ("import os; os.kill(os.getpid(), 9)", "exit status -9: nothing on stderr", -9),
            (
                'print(\'{"type": "assistant", "text": "Hi."}\')',
                "exit status 0, but its transcript has no result line",
                0,
            ),
            ("print('garbage')", "exit status 0, but its transcript has no result line", 0),
            (
                'print(\'{"type": "result"}\')',
                "exit status 0, but its result line cannot be used: usage: Field required",
                0,
            ),
        ],
        ids=["exit 3", "signal", "no result", "garbage", "half a result"],
    )
    def test_a_broken_run_is_an_agent_error_of_unknown_cost(
        self, bench: Bench, tmp_path: Path, source: str, message: str, exit_status: int
    ) -> None:
        (tmp_path / "broken.py").write_text(source)
        run = Rehearsal(script=tmp_path / "broken.py").run(bench.job())
        assert run.fault == Fault(status="agent_error", phase="agent", message=message)
        assert (run.usage, run.turns, run.exit_status) == (Usage(), None, exit_status)

    def test_what_was_reported_before_a_bad_exit_is_kept(self, bench: Bench, tmp_path: Path) -> None:
        usage = {"input_tokens": 5, "output_tokens": 2, "cache_read_tokens": 0, "cache_write_tokens": 0}
        result = {
            "type": "result",
            "usage": usage,
            "num_turns": 1,
            "session_id": "s",
            "result": "Done.",
            "stopped": None,
        }
        (tmp_path / "late.py").write_text(f"print({json.dumps(json.dumps(result))}, flush=True); raise SystemExit(1)")
        run = Rehearsal(script=tmp_path / "late.py").run(bench.job())
        assert run.fault is not None
        assert (run.fault.status, run.usage.total, run.said) == ("agent_error", 7, "Done.")

    def test_an_interpreter_that_is_missing_is_an_agent_error(
        self, bench: Bench, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.executable", "/no/such/python")
        with pytest.raises(AgentError, match="'/no/such/python' could not be started"):
            Rehearsal().run(bench.job())
