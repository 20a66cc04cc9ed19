"""`smriti receipt sign | check`: signed says who, verified says consistent, and each on a line of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from smriti.receipts.writer import SCORES
from tests.cli.command_line import Smriti
from tests.receipts.claimable import bench, bench_manifest

KEYGEN = shutil.which("ssh-keygen")

pytestmark = [
    pytest.mark.skipif(KEYGEN is None, reason="ssh-keygen is not on this machine"),
    pytest.mark.usefixtures("all_known"),
]


@pytest.fixture
def receipt(smriti: Smriti) -> Path:
    """A receipt, and beside it the key `key`."""
    del smriti
    env = {"HOME": str(Path.cwd()), "PATH": os.defpath}
    command = [str(KEYGEN), "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", "key"]
    subprocess.run(command, env=env, check=True, timeout=30)
    return bench(Path("run"), bench_manifest(2))


def test_a_signed_receipt_is_checked_with_the_line_that_signing_printed(smriti: Smriti, receipt: Path) -> None:
    ended = smriti("receipt", "sign", receipt, "--key", "key", "--identity", "me@example.org")
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.splitlines()[0] == f"signature {Path('run.sig').absolute()}"
    Path("allowed").write_text(ended.out.splitlines()[-1] + "\n")
    ended = smriti("receipt", "check", receipt, "--allowed-signers", "allowed")
    assert ended.status == 0
    verified, signed = ended.out.splitlines()
    assert verified == "verified      each figure follows from the evidence in the receipt (measured)"
    assert signed.startswith("signed        by me@example.org, with key SHA256:")


def test_verify_still_holds_beside_a_signature(smriti: Smriti, receipt: Path) -> None:
    smriti("receipt", "sign", receipt, "--key", "key")
    assert smriti("verify", receipt).status == 0


@pytest.fixture
def allowed(smriti: Smriti, receipt: Path) -> Path:
    """The receipt is signed, and this is the reader's list."""
    made = smriti("receipt", "sign", receipt, "--key", "key", "--identity", "me", "--json").json
    assert made["signature"].endswith("run.sig")
    assert made["public_key"] in made["allowed_signers"]
    path = Path("allowed")
    path.write_text(made["allowed_signers"] + "\n")
    return path


def test_a_tampered_receipt_is_signed_and_not_verified(smriti: Smriti, receipt: Path, allowed: Path) -> None:
    scores = receipt / SCORES
    scores.write_bytes(scores.read_bytes().replace(b'"passed":true', b'"passed":false'))
    ended = smriti("receipt", "check", receipt, "--allowed-signers", allowed)
    assert ended.status == 1
    verified, signed = ended.out.splitlines()
    assert verified.startswith("NOT VERIFIED  scores.ndjson: line ")
    assert signed.startswith("signed        by me, ")


def test_a_receipt_by_somebody_else_is_verified_and_not_signed(smriti: Smriti, receipt: Path, allowed: Path) -> None:
    ended = smriti("receipt", "check", receipt, "--allowed-signers", allowed, "--identity", "you")
    assert ended.status == 1
    verified, signed = ended.out.splitlines()
    assert verified.startswith("verified  ")
    assert signed.startswith("NOT SIGNED    ")


@pytest.mark.parametrize("identity", ["me", "you"])
def test_the_two_words_are_never_mixed(smriti: Smriti, receipt: Path, allowed: Path, identity: str) -> None:
    """Nor are ssh-keygen's own words repeated, which call a signature verified."""
    for content in (Path("run.sig").read_bytes(), b"none"):
        Path("run.sig").write_bytes(content)
        verified, signed = smriti(
            "receipt", "check", receipt, "--allowed-signers", allowed, "--identity", identity
        ).out.splitlines()
        assert "sign" not in verified.lower()
        assert "verif" not in signed.lower()


def test_json_has_both_apart(smriti: Smriti, receipt: Path, allowed: Path) -> None:
    ended = smriti("receipt", "check", receipt, "--allowed-signers", allowed, "--json")
    assert ended.status == 0
    assert ended.json["verified"]["ok"] is ended.json["signed"]["ok"] is True
    assert ended.json["signed"]["identity"] == "me"
    assert ended.json["signed"]["key"].startswith("SHA256:")
    Path("run.sig").unlink()
    ended = smriti("receipt", "check", receipt, "--allowed-signers", allowed, "--json")
    assert (ended.status, ended.json["signed"]["ok"], ended.json["signed"]["identity"]) == (1, False, None)


def test_an_interrupted_run_is_not_verified(smriti: Smriti, receipt: Path, allowed: Path) -> None:
    (receipt / "summary.json").unlink()
    ended = smriti("receipt", "check", receipt, "--allowed-signers", allowed)
    assert ended.status == 1
    assert "NOT VERIFIED  the run was interrupted" in ended.out
    assert "NOT SIGNED" in ended.out


def test_other_files_may_be_named(smriti: Smriti, receipt: Path, allowed: Path) -> None:
    Path("run.sig").rename("moved")
    flags = ("--allowed-signers", allowed, "--signature", "moved")
    assert smriti("receipt", "check", receipt, *flags).status == 0
    ended = smriti("receipt", "check", receipt, *flags, "--revoked", "key.pub")
    assert (ended.status, "revoked" in ended.out) == (1, True)


@pytest.mark.parametrize("identity", ["", "two words", "a,b", "*@example.org", '"me"', "#me"])
def test_an_identity_is_one_name(smriti: Smriti, receipt: Path, identity: str) -> None:
    smriti("receipt", "sign", receipt, "--key", "key", "--identity", identity).assert_refused("--identity is")
    assert not Path("run.sig").exists()


def test_what_is_not_there_is_unusable(smriti: Smriti, receipt: Path, allowed: Path) -> None:
    smriti("receipt", "sign", "nowhere", "--key", "key").assert_refused("nowhere is not there")
    smriti("receipt", "check", "nowhere", "--allowed-signers", allowed).assert_refused("nowhere is not there")
    smriti("receipt", "check", receipt, "--allowed-signers", "nobody").assert_refused("nobody is not there")
    Path("run.sig").unlink()
    smriti("receipt", "sign", receipt, "--key", "nokey").assert_refused("nokey is not there")


def test_without_ssh_keygen_there_is_one_paragraph(
    smriti: Smriti, receipt: Path, allowed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(Path.cwd()))
    smriti("receipt", "check", receipt, "--allowed-signers", allowed).assert_refused(
        "ssh-keygen is not on this machine"
    )
