"""The rehearsal agent itself, run as `python -I -S agent.py`: it goes through a coding agent's motions by script.

It knows nothing but what stands in its working directory and in the one JSON object on stdin: `prompt`, `session_id`,
`seed`, `flake`, `max_tokens` (or null), `hooks` (`event`, `command`, `timeout_s`), `context_files`, `deducible`, the
memory texts `needed` and `misleading`, and the trees `solution` and `naive` (path → `content`, `encoding` text or
base64, `executable`).

stdout is the transcript, a JSON line for each event; `turn` is the number of the model request, from 1:

    {"type": "system", "subtype": "init", "agent", "session_id", "text"}    its system prompt
    {"type": "user", "text"}                                                the prompt
    {"type": "hook", "event", "exit_status", "timed_out", "context", "context_characters", "cut", "problem", "stderr"}
    {"type": "context_file", "path", "text", "same_as"}                     a text is taken in once; same_as: from where
    {"type": "system", "subtype": "script", "decision", "slip"}             memory, misled, explore or guess
    {"type": "assistant", "turn", "text"}                                   its own sentences, and nothing it was given
    {"type": "tool_use", "turn", "tool", "input"}                           list_files, read_file or write_file
    {"type": "tool_result", "turn", "tool", "text", "cut"}
    {"type": "result", "usage", "num_turns", "session_id", "result", "stopped"}     stopped: null or "max_tokens"

`slip` is a scripted one: the wrong edit where the right one was due. `cut` says that a text was over its bound.
Tokens are estimated as characters / 4, rounded up. Each turn sends the whole context so far again, as an API without
a cache bills it.
"""

from __future__ import annotations

import json
import os
import signal
import sys

# Each start pays for what is imported: neither typing nor pathlib nor subprocess is worth its milliseconds here.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any

HOOK_CONTEXT_CHARACTERS = 10_000
HOOK_PREVIEW_CHARACTERS = 2_000
READ_CHARACTERS = 20_000
HOOK_OUTPUT_BYTES = 1_000_000
STDERR_TAIL_CHARACTERS = 300
FILES_PER_TURN = 3
CHARACTERS_PER_TOKEN = 4
SKIPPED_FOLDERS = frozenset({".git", "__pycache__", "node_modules"})

SYSTEM_PROMPT = (
    "You are a coding agent in a repository. Make the change that you are asked for, with the tools list_files(), "
    "read_file(path) and write_file(path, content). Keep what the team has agreed on."
)


def main() -> None:
    """Do the job on stdin and write the transcript."""
    job = json.loads(sys.stdin.buffer.read())
    session = Session(job["max_tokens"])
    stopped = None
    try:
        work(job, session)
        result = "The change is made; I have not run anything."
        session.turn(result)
    except OverTheLimitError:
        stopped = "max_tokens"
        result = "I stop here: the next request would go over the token limit."
    emit(
        "result",
        usage={
            "input_tokens": session.input_tokens,
            "output_tokens": session.output_tokens,
            "cache_read_tokens": 0,
            "cache_write_tokens": 0,
        },
        num_turns=session.turns,
        session_id=job["session_id"],
        result=result,
        stopped=stopped,
    )


def work(job: dict[str, Any], session: Session) -> None:
    """Take in the context, decide by script what to do, and do it."""
    read_before = list(job["context_files"])
    context = take_in(job, session)
    decision = decide(context, job["needed"], job["misleading"], job["deducible"])
    right = decision in ("memory", "explore")
    slip = right and slips(job["seed"], job["flake"])
    emit("system", subtype="script", decision=decision, slip=slip)
    tree = job["solution"] if right and not slip else job["naive"]
    if decision == "explore":
        explore(session, read_before)
    elif decision == "guess":
        readme = [name for name in sorted(os.listdir()) if name.upper().startswith("README") and os.path.isfile(name)]
        session.turn("First a look at what the repository says of itself.", [call_read(path) for path in readme[:1]])
    if decision != "explore":
        edited = [call_read(path) for path in sorted(tree) if os.path.isfile(path)]
        session.turn("I read the files that I am going to change.", edited)
    session.turn("Now the edit.", [("write_file", {"path": path, **file}) for path, file in sorted(tree.items())])


def take_in(job: dict[str, Any], session: Session) -> list[str]:
    """Return the parts of the context in the order in which they stand in it: prompt, hooks, context files."""
    emit("system", subtype="init", agent="rehearsal", session_id=job["session_id"], text=SYSTEM_PROMPT)
    session.hear(SYSTEM_PROMPT)
    emit("user", text=job["prompt"])
    parts = [job["prompt"]]
    for event in ("SessionStart", "UserPromptSubmit"):
        parts += [hook_context(hook, job) for hook in job["hooks"] if hook["event"] == event]
    seen: dict[str, str] = {}
    for path in job["context_files"]:
        if not os.path.isfile(path) or os.path.islink(path):
            continue
        text = read_text(path)
        same_as = seen.setdefault(normalised(text), path)
        repeated = same_as != path
        emit("context_file", path=path, text=None if repeated else text, same_as=same_as if repeated else None)
        if not repeated:
            parts.append(text)
    for part in parts:
        session.hear(part)
    return parts


def decide(context: list[str], needed: list[str], misleading: list[str], deducible: bool) -> str:
    """Follow whichever text comes first in the context: `memory` or `misled`; without any, `explore` or `guess`.

    Texts are compared with whitespace normalised. Where two begin at the same place, the longer one stands there.
    """
    whole = "\0".join(map(normalised, context))
    found = [
        (whole.index(text), -len(text), decision)
        for decision, texts in (("memory", needed), ("misled", misleading))
        for text in map(normalised, texts)
        if text and text in whole
    ]
    if found:
        return min(found)[2]
    return "explore" if deducible else "guess"


def slips(seed: str, flake: float) -> bool:
    """Draw once, the same for the same seed."""
    if not flake:
        return False
    import random  # noqa: PLC0415  # only an unreliable agent pays for it

    return random.Random(seed).random() < flake  # noqa: S311


def explore(session: Session, read_before: list[str]) -> None:
    """List and read every file of the repository, a few a turn; context files were read at the start."""
    session.turn("I do not know this repository yet: I list its files.", [("list_files", {})])
    paths = [path for path in every_file() if path not in read_before]
    for start in range(0, len(paths), FILES_PER_TURN):
        batch = paths[start : start + FILES_PER_TURN]
        session.turn("I read on.", [call_read(path) for path in batch])


class OverTheLimitError(Exception):
    """The next request would go over the token limit."""


class Session:
    """The account of one conversation: what stands in the context, and what the turns have cost."""

    def __init__(self, max_tokens: int | None) -> None:
        self.max_tokens = max_tokens
        self.context_characters = 0
        self.input_tokens = 0
        self.output_tokens = 0
        self.turns = 0

    def hear(self, text: str) -> None:
        """Take `text` into the context."""
        self.context_characters += len(text)

    def turn(self, say: str, calls: list[tuple[str, dict[str, Any]]] | None = None) -> None:
        """Make one model request, answered by `say` and `calls`, and run these; OverTheLimitError before it."""
        written = len(say) + sum(len(tool) + len(json.dumps(given, ensure_ascii=False)) for tool, given in calls or ())
        input_tokens = self.input_tokens + tokens(self.context_characters)
        output_tokens = self.output_tokens + tokens(written)
        if self.max_tokens is not None and input_tokens + output_tokens > self.max_tokens:
            raise OverTheLimitError
        self.input_tokens, self.output_tokens = input_tokens, output_tokens
        self.turns += 1
        self.context_characters += written
        emit("assistant", turn=self.turns, text=say)
        for tool, given in calls or ():
            emit("tool_use", turn=self.turns, tool=tool, input=given)
            text = TOOLS[tool](given)
            cut = len(text) > READ_CHARACTERS
            text = text[:READ_CHARACTERS]
            self.hear(text)
            emit("tool_result", turn=self.turns, tool=tool, text=text, cut=cut)


def tokens(characters: int) -> int:
    """Estimate, rounded up."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def call_read(path: str) -> tuple[str, dict[str, Any]]:
    """Say that `path` is to be read."""
    return "read_file", {"path": path}


def list_files(_given: dict[str, Any]) -> str:
    """Tool: the path of every file, one a line."""
    return "\n".join(every_file())


def read_file(given: dict[str, Any]) -> str:
    """Tool: the text of one file."""
    return read_text(given["path"])


def write_file(given: dict[str, Any]) -> str:
    """Tool: make or replace one file."""
    content = given["content"].encode()
    if given["encoding"] == "base64":
        import binascii  # noqa: PLC0415  # few trees hold a binary file

        content = binascii.a2b_base64(content)
    os.makedirs(os.path.dirname(given["path"]) or ".", exist_ok=True)
    with open(given["path"], "wb") as file:
        file.write(content)
    os.chmod(given["path"], 0o755 if given["executable"] else 0o644)
    return "written"


TOOLS = {"list_files": list_files, "read_file": read_file, "write_file": write_file}


def every_file() -> list[str]:
    """Return the path of each regular file of the repository, sorted, without git's own and what interpreters leave."""
    paths = []
    for folder, folders, names in os.walk("."):
        folders[:] = [name for name in folders if name not in SKIPPED_FOLDERS]
        found = (os.path.join(folder, name) for name in names)
        paths += [os.path.relpath(path) for path in found if os.path.isfile(path) and not os.path.islink(path)]
    return sorted(paths)


def read_text(path: str) -> str:
    """Return the text of a file, with a mark for each byte that is none."""
    with open(path, "rb") as file:
        return file.read().decode(errors="replace")


def normalised(text: str) -> str:
    """Return `text` with every run of white space as one space."""
    return " ".join(text.split())


def hook_context(hook: dict[str, Any], job: dict[str, Any]) -> str:
    """Run one hook and return the context that it adds; a hook that fails adds nothing, and the transcript says why."""
    about = {"prompt": job["prompt"]} if hook["event"] == "UserPromptSubmit" else {"source": "startup"}
    given = {"session_id": job["session_id"], "cwd": os.getcwd(), "hook_event_name": hook["event"], **about}
    ended = HookProcess(hook["command"], json.dumps(given).encode(), hook["timeout_s"])
    context, problem = "", ended.problem
    if problem is None:
        try:
            context = additional_context(ended.stdout)
        except (ValueError, RecursionError) as error:
            problem = str(error)
    characters = len(context)
    cut = characters > HOOK_CONTEXT_CHARACTERS
    if cut:
        context = context[:HOOK_PREVIEW_CHARACTERS]
    emit(
        "hook",
        event=hook["event"],
        exit_status=ended.exit_status,
        timed_out=ended.timed_out,
        context=context,
        context_characters=characters,
        cut=cut,
        problem=problem,
        stderr=ended.stderr.decode(errors="replace")[-STDERR_TAIL_CHARACTERS:],
    )
    return context


def additional_context(stdout: bytes) -> str:
    """Read a hook's answer; empty where it adds nothing, ValueError where it is not the protocol's."""
    if not stdout.strip():
        return ""
    answer = json.loads(stdout)
    output = answer.get("hookSpecificOutput", {}) if isinstance(answer, dict) else None
    added = output.get("additionalContext", "") if isinstance(output, dict) else None
    if not isinstance(added, str):
        raise ValueError("the answer is not an object with hookSpecificOutput.additionalContext")  # noqa: TRY004
    return added


class HookProcess:
    """A hook run to its end or its time limit.

    Its streams are files and not pipes, so that what it leaves behind cannot hold the agent up; it stays in the agent's
    process group, so that whoever ends the agent ends that too.
    """

    def __init__(self, command: list[str], stdin: bytes, timeout_s: float) -> None:
        self.exit_status: int | None = None
        self.timed_out = False
        self.stdout = self.stderr = b""
        self.problem: str | None = None
        base = os.path.join(os.environ["TMPDIR"], f"rehearsal-{os.getpid()}-hook")
        streams = [base + end for end in (".in", ".out", ".err")]
        try:
            with open(streams[0], "wb") as file:
                file.write(stdin)
            self._run(command, streams, timeout_s)
            self.stdout, self.stderr = (_head(path) for path in streams[1:])
        except OSError as error:
            self.problem = f"could not be run: {error}"
        finally:
            for path in streams:
                if os.path.exists(path):
                    os.unlink(path)

    def _run(self, command: list[str], streams: list[str], timeout_s: float) -> None:
        written = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        actions = [
            (os.POSIX_SPAWN_OPEN, number, path, written if number else os.O_RDONLY, 0o600)
            for number, path in enumerate(streams)
        ]
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)

        def on_alarm(_number: int, _frame: FrameType | None) -> None:
            self.timed_out = True
            os.kill(pid, signal.SIGKILL)

        signal.signal(signal.SIGALRM, on_alarm)
        signal.setitimer(signal.ITIMER_REAL, timeout_s)
        try:
            _, status = os.waitpid(pid, 0)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        if self.timed_out:
            self.problem = f"not done within {timeout_s:g} s"
            return
        self.exit_status = os.waitstatus_to_exitcode(status)
        if self.exit_status:
            self.problem = f"exit status {self.exit_status}"


def _head(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read(HOOK_OUTPUT_BYTES)


def emit(kind: str, **fields: Any) -> None:
    """Write one line of the transcript at once, so that it is there whenever the agent is ended."""
    line = json.dumps({"type": kind, **fields}, ensure_ascii=False) + "\n"
    # A lone surrogate has no UTF-8; the escape that takes its place is JSON's own.
    sys.stdout.buffer.write(line.encode(errors="backslashreplace"))
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
