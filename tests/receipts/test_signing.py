"""A signature says who stands behind a receipt, by keys that the reader allows."""

from __future__ import annotations

import fcntl
import hashlib
import os
import pty
import select
import shutil
import subprocess
import sys
import tempfile
import termios
from pathlib import Path

import pytest

from smriti import process
from smriti.errors import ReceiptError, UsageError
from smriti.receipts.signing import NAMESPACE, Statement, check_origin, sign, signature_path
from smriti.receipts.verify import verify
from smriti.receipts.writer import MANIFEST, SCORES, SUMMARY
from tests.processes import eventually
from tests.receipts.claimable import bench, bench_manifest

KEYGEN = shutil.which("ssh-keygen")

pytestmark = pytest.mark.skipif(KEYGEN is None, reason="ssh-keygen is not on this machine")


def keygen(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    env = {"HOME": str(folder), "PATH": os.defpath, "LC_ALL": "C"}
    return subprocess.run(
        [str(KEYGEN), *arguments], cwd=folder, env=env, input=stdin, capture_output=True, check=True, timeout=30
    ).stdout


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the keys of two people, and one that has a passphrase."""
    folder = tmp_path_factory.mktemp("keys")
    for name, phrase in (("mine", ""), ("other", ""), ("locked", "open sesame")):
        keygen(folder, "-q", "-t", "ed25519", "-N", phrase, "-C", "somebody@a-machine", "-f", name)
    return folder


@pytest.fixture
def receipt(tmp_path: Path) -> Path:
    return bench(tmp_path / "run", bench_manifest(2, evidence_class="development"))


@pytest.fixture
def signed(receipt: Path, keys: Path) -> Path:
    sign(receipt, keys / "mine")
    return receipt


def allowed(tmp_path: Path, keys: Path, who: str = "me@example.org", key: str = "mine", options: str = "") -> Path:
    """The reader's own file of allowed signers."""
    path = tmp_path / "allowed"
    path.write_text(f"{who} {options} {(keys / f'{key}.pub').read_text()}")
    return path


def refusal(directory: Path, allowed_signers: Path, **named: object) -> str:
    origin = check_origin(directory, allowed_signers, **named)  # type: ignore[arg-type]
    assert origin.check.ok is False
    assert (origin.identity, origin.key) == (None, None)
    return origin.check.detail


def test_a_signature_by_an_allowed_key_says_by_whom_the_receipt_is(signed: Path, keys: Path, tmp_path: Path) -> None:
    for identity in (None, "me@example.org"):
        origin = check_origin(signed, allowed(tmp_path, keys), identity=identity)
        assert origin.check.ok is True
        assert origin.identity == "me@example.org"
        assert str(origin.key) in keygen(keys, "-l", "-f", "mine.pub").decode()


def test_the_signature_lies_beside_the_receipt_and_changes_nothing_in_it(receipt: Path, keys: Path) -> None:
    before = verify(receipt)
    made = sign(receipt, keys / "mine")
    assert made.path == signature_path(receipt) == receipt.parent / "run.sig"
    assert made.path.read_bytes().startswith(b"-----BEGIN SSH SIGNATURE-----\n")
    assert verify(receipt) == before
    assert before.state == "verified"


def test_the_place_of_the_signature_does_not_depend_on_how_the_folder_is_named(
    receipt: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(receipt)
    assert signature_path(Path()) == signature_path(receipt)


def test_the_public_key_is_given_without_its_comment(receipt: Path, keys: Path) -> None:
    """A comment often names a person and a machine."""
    public_key = sign(receipt, keys / "mine").public_key
    assert (keys / "mine.pub").read_text().startswith(public_key + " ")
    assert "a-machine" not in public_key


def test_what_is_signed_is_the_run_and_the_digest_of_the_seal(signed: Path, keys: Path, tmp_path: Path) -> None:
    """ssh-keygen itself reads the signature, over the statement as it is documented."""
    statement = Statement(run_id="run", summary_sha256=sha256(signed / SUMMARY))
    assert statement.content() == (
        f'{{"schema":"smriti.statement/1","run_id":"run","summary_sha256":"{sha256(signed / SUMMARY)}"}}\n'.encode()
    )
    who = ["-f", str(allowed(tmp_path, keys)), "-I", "me@example.org", "-n", NAMESPACE]
    keygen(keys, "-Y", "verify", *who, "-s", str(signature_path(signed)), stdin=statement.content())


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("identity", [None, "me@example.org"])
def test_a_key_that_the_reader_does_not_allow_is_refused(
    signed: Path, keys: Path, tmp_path: Path, identity: str | None
) -> None:
    assert "does not name its key" in refusal(signed, allowed(tmp_path, keys, key="other"), identity=identity)


def test_a_key_that_is_allowed_for_somebody_else_is_refused(signed: Path, keys: Path, tmp_path: Path) -> None:
    found = refusal(signed, allowed(tmp_path, keys), identity="you@example.org")
    assert "does not name its key as one of you@example.org" in found


def test_a_signature_for_another_purpose_is_refused(receipt: Path, keys: Path, tmp_path: Path) -> None:
    content = Statement(run_id="run", summary_sha256=sha256(receipt / SUMMARY)).content()
    signature_path(receipt).write_bytes(keygen(keys, "-Y", "sign", "-f", "mine", "-n", "git", stdin=content))
    assert "made for another purpose" in refusal(receipt, allowed(tmp_path, keys))


def test_a_key_that_is_allowed_for_other_purposes_only_is_refused(signed: Path, keys: Path, tmp_path: Path) -> None:
    found = refusal(signed, allowed(tmp_path, keys, options='namespaces="git"'), identity="me@example.org")
    assert "not allowed in namespace smriti-receipt" in found


def test_a_key_whose_time_is_over_or_has_not_come_is_refused(signed: Path, keys: Path, tmp_path: Path) -> None:
    for option, meaning in (('valid-before="20200101"', "is over"), ('valid-after="29990101"', "has not begun")):
        assert meaning in refusal(signed, allowed(tmp_path, keys, options=option), identity="me@example.org")


def test_a_revoked_key_is_refused_and_said_to_be_revoked(signed: Path, keys: Path, tmp_path: Path) -> None:
    who = allowed(tmp_path, keys)
    for identity in (None, "me@example.org"):
        assert "is revoked by" in refusal(signed, who, revoked=keys / "mine.pub", identity=identity)
        assert check_origin(signed, who, revoked=keys / "other.pub", identity=identity).check.ok is True


@pytest.mark.parametrize("content", [b"not a key at all\n", bytes(range(256))])
def test_a_list_of_revoked_keys_that_cannot_be_read_revokes_nobody(
    signed: Path, keys: Path, tmp_path: Path, content: bytes
) -> None:
    garbage = tmp_path / "garbage"
    garbage.write_bytes(content)
    with pytest.raises(UsageError, match=r"--revoked .* is no list of keys"):
        check_origin(signed, allowed(tmp_path, keys), revoked=garbage)


def test_the_signature_of_another_receipt_is_refused(signed: Path, keys: Path, tmp_path: Path) -> None:
    other = bench(tmp_path / "second", bench_manifest(2, run_id="second"))
    shutil.copy(signature_path(signed), signature_path(other))
    assert "made for another receipt" in refusal(other, allowed(tmp_path, keys))


def test_a_run_of_another_name_is_another_receipt(signed: Path, keys: Path, tmp_path: Path) -> None:
    """Even where the seal is the same."""
    manifest = signed / MANIFEST
    manifest.write_bytes(manifest.read_bytes().replace(b'"run_id": "run"', b'"run_id": "won"'))
    assert "made for another receipt" in refusal(signed, allowed(tmp_path, keys))


def test_a_changed_seal_is_no_longer_signed(signed: Path, keys: Path, tmp_path: Path) -> None:
    summary = signed / SUMMARY
    summary.write_bytes(summary.read_bytes() + b"\n")
    assert "before its seal was changed" in refusal(signed, allowed(tmp_path, keys))


def test_who_signed_and_whether_it_is_consistent_are_two_questions(signed: Path, keys: Path, tmp_path: Path) -> None:
    """What is changed under the seal is for `verify` to find."""
    scores = signed / SCORES
    scores.write_bytes(scores.read_bytes().replace(b'"passed":true', b'"passed":false'))
    assert check_origin(signed, allowed(tmp_path, keys)).check.ok is True
    assert verify(signed).state == "refused"


@pytest.mark.parametrize("content", [b"", b"no signature", b"\xff" * 100])
def test_what_is_no_signature_is_refused(receipt: Path, keys: Path, tmp_path: Path, content: bytes) -> None:
    signature_path(receipt).write_bytes(content)
    assert "not a file that ssh-keygen signed" in refusal(receipt, allowed(tmp_path, keys))


def test_a_receipt_without_a_signature_is_not_signed(receipt: Path, keys: Path, tmp_path: Path) -> None:
    assert "run.sig is not there" in refusal(receipt, allowed(tmp_path, keys))


@pytest.mark.parametrize("lost", [MANIFEST, SUMMARY])
def test_a_receipt_that_cannot_be_read_is_not_signed(signed: Path, keys: Path, tmp_path: Path, lost: str) -> None:
    (signed / lost).unlink()
    assert lost in refusal(signed, allowed(tmp_path, keys))


def test_a_signature_may_lie_elsewhere(signed: Path, keys: Path, tmp_path: Path) -> None:
    moved = signature_path(signed).rename(tmp_path / "elsewhere")
    assert check_origin(signed, allowed(tmp_path, keys), signature=moved).check.ok is True


def test_all_names_that_a_key_is_allowed_for_are_given_and_a_pattern_is_none(
    signed: Path, keys: Path, tmp_path: Path
) -> None:
    assert check_origin(signed, allowed(tmp_path, keys, "me,myself,*@example.org")).identity == "me, myself"
    patterns = allowed(tmp_path, keys, "*@example.org")
    assert "for patterns alone; say with --identity whom you expect" in refusal(signed, patterns)
    assert check_origin(signed, patterns, identity="i@example.org").identity == "i@example.org"


def test_a_list_of_signers_that_comes_with_the_receipt_is_not_used(signed: Path, keys: Path, tmp_path: Path) -> None:
    inside = shutil.copy(allowed(tmp_path, keys), signed / "allowed")
    with pytest.raises(UsageError, match="lies in the receipt, which cannot say itself whom to trust"):
        check_origin(signed, Path(inside))


@pytest.mark.parametrize("flag", ["allowed-signers", "revoked"])
def test_a_list_that_is_not_there_is_unusable(signed: Path, keys: Path, tmp_path: Path, flag: str) -> None:
    lists = {"allowed-signers": allowed(tmp_path, keys), "revoked": keys / "other.pub", flag: tmp_path / "nowhere"}
    with pytest.raises(UsageError, match=rf"--{flag} .*nowhere is not there"):
        check_origin(signed, lists["allowed-signers"], revoked=lists["revoked"])


def test_only_what_verifies_can_be_signed(receipt: Path, keys: Path) -> None:
    scores = receipt / SCORES
    scores.write_bytes(scores.read_bytes().replace(b'"passed":true', b'"passed":false'))
    with pytest.raises(ReceiptError, match="does not verify"):
        sign(receipt, keys / "mine")
    assert not signature_path(receipt).exists()


def test_a_signature_is_not_written_over_another(signed: Path, keys: Path) -> None:
    before = signature_path(signed).read_bytes()
    with pytest.raises(UsageError, match="is not written over another"):
        sign(signed, keys / "other")
    assert signature_path(signed).read_bytes() == before


def signing(receipt: Path, key: Path, terminal: int | None = None, **more: str) -> subprocess.Popen[bytes]:
    """Start `smriti receipt sign` in a session of its own, with a terminal or without any."""

    def take_terminal() -> None:
        if terminal is not None:
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

    env = {"PATH": os.environ["PATH"], "HOME": str(receipt.parent), **more}
    command = [sys.executable, "-m", "smriti", "receipt", "sign", str(receipt), "--key", str(key)]
    return subprocess.Popen(
        command,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=take_terminal,  # noqa: PLW1509  # the tests start no thread
    )


def test_a_passphrase_is_asked_for_at_the_terminal(receipt: Path, keys: Path, tmp_path: Path) -> None:
    mine, theirs = pty.openpty()
    try:
        with signing(receipt, keys / "locked", theirs) as run:
            asked = b""
            while b"passphrase" not in asked:
                assert select.select([mine], [], [], 30)[0], "nobody asks"
                asked += os.read(mine, 1000)
            os.write(mine, b"open sesame\n")
            _, told = run.communicate(timeout=30)
    finally:
        os.close(mine)
        os.close(theirs)
    assert run.returncode == 0, told
    assert check_origin(receipt, allowed(tmp_path, keys, key="locked")).identity == "me@example.org"


def test_a_key_that_the_agent_holds_is_named_by_its_public_half(receipt: Path, keys: Path, tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="a") as short:  # the path of a socket may not be long
        socket = f"{short}/s"
        with subprocess.Popen(["ssh-agent", "-D", "-a", socket], stdout=subprocess.DEVNULL) as agent:
            try:
                assert eventually(Path(socket).exists)
                env = {"PATH": os.defpath, "SSH_AUTH_SOCK": socket}
                subprocess.run(["ssh-add", keys / "mine"], env=env, check=True, capture_output=True)
                shutil.copy(keys / "mine.pub", tmp_path / "only.pub")
                with signing(receipt, tmp_path / "only.pub", SSH_AUTH_SOCK=socket) as run:
                    _, told = run.communicate(timeout=30)
            finally:
                agent.terminate()
    assert run.returncode == 0, told
    assert check_origin(receipt, allowed(tmp_path, keys)).identity == "me@example.org"


def test_where_nobody_can_be_asked_a_key_with_a_passphrase_ends_at_once_with_the_reason(
    receipt: Path, keys: Path
) -> None:
    with signing(receipt, keys / "locked") as run:
        _, told = run.communicate(timeout=30)
    assert run.returncode == 2
    assert "incorrect passphrase" in told.decode()
    assert "asked for at the terminal" in told.decode()
    assert not signature_path(receipt).exists()


def test_what_is_no_key_is_unusable(receipt: Path, keys: Path) -> None:
    with pytest.raises(UsageError, match="nokey is not there"):
        sign(receipt, keys / "nokey")
    with pytest.raises(UsageError, match="cannot be used to sign"):
        sign(receipt, receipt / MANIFEST)
    assert not signature_path(receipt).exists()


def test_ssh_keygen_gets_neither_the_users_home_nor_an_environment(
    signed: Path, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read a signature it gets no agent either; to make one it gets what it asks the user by."""
    seen = tmp_path / "seen"
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/ssh-keygen"
    program.write_text(f'#!/bin/sh\nenv | sed "s/^/$2 /" >> {seen}\nexec {KEYGEN} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("SSH_AUTH_SOCK", "/nowhere/agent")
    monkeypatch.setenv("HOME", "/nowhere/home")
    monkeypatch.setenv("ANYTHING", "else")
    signature_path(signed).unlink()
    sign(signed, keys / "mine")
    check_origin(signed, allowed(tmp_path, keys))
    got = {tuple(line.partition("=")[0].split(" ")) for line in seen.read_text().splitlines()}
    shells = {"PWD", "SHLVL", "_", "OLDPWD"}
    kinds = {"sign", "find-principals", "verify"}
    assert {kind for kind, _ in got} == kinds
    for kind in kinds:
        names = {name for of, name in got if of == kind} - shells
        asking = {"SSH_AUTH_SOCK", "TERM", "DISPLAY", "WAYLAND_DISPLAY"} & set(os.environ)
        assert names == {"PATH", "HOME", "LC_ALL"} | (asking if kind == "sign" else {process.MARK})
    assert "/nowhere/home" not in seen.read_text()


def test_without_ssh_keygen_there_is_one_sentence(
    receipt: Path, keys: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="ssh-keygen is not on this machine"):
        sign(receipt, keys / "mine")
    signature_path(receipt).write_bytes(b"")
    with pytest.raises(UsageError, match="ssh-keygen is not on this machine"):
        check_origin(receipt, allowed(tmp_path, keys))
