"""Say who stands behind a receipt: ssh-keygen signatures over its run and the digest of its seal."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ConfigDict, Field

from smriti import process
from smriti.errors import ReceiptError, UsageError
from smriti.receipts.check import Check
from smriti.receipts.sealed import Look, by_itself, read_sealed
from smriti.receipts.writer import SUMMARY, read_file, read_manifest
from smriti.types import Completed, Stored

NAMESPACE = "smriti-receipt"
"""What a signature is for: one that was made for anything else counts for nothing here."""

_TIME_LIMIT_S = 60.0
_PATIENCE_S = 300.0
"""For a person to type a passphrase, or to touch the token that a key is on."""
_ASKING = ("SSH_AUTH_SOCK", "SSH_ASKPASS", "SSH_ASKPASS_REQUIRE", "DISPLAY", "WAYLAND_DISPLAY", "TERM")
"""By which ssh-keygen reaches the user's agent, or whoever types a passphrase."""
_BEGIN = b"-----BEGIN SSH SIGNATURE-----"
_GOOD = re.compile(rf'Good "{NAMESPACE}" signature for .* with \S+ key (SHA256:\S+)')
_REASONS = {
    "incorrect signature": "it was made for another receipt, or for this one before its seal was changed",
    "namespace does not match": f"it was made for another purpose (expected namespace {NAMESPACE})",
    "not permitted for use in signature namespace": f"its key is not allowed in namespace {NAMESPACE}",
    "key has expired": "the time for which its key is allowed is over",
    "key is not yet valid": "the time for which its key is allowed has not begun",
    "parse signature": "it is not a file that ssh-keygen signed",
    "incomplete message": "it is not a file that ssh-keygen signed",
}
"""What ssh-keygen says → what that means here. Its own words are not repeated: it calls a signature verified."""


class Statement(Stored):
    """What is signed: `summary_sha256` stands for the whole receipt, whose other files the seal names."""

    schema_: Literal["smriti.statement/1"] = Field(default="smriti.statement/1", alias="schema")
    run_id: str
    summary_sha256: str

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def content(self) -> bytes:
        """Return the one form in which a statement is signed."""
        return self.model_dump_json(by_alias=True).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Signed:
    """What `sign` made."""

    path: Path
    public_key: str
    """Type and key, as a file of allowed signers has them."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Whether a receipt is signed by somebody whom the reader allows, and by whom."""

    check: Check
    identity: str | None = None
    key: str | None = None
    """The fingerprint."""


def signature_path(directory: Path) -> Path:
    """Name the file of a receipt's signature: `<folder>.sig` beside the folder, since nothing may be added inside."""
    folder = directory.resolve()
    if not folder.name:
        raise UsageError(f"{directory} is no receipt folder, expected one beside which a signature can stand")
    return folder.with_name(f"{folder.name}.sig")


def sign(directory: Path, key: Path, look: Look = by_itself) -> Signed:
    """Sign the receipt in `directory` with an SSH key, and write the signature beside it.

    `key` is a private key, for whose passphrase ssh-keygen asks at the terminal, or a public one of which the private
    half is with the user's agent. ReceiptError for a receipt that does not verify; UsageError where there is a
    signature already, where the key cannot be used, and without ssh-keygen.
    """
    target = signature_path(directory)
    if target.exists():
        raise UsageError(f"{target} is there already; a signature is not written over another. Remove it to sign anew")
    if not key.is_file():
        raise UsageError(f"--key {key} is not there, expected the file of an SSH key")
    receipt = read_sealed(directory, look)
    statement = Statement(run_id=receipt.manifest.run_id, summary_sha256=receipt.sha256)
    with _keygen() as keygen:
        made = keygen.ask("-Y", "sign", "-f", key, "-n", NAMESPACE, stdin=statement.content())
    if made.returncode != 0 or not made.stdout.startswith(_BEGIN):
        raise UsageError(
            f"--key {key} cannot be used to sign: {_last_line(made)}. Expected a private SSH key that only you can "
            "read, whose passphrase is asked for at the terminal, or the public half of one that your agent holds"
        )
    try:
        with target.open("xb") as file:
            file.write(made.stdout)
    except OSError as error:
        raise ReceiptError(f"{target}: cannot write the signature: {error.strerror or error}") from error
    return Signed(target, _public_key(made.stdout))


def check_origin(
    directory: Path,
    allowed_signers: Path,
    *,
    identity: str | None = None,
    revoked: Path | None = None,
    signature: Path | None = None,
) -> Origin:
    """Tell whether somebody whom `allowed_signers` names has signed this very receipt; not whether it is consistent.

    Without `identity` any of them will do. `revoked` lists keys that count for nothing, and `signature` is the file
    beside the receipt unless it is given. UsageError for a file that is not there or comes with the receipt.
    """
    for flag, path in (("--allowed-signers", allowed_signers), ("--revoked", revoked)):
        if path is not None and not path.is_file():
            raise UsageError(f"{flag} {path} is not there, expected a file as ssh-keygen reads it")
        if path is not None and path.resolve().is_relative_to(directory.resolve()):
            raise UsageError(f"{flag} {path} lies in the receipt, which cannot say itself whom to trust; give your own")
    path = signature or signature_path(directory)
    if not path.is_file():
        return Origin(_unsigned(f"{path} is not there"))
    try:
        statement = _statement_of(directory)
    except ReceiptError as error:
        return Origin(_unsigned(str(error)))
    revocation = () if revoked is None else ("-r", revoked)
    with _keygen() as keygen:
        reading = _Reading(keygen, path, allowed_signers, statement.content())
        wanted = [identity] if identity is not None else reading.principals()
        found = {name: reading.signed(name, *revocation) for name in wanted}
        keys = {name: key.group(1) for name, done in found.items() if (key := _good(done))}
        if keys:
            names = ", ".join(keys)
            fingerprint = next(iter(keys.values()))
            return Origin(Check("signed", True, f"by {names}, with key {fingerprint}"), names, fingerprint)
        if not wanted:
            return Origin(_unsigned(f"{path}: {reading.why_nobody()}"))
        name = wanted[0]
        if revoked is not None and _good(reading.signed(name)):
            if keygen.refuses_any(revoked):
                raise UsageError(f"--revoked {revoked} is no list of keys: ssh-keygen cannot read it")
            return Origin(_unsigned(f"{path}: the key of {name} is revoked by {revoked}"))
        unnamed = f"{allowed_signers} does not name its key as one of {name}"
        return Origin(_unsigned(f"{path}: {_reason(found[name]) or unnamed}"))


class _Keygen:
    """ssh-keygen, without the user's home or environment."""

    def __init__(self, program: str, scratch: Path) -> None:
        self._program = program
        self._scratch = scratch
        self._env = {"PATH": os.defpath, "HOME": str(scratch), "LC_ALL": "C"}

    def run(self, *arguments: str | Path, stdin: bytes = b"") -> Completed:
        """Run it where it has nobody to ask."""
        command = self._command(arguments)
        done = process.run(command, cwd=self._scratch, env=self._env, timeout_s=_TIME_LIMIT_S, stdin=stdin)
        if done.timed_out:
            raise UsageError(f"ssh-keygen {command[1]} {command[2]} did not end within {_TIME_LIMIT_S:g} s")
        return done

    def ask(self, *arguments: str | Path, stdin: bytes) -> subprocess.CompletedProcess[bytes]:
        """Run it in this session, so that it can ask the user's terminal and agent."""
        command = self._command(arguments)
        env = self._env | {name: os.environ[name] for name in _ASKING if name in os.environ}
        try:
            return subprocess.run(
                command, cwd=self._scratch, env=env, input=stdin, capture_output=True, timeout=_PATIENCE_S, check=False
            )
        except subprocess.TimeoutExpired:
            raise UsageError(f"nobody has answered ssh-keygen for {_PATIENCE_S:g} s") from None

    def refuses_any(self, revoked: Path) -> bool:
        """Tell whether under a list of revoked keys not even one counts that was made just now, and so is not in it."""
        key, allowed, content = self._scratch / "fresh", self._scratch / "fresh.allowed", b"fresh"
        self.run("-q", "-t", "ed25519", "-N", "", "-f", key)
        made = self.run("-Y", "sign", "-f", key, "-n", NAMESPACE, stdin=content)
        (signature := self._scratch / "fresh.sig").write_bytes(made.stdout)
        allowed.write_bytes(b"fresh " + key.with_suffix(".pub").read_bytes())
        return not _good(_Reading(self, signature, allowed, content).signed("fresh", "-r", revoked))

    def _command(self, arguments: Sequence[str | Path]) -> list[str]:
        return [self._program, *(str(word.absolute()) if isinstance(word, Path) else word for word in arguments)]


@dataclass(frozen=True, slots=True)
class _Reading:
    """One signature, read against one file of allowed signers."""

    keygen: _Keygen
    signature: Path
    allowed: Path
    content: bytes

    def signed(self, name: str, *more: str | Path) -> Completed:
        who = ("-f", self.allowed, "-I", name, "-n", NAMESPACE, "-s", self.signature)
        return self.keygen.run("-Y", "verify", *who, *more, stdin=self.content)

    def principals(self) -> list[str]:
        """Return whom the key of the signature is allowed for by name; a pattern is no name."""
        names = self._found().stdout.decode("utf-8", "replace").replace(",", "\n").split("\n")
        return [name for name in names if name and not set("*?!") & set(name)]

    def why_nobody(self) -> str:
        found = self._found()
        if found.exit_status == 0:
            return f"{self.allowed} allows its key for patterns alone; say with --identity whom you expect"
        return _reason(found) or f"{self.allowed} does not name its key"

    def _found(self) -> Completed:
        return self.keygen.run("-Y", "find-principals", "-f", self.allowed, "-s", self.signature)


@contextlib.contextmanager
def _keygen() -> Iterator[_Keygen]:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise UsageError(
            "ssh-keygen is not on this machine, and signatures are made and read with it; install OpenSSH 8.2 or newer"
        )
    with tempfile.TemporaryDirectory(prefix="smriti-keygen-") as scratch:
        yield _Keygen(program, Path(scratch))


def _statement_of(directory: Path) -> Statement:
    run_id = read_manifest(directory).run_id
    try:
        content = read_file(directory / SUMMARY)
    except OSError as error:
        raise ReceiptError(f"{directory / SUMMARY}: cannot be read: {error.strerror or error}") from error
    return Statement(run_id=run_id, summary_sha256=hashlib.sha256(content).hexdigest())


def _public_key(signature: bytes) -> str:
    """Return the public key that a signature holds: after `SSHSIG` and a version, with its length, and its type first.

    Source: PROTOCOL.sshsig of OpenSSH.
    """
    content = base64.b64decode(b"".join(signature.split(b"\n")[1:-2]))
    key = _string(content, len("SSHSIG") + 4)
    return f"{_string(key, 0).decode()} {base64.b64encode(key).decode()}"


def _string(content: bytes, at: int) -> bytes:
    length = int.from_bytes(content[at : at + 4], "big")
    return content[at + 4 : at + 4 + length]


def _good(done: Completed) -> re.Match[str] | None:
    return _GOOD.match(done.stdout.decode("utf-8", "replace")) if done.exit_status == 0 else None


def _reason(done: Completed) -> str | None:
    said = done.stderr.decode("utf-8", "replace")
    return next((meaning for words, meaning in _REASONS.items() if words in said), None)


def _last_line(done: subprocess.CompletedProcess[bytes]) -> str:
    lines = done.stderr.decode("utf-8", "replace").split("\n")
    said = [line.strip() for line in lines if line.strip() and not line.startswith("Signing data")]
    return said[-1].rstrip(".") if said else f"ssh-keygen ended with status {done.returncode}"


def _unsigned(why: str) -> Check:
    return Check("signed", False, why)
