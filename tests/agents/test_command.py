"""Any agent as a command: its template, what it is handed, and what is read from it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from smriti import agents
from smriti.agents.command import Command, create
from smriti.errors import AgentError, UsageError
from smriti.types import AgentRun, Attachment, Fault, Hook, Usage
from tests.agents.agent_bench import FIXTURE, Bench

HEAD = 'name = "mine"\nversion = "1.2"\n'
USAGE = """
[usage]
input_tokens = "usage.in"
output_tokens = "usage.out"
cache_read_tokens = "usage.cached"
cache_write_tokens = 0
"""
RESULT = """
[result]
source = "stdout"
format = "json"
session_id = "session"
turns = "turns"
said = "text"
"""
LAST_LINE = RESULT.replace('"json"', '"ndjson-last"')
GOOD = {"usage": {"in": 100, "out": 20, "cached": 3}, "session": "theirs", "turns": 4, "text": "Done."}


@pytest.fixture
def made(tmp_path: Path) -> Any:
    def make(command: list[str], rest: str = "") -> Command:
        file = tmp_path / "agent.toml"
        file.write_text(f"{HEAD}command = {json.dumps(command)}\n{rest}")
        return create(str(file))

    return make


def program(file: Path, script: str) -> None:
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


def sh(script: str) -> list[str]:
    return ["sh", "-c", script]


def prints(document: object) -> list[str]:
    return ["printf", "%s\n", json.dumps(document)]


def agent_error(run: AgentRun) -> str:
    assert run.fault is not None
    assert (run.fault.status, run.fault.phase) == ("agent_error", "agent")
    assert "\n" not in run.fault.message
    return run.fault.message


class TestWhatItIsHanded:
    def test_every_placeholder_is_filled_wherever_it_stands(self, bench: Bench, made: Any) -> None:
        tell = [*sh('printf "%s\\n" "$@"'), "-", "p={prompt}", "{workdir}", "id:{session_id}:{session_id}"]
        job = bench.job(attachment=Attachment(prefix="Before {workdir}."))
        run = made(tell).run(job)
        assert run.transcript.decode().splitlines() == [
            "p=Before {workdir}.",
            "",
            "Add the limit.",
            str(bench.cage.workdir),
            f"id:{job.session_id}:{job.session_id}",
        ]

    def test_the_prompt_file_stands_in_the_cages_tmpdir_and_not_in_the_repository(
        self, bench: Bench, made: Any
    ) -> None:
        run = made([*sh('cat "$1"; printf "\\n%s" "$1"'), "-", "{prompt_file}"]).run(bench.job())
        prompt, path = run.transcript.decode().split("\n")
        assert prompt == "Add the limit."
        assert Path(path).parent == Path(bench.cage.env["TMPDIR"])
        assert bench.repository() == FIXTURE

    def test_braces_that_are_no_placeholder_stay(self, bench: Bench, made: Any) -> None:
        run = made(["printf", "%s\n", '{"a": {"b": 1}}', "${x}", "{}", "{ prompt }"]).run(bench.job())
        assert run.transcript.decode().splitlines() == ['{"a": {"b": 1}}', "${x}", "{}", "{ prompt }"]

    def test_hooks_are_written_in_the_common_settings_shape(self, bench: Bench, made: Any) -> None:
        agent = made(["cat", "{hooks_file}"])
        hooks = (
            Hook("UserPromptSubmit", ("remember", "it's", "a b"), 10.0),
            Hook("UserPromptSubmit", ("again",), 0.5),
            Hook("SessionStart", ("start",)),
        )
        assert "hooks" in agent.channels
        assert json.loads(agent.run(bench.job(attachment=Attachment(hooks=hooks))).transcript) == {
            "hooks": {
                "UserPromptSubmit": [
                    {"hooks": [{"type": "command", "command": "remember 'it'\"'\"'s' 'a b'", "timeout": 10}]},
                    {"hooks": [{"type": "command", "command": "again", "timeout": 0.5}]},
                ],
                "SessionStart": [{"hooks": [{"type": "command", "command": "start", "timeout": 10}]}],
            }
        }
        assert json.loads(agent.run(bench.job()).transcript) == {"hooks": {}}

    def test_without_a_hooks_file_it_takes_no_hooks(self, made: Any) -> None:
        assert made(["true"]).channels == {"env", "files", "prefix"}

    def test_the_environment_is_the_cages_the_templates_what_is_passed_and_the_attachments(
        self, bench: Bench, made: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("A_KEY", "short")
        monkeypatch.setenv("NOT_PASSED", "1")
        agent = made(
            sh('echo "$MODEL $A_KEY $SWITCH ${NOT_PASSED-unset}"'),
            'env = {MODEL="m1", SWITCH="theirs"}\npass_env = ["A_KEY"]',
        )
        run = agent.run(bench.job(attachment=Attachment(env={"SWITCH": "memory"})))
        assert run.transcript == b"m1 short memory unset\n"

    def test_a_relative_program_is_found_beside_its_template(self, bench: Bench, made: Any, tmp_path: Path) -> None:
        (tmp_path / "agent.sh").write_text("#!/bin/sh\necho here\n")
        (tmp_path / "agent.sh").chmod(0o755)
        assert made(["./agent.sh"]).run(bench.job()).transcript == b"here\n"

    def test_a_bare_program_is_the_one_on_the_users_path(
        self, bench: Bench, made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program(tmp_path / "bin/my-agent", "echo mine")
        monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
        agent = made(["my-agent"])
        monkeypatch.setenv("PATH", "/usr/bin:/bin")
        assert agent.run(bench.job()).transcript == b"mine\n"
        assert agent.identity().detail["command"] == [str(tmp_path / "bin/my-agent")]

    def test_a_relative_folder_of_the_users_path_is_made_absolute(
        self, bench: Bench, made: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program(tmp_path / "bin/my-agent", "echo mine")
        monkeypatch.chdir(tmp_path)
        monkeypatch.setenv("PATH", "bin", prepend=os.pathsep)
        assert made(["my-agent"]).run(bench.job()).transcript == b"mine\n"

    def test_a_program_that_is_not_on_the_users_path_is_refused_when_the_agent_is_made(self, made: Any) -> None:
        with pytest.raises(UsageError, match="runs 'no-such-agent', which is not on your PATH; install it, or give"):
            made(["no-such-agent"])

    def test_its_edits_are_made_in_the_repository(self, bench: Bench, made: Any) -> None:
        made(sh("echo 'LIMIT = 640' > app/main.py")).run(bench.job())
        assert bench.edit == "LIMIT = 640\n"


class TestWhatIsRead:
    def test_usage_turns_session_and_words_come_from_their_paths(self, bench: Bench, made: Any) -> None:
        run = made(prints(GOOD), RESULT + USAGE).run(bench.job())
        assert run.usage == Usage(
            input_tokens=100, output_tokens=20, cache_read_tokens=3, cache_write_tokens=0, source="agent"
        )
        assert (run.turns, run.session_id, run.said, run.exit_status, run.fault) == (4, "theirs", "Done.", 0, None)
        assert json.loads(run.transcript) == GOOD

    def test_a_missing_value_or_mapping_is_unknown_and_not_zero(self, bench: Bench, made: Any) -> None:
        run = made(prints({"usage": {"in": 5, "cached": None}}), RESULT + USAGE).run(bench.job())
        assert run.usage == Usage(input_tokens=5, cache_write_tokens=0, source="agent")
        assert (run.usage.total, run.turns, run.session_id, run.said, run.fault) == (None, None, None, "", None)
        run = made(prints(GOOD), RESULT).run(bench.job())
        assert run.usage == Usage()

    def test_a_usage_of_literals_alone_was_never_reported(self, bench: Bench, made: Any) -> None:
        assert made(prints({}), RESULT + USAGE).run(bench.job()).usage == Usage()

    def test_no_token_of_any_kind_is_a_report_of_a_scripted_agent_only(self, bench: Bench, made: Any) -> None:
        nothing = prints({"usage": {"in": 0, "out": 0, "cached": 0}, "turns": 3})
        run = made(nothing, RESULT + USAGE).run(bench.job())
        assert (run.usage, run.turns, run.fault) == (Usage(), 3, None)
        assert made(nothing, "scripted = true\n" + RESULT + USAGE).run(bench.job()).usage.total == 0

    def test_half_a_character_becomes_a_question_mark(self, bench: Bench, made: Any) -> None:
        run = made(prints({"session": "a\ud800", "text": "b\udfff"}), RESULT).run(bench.job())
        assert (run.session_id, run.said, run.fault) == ("a?", "b?", None)

    def test_the_last_line_of_many_is_the_result(self, bench: Bench, made: Any) -> None:
        lines = f'{{"usage": {{"in": 1}}}}\nnoise\n{json.dumps(GOOD)}\n\n'
        run = made(["printf", "%s", lines], RESULT.replace('"json"', '"ndjson-last"') + USAGE).run(bench.job())
        assert (run.usage.input_tokens, run.fault) == (100, None)
        assert run.transcript == lines.encode()

    def test_a_result_may_stand_in_a_file(self, bench: Bench, made: Any) -> None:
        command = [*sh('echo progress; printf %s "$2" > "$1"'), "-", "{result_file}", json.dumps(GOOD)]
        run = made(command, RESULT.replace('"stdout"', '"file"') + USAGE).run(bench.job())
        assert (run.usage.input_tokens, run.transcript, run.fault) == (100, b"progress\n", None)
        assert bench.repository() == FIXTURE

    def test_without_a_result_what_it_prints_is_what_it_said(self, bench: Bench, made: Any) -> None:
        job = bench.job()
        run = made(["echo", "All done, {session_id}."]).run(job)
        assert (run.said, run.usage, run.turns) == (f"All done, {job.session_id}.\n", Usage(), None)
        assert run.session_id == job.session_id

    @pytest.mark.parametrize(
        ("path", "tokens"),
        [
            ("a.b", 1),
            ("list[1].n", 2),
            ("list[-1].n", 2),
            ('a["x.y"]', 3),
            ("list[7].n", None),
            ("a.b.c", None),
            ("list.n", None),
        ],
    )
    def test_paths_lead_through_objects_and_arrays(
        self, bench: Bench, made: Any, path: str, tokens: int | None
    ) -> None:
        document = {"a": {"b": 1, "x.y": 3}, "list": [{"n": 7}, {"n": 2}]}
        run = made(prints(document), f"{RESULT}[usage]\ninput_tokens = {json.dumps(path)}\n").run(bench.job())
        assert (run.usage.input_tokens, run.fault) == (tokens, None)


class TestWhatGoesWrong:
    @pytest.mark.parametrize(
        ("printed", "message"),
        [
            ("", "exit status 0, but its standard output is empty, expected a JSON result"),
            ("Sorry!\nNo model.", "exit status 0, but its standard output is no JSON: Expecting value"),
            (
                '{"usage": {"in": "many"}}',
                "usage.input_tokens (usage.in) is 'many' in its result, expected a whole number",
            ),
            (
                '{"usage": {"in": 1000000000001}}',
                "is 1000000000001 in its result, expected a whole number from 0 to 1000",
            ),
            ('{"usage": {"in": 12.0}}', "usage.input_tokens (usage.in) is 12.0 in its result"),
            ('{"usage": {"in": Infinity}}', "usage.input_tokens (usage.in) is inf in its result"),
            ('{"usage": {"in": 1' + "0" * 5000 + "}}", "its standard output is no JSON: Exceeds the limit"),
            ('{"turns": 1000000000001}', "result.turns (turns) is 1000000000001 in its result"),
            ("[" * 100_000, "exit status 0, but its standard output is no JSON: "),
            ('{"usage": {"in": -1}}', "usage.input_tokens (usage.in) is -1 in its result"),
            ('{"usage": {"in": true}}', "usage.input_tokens (usage.in) is True in its result"),
            ('{"turns": 1.5}', "result.turns (turns) is 1.5 in its result"),
            ('{"text": ["Done."]}', "result.said (text) is ['Done.'] in its result, expected a string"),
        ],
    )
    def test_a_result_that_cannot_be_read_is_an_agent_error_of_unknown_cost(
        self, bench: Bench, made: Any, printed: str, message: str
    ) -> None:
        run = made(["printf", "%s", printed], RESULT + USAGE).run(bench.job())
        assert message in agent_error(run)
        assert (run.usage, run.turns, run.exit_status) == (Usage(), None, 0)
        assert run.transcript == printed.encode()

    @pytest.mark.parametrize(
        ("script", "message"),
        [
            ("true", "there is no result file: No such file or directory"),
            ('ln -s /etc/hostname "$1"', "its result file is not a regular file"),
            ('mkfifo "$1"', "its result file is not a regular file"),
            ('echo x > "$1"', "its result file is no JSON"),
        ],
    )
    def test_a_result_file_is_read_only_where_the_agent_wrote_a_plain_one(
        self, bench: Bench, made: Any, script: str, message: str
    ) -> None:
        agent = made([*sh(script), "-", "{result_file}"], RESULT.replace('"stdout"', '"file"'))
        assert message in agent_error(agent.run(bench.job()))

    def test_a_bad_exit_is_an_agent_error_with_status_and_the_last_words(self, bench: Bench, made: Any) -> None:
        run = made(sh("echo first >&2; echo no key >&2; exit 4"), RESULT + USAGE).run(bench.job())
        assert agent_error(run) == "exit status 4: no key"
        assert (run.usage, run.exit_status) == (Usage(), 4)

    def test_what_was_reported_before_a_bad_exit_is_kept(self, bench: Bench, made: Any) -> None:
        run = made([*sh('printf %s "$1"; exit 1'), "-", json.dumps(GOOD)], RESULT + USAGE).run(bench.job())
        assert agent_error(run) == "exit status 1: nothing on stderr"
        assert (run.usage.total, run.turns) == (123, 4)

    def test_a_timeout_keeps_the_transcript_so_far_and_knows_no_usage(self, bench: Bench, made: Any) -> None:
        agent = made([*sh('printf "%s\\n" "$1"; sleep 60'), "-", json.dumps(GOOD)], RESULT + USAGE)
        run = agent.run(bench.job(timeout_s=1.0))
        assert run.fault == Fault(status="agent_timeout", phase="agent", message="it was not done within 1 s")
        assert json.loads(run.transcript) == GOOD
        assert (run.usage, run.turns, run.exit_status) == (Usage(), None, None)

    def test_a_file_that_is_missing_is_an_agent_error(self, bench: Bench, made: Any) -> None:
        with pytest.raises(AgentError, match="no-such-agent' could not be started"):
            made(["./no-such-agent"]).run(bench.job())

    def test_an_output_over_the_bound_is_cut_and_the_bound_is_named(
        self, bench: Bench, made: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("smriti.agents.command.MAX_TRANSCRIPT_BYTES", 1000)
        agent = made([*sh('yes | head -c 2000; printf "%s" "$1"'), "-", json.dumps(GOOD)], LAST_LINE + USAGE)
        run = agent.run(bench.job())
        assert agent_error(run).endswith("(its output was over 1000 bytes and was cut)")
        assert (run.usage, run.transcript) == (Usage(), b"y\n" * 500)

    def test_the_last_line_of_a_hundred_megabytes_is_still_read(self, bench: Bench, made: Any) -> None:
        agent = made(
            [*sh('head -c 100000000 /dev/zero; printf "\\n%s" "$1"'), "-", json.dumps(GOOD)], LAST_LINE + USAGE
        )
        run = agent.run(bench.job(timeout_s=60.0))
        assert (run.usage.total, run.fault) == (123, None)

    def test_a_prompt_too_long_for_an_argument_is_an_agent_error(self, bench: Bench, made: Any) -> None:
        with pytest.raises(AgentError, match="pass long text in a file"):
            made(["true", "{prompt}"]).run(bench.job(attachment=Attachment(prefix="x" * 3_000_000)))


class TestPassedValues:
    SECRET = 'sk-"quoted"-0123456789'

    def test_they_are_written_nowhere(self, bench: Bench, made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("A_KEY", self.SECRET)
        script = 'echo "$A_KEY"; cat answer.json; printf "%0290d%s" 0 "$A_KEY" >&2; exit 1'
        agent = made(sh(script), 'pass_env = ["A_KEY"]\n' + RESULT.replace('"json"', '"ndjson-last"'))
        job = bench.job()
        (bench.cage.workdir / "answer.json").write_text(json.dumps({"text": f"my key is {self.SECRET}"}))
        run = agent.run(job)
        assert run.transcript == b'[A_KEY]\n{"text": "my key is [A_KEY]"}'
        assert (run.said, agent_error(run)) == ("my key is [A_KEY]", f"exit status 1: {0:0290}[A_KEY]")
        assert "quoted" not in repr(agent) + repr(agent.identity())

    def test_nor_are_they_read_from_a_result_file(
        self, bench: Bench, made: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("A_KEY", self.SECRET)
        script = 'printf "%s" "not JSON: $A_KEY" > "$1"'
        agent = made(
            [*sh(script), "-", "{result_file}"], 'pass_env = ["A_KEY"]\n' + RESULT.replace('"stdout"', '"file"')
        )
        assert agent_error(agent.run(bench.job())).endswith("found 'not JSON: [A_KEY]'")

    def test_identity_names_variables_and_no_value_of_theirs(self, made: Any) -> None:
        agent = made(["true", "{prompt}"], 'env = {MODEL="m1-large"}')
        identity = agent.identity()
        assert (identity.name, identity.version, agent.scripted) == ("mine", "1.2", False)
        assert identity.detail["command"] == [shutil.which("true"), "{prompt}"]
        assert identity.detail["env"] == ["MODEL"]
        assert len(identity.detail["template_sha256"]) == 64
        assert "m1-large" not in repr(identity)

    def test_a_scripted_agent_says_so(self, made: Any) -> None:
        assert made(["true"], "scripted = true").scripted


class TestTemplatesThatAreRefused:
    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("name =", "is no TOML"),
            (HEAD, "there is no 'command', expected one"),
            ('version = "1"\ncommand = ["x"]', "there is no 'name'"),
            (HEAD + "command = []", r"command is \[\]"),
            (HEAD + 'command = "x"', "command is 'x'"),
            (HEAD + 'command = ["x"]\ncomand = 1', "unknown key 'comand', expected one of name, version, command, env"),
            (
                HEAD + 'command = ["x"]' + RESULT + "sayd = 'x'",
                "unknown key 'result.sayd', expected one of source, format",
            ),
            (
                HEAD + 'command = ["x"]' + RESULT + "[usage]\ninput = 'x'",
                "unknown key 'usage.input', expected one of input_tokens",
            ),
            (
                HEAD + 'command = ["x", "{promt}"]',
                r"the placeholder \{promt\}, expected one of \{prompt\}, \{prompt_file\}",
            ),
            (HEAD + 'command = ["x", "{Prompt}"]', r"the placeholder \{Prompt\}"),
            (HEAD + 'command = ["x"]\n[result]\nsource = "stderr"\nformat = "json"', "result.source is 'stderr'"),
            (HEAD + 'command = ["x"]\n[result]\nsource = "stdout"', "there is no 'result.format'"),
            (HEAD + 'command = ["x"]' + RESULT.replace('"stdout"', '"file"'), r"does not say \{result_file\}"),
            (
                HEAD + 'command = ["x"]' + RESULT + '[usage]\ninput_tokens = ".a"',
                "usage.input_tokens is '.a', expected a path",
            ),
            (HEAD + 'command = ["x"]' + RESULT + '[usage]\ninput_tokens = "a[0]b"', "is 'a.0.b', expected a path"),
            (HEAD + 'command = ["x"]' + USAGE, r"\[usage\] but no \[result\]"),
            (
                HEAD + 'command = ["x"]' + RESULT + '[usage]\ninput_tokens = "a..b"',
                r"usage.input_tokens is 'a..b', expected a path",
            ),
            (
                HEAD + 'command = ["x"]' + RESULT + '[usage]\ninput_tokens = ""',
                "usage.input_tokens is '', expected a path",
            ),
            (
                HEAD + 'command = ["x"]' + RESULT + "[usage]\ninput_tokens = -1",
                "usage.input_tokens is -1, expected a path or",
            ),
            (
                HEAD + 'command = ["x"]' + RESULT + "[usage]\ninput_tokens = 1_000_000_000_001",
                "usage.input_tokens is 1000000000001, expected a path or a whole number from 0 to 1000000000000",
            ),
            (HEAD + 'command = ["x"]' + RESULT + "[usage]\ninput_tokens = true", "usage.input_tokens.* is True"),
            (
                HEAD + 'command = ["x"]' + RESULT.replace('"text"', '"text[x]"'),
                r"result.said is 'text\[x\]', expected a path",
            ),
            (HEAD + 'command = ["x"]\nenv = {HOME="/root"}', "HOME is in env or pass_env, but each trial has its own"),
            (HEAD + 'command = ["x"]\npass_env = ["XDG_CONFIG_HOME"]', "XDG_CONFIG_HOME is in env or pass_env"),
            (
                HEAD + 'command = ["x"]\npass_env = ["SMRITI_NO_SUCH"]',
                "pass_env names SMRITI_NO_SUCH, which your environment",
            ),
        ],
    )
    def test_one_that_is_wrong_is_refused_with_where_and_what(self, tmp_path: Path, text: str, message: str) -> None:
        (tmp_path / "agent.toml").write_text(text)
        with pytest.raises(UsageError, match=message) as refused:
            create(str(tmp_path / "agent.toml"))
        assert "agent.toml" in str(refused.value)

    def test_one_that_is_missing_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="cannot be read: No such file"):
            create(str(tmp_path / "agent.toml"))
        with pytest.raises(UsageError, match=r"write command:FILE\.toml"):
            create(None)

    def test_everything_that_is_wrong_is_named_at_once(self, tmp_path: Path) -> None:
        (tmp_path / "agent.toml").write_text('name = ""\ncommand = ["x"]\nmore = 1')
        with pytest.raises(UsageError, match=r"name is ''.*no 'version'.*unknown key 'more'"):
            create(str(tmp_path / "agent.toml"))


def test_the_example_in_the_readme_is_a_template(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    program(tmp_path / "my-agent", "true")
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    readme = Path(agents.__path__[0], "README.md").read_text(encoding="utf-8")
    example = readme.split("```toml\n")[1].split("```")[0]
    (tmp_path / "agent.toml").write_text(example)
    agent = create(str(tmp_path / "agent.toml"))
    assert (agent.name, agent.scripted) == ("my-agent", False)
    assert "hooks" in agent.channels
