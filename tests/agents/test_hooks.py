"""Hooks that the harness runs itself."""

from __future__ import annotations

import json

import pytest

from smriti.agents.hooks import run_hook
from smriti.errors import MemorySystemError
from smriti.types import Hook
from tests.agents.agent_bench import Bench


def sh(script: str, timeout_s: float = 5.0) -> Hook:
    return Hook("UserPromptSubmit", ("sh", "-c", script), timeout_s)


def test_the_context_that_a_hook_adds_is_returned_whole(bench: Bench) -> None:
    added = "  Überall: 640 \n" * 2000
    answer = {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "additionalContext": added}}
    (bench.cage.workdir / "answer.json").write_text(json.dumps(answer))
    assert run_hook(sh("cat answer.json"), bench.cage, "s1", "Do it.", {}) == added


def test_a_hook_finds_the_environment_that_it_is_given_beside_the_cages_own(bench: Bench) -> None:
    run_hook(sh('echo "$HOME $KEY" > env'), bench.cage, "s1", "Do it.", {"KEY": "a value"})
    assert bench.repository()["env"] == f"{bench.cage.env['HOME']} a value\n"


def test_a_hook_is_told_session_directory_event_and_prompt(bench: Bench) -> None:
    run_hook(sh("cat > given.json"), bench.cage, "s1", "Do “it”.", {})
    assert json.loads((bench.cage.workdir / "given.json").read_text()) == {
        "session_id": "s1",
        "cwd": str(bench.cage.workdir),
        "hook_event_name": "UserPromptSubmit",
        "prompt": "Do “it”.",
    }


@pytest.mark.parametrize("answer", ["", " \n", "{}", '{"hookSpecificOutput": {"hookEventName": "UserPromptSubmit"}}'])
def test_a_hook_may_add_nothing(bench: Bench, answer: str) -> None:
    assert run_hook(sh(f"printf '%s' '{answer}'"), bench.cage, "s1", "Do it.", {}) == ""


@pytest.mark.parametrize(
    ("hook", "found"),
    [
        (sh("echo first >&2; echo the store is locked >&2; exit 3"), "exit status 3: the store is locked"),
        (sh("exit 2"), "exit status 2: nothing on stderr"),
        (sh("sleep 60", timeout_s=0.2), "not done within 0.2 s"),
        (sh("echo plain text"), "printed 'plain text', expected a JSON object"),
        (sh("echo '[1]'"), r"printed '\[1\]', expected an object"),
        (sh("""echo '{"hookSpecificOutput": []}'"""), "expected an object"),
        (sh("""echo '{"hookSpecificOutput": {"additionalContext": 7}}'"""), "expected an object"),
        (sh(f"printf '{'[' * 100_000}'"), "expected a JSON object"),
        (sh("printf '\\377'"), "expected a JSON object"),
        (Hook("UserPromptSubmit", ("no-such-hook",)), "'no-such-hook' could not be started"),
    ],
)
def test_a_hook_that_fails_says_what_was_found(bench: Bench, hook: Hook, found: str) -> None:
    with pytest.raises(MemorySystemError, match=found):
        run_hook(hook, bench.cage, "s1", "Do it.", {})
