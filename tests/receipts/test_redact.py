"""What is taken out of a text for a secret, and what is left alone."""

from __future__ import annotations

import base64
import json
import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smriti.receipts.redact import redact

# Put together here, so that nobody's scanner takes this file for a leak.
LETTERS = string.ascii_letters + string.digits
BODY = base64.b64encode(bytes(range(192))).decode()
PEM_LINES = "\n".join(BODY[at : at + 64] for at in range(0, len(BODY), 64))


def pem(kind: str, end: str | None = None) -> str:
    return f"-----BEGIN {kind}-----\n{PEM_LINES}\n" + (f"-----END {end or kind}-----" if end != "" else "")


SECRETS = {
    "anthropic": "sk-" + "ant-api03-" + LETTERS + "-_AA",
    "openai": "sk-" + "proj-" + LETTERS,
    "openai of old": "sk-" + LETTERS[:48],
    "openrouter": "sk-" + "or-v1-" + "0123456789abcdef" * 4,
    "xai": "xai-" + LETTERS,
    "groq": "gsk_" + LETTERS[:52],
    "hugging face": "hf_" + LETTERS[:34],
    "github classic": "ghp_" + LETTERS[:36],
    "github app": "ghs_" + LETTERS[:36],
    "github fine-grained": "github_pat_" + LETTERS[:22] + "_" + LETTERS[:59],
    "gitlab": "glpat-" + LETTERS[:20],
    "aws": "AKIA" + "IOSFODNN7EXAMPLE",
    "aws session": "ASIA" + "IOSFODNN7EXAMPLE",
    "google": "AIza" + LETTERS[:35],
    "slack": "xoxb-" + "123456789012-" + LETTERS[:24],
    "jwt": "eyJ" + "hbGciOiJIUzI1NiJ9" + ".eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0" + "." + "dozjgNryP4J3jVmNHl0w5N_XgL0n3I9",
    "private key": pem("PRIVATE KEY"),
    "rsa key": pem("RSA PRIVATE KEY"),
    "openssh key": pem("OPENSSH PRIVATE KEY"),
    "pgp key": pem("PGP PRIVATE KEY BLOCK"),
    "encrypted key": pem("EC PRIVATE KEY").replace("\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00AA\n\n", 1),
}
"""What must never stand in a receipt."""

SETTINGS = {
    "alone": "{}",
    "in an assignment": "ANTHROPIC_API_KEY={}\n",
    "in a header": "x-api-key: {}\r\n",
    "as a bearer": "Authorization: Bearer {}",
    "in quotes": 'key = "{}"',
    "in a diff": "+{}\n-{}\n",
    "after a line feed": "first\n{}\nlast",
    "in an URL": "https://example.com/?key={}&x=1",
    "after an escape of an URL": "https://example.com/?q=key%3D{}",
    "in a colour": "\x1b[32m{}\x1b[0m",
    "in no colour": "\x1b[m{}",
    "after a path": "/etc/keys/{}",
    "in prose": "Use {}, please.",
}


each_secret = pytest.mark.parametrize("secret", SECRETS.values(), ids=list(SECRETS))


@each_secret
def test_a_secret_is_taken_out_and_what_is_around_it_stays(secret: str) -> None:
    for setting in SETTINGS.values():
        assert redact(setting.replace("{}", secret).encode()).decode() == setting.replace("{}", "[redacted]")


@each_secret
def test_a_secret_in_json_is_taken_out_and_it_stays_json(secret: str) -> None:
    for setting in SETTINGS.values():
        line, expected = setting.replace("{}", secret), setting.replace("{}", "[redacted]")
        for _ in range(3):
            line, expected = json.dumps({"text": line}), json.dumps({"text": expected})
            assert redact(line.encode()).decode() == expected


@pytest.mark.parametrize("escape", ["\\n", "\\t", "\\r", "\\u003d", "\\u001b[1;32m"])
def test_a_secret_right_after_an_escape_is_taken_out(escape: str) -> None:
    for name in ("anthropic", "jwt", "hugging face"):
        assert redact(f'"key{escape}{SECRETS[name]}"'.encode()).decode() == f'"key{escape}[redacted]"'


def test_any_bearer_token_is_taken_out() -> None:
    token = "abc.DEF_ghi~jkl+mno/pqr=="
    for word in ("Bearer", "bearer", "BEARER"):
        assert redact(f"{word} {token}".encode()) == f"{word} [redacted]".encode()


def test_every_one_of_many_is_taken_out() -> None:
    clean = redact("\n".join(SECRETS.values()).encode()).decode()
    assert clean == "\n".join(["[redacted]"] * len(SECRETS))


@pytest.mark.parametrize("ends", [0, 60, 130])
def test_a_private_key_whose_end_was_cut_off_is_taken_out(ends: int) -> None:
    whole = pem("RSA PRIVATE KEY", "")
    for text in (whole, "\n".join("+" + line for line in whole.splitlines()), json.dumps(whole)[1:-1]):
        clean = redact(b"before\n" + text[: len(text) - ends].encode()).decode()
        assert clean.startswith("before\n")
        assert BODY[:40] not in clean


def test_two_private_keys_are_not_taken_for_one() -> None:
    text = f"{pem('PRIVATE KEY')}\nkept\n{pem('RSA PRIVATE KEY')}".encode()
    assert redact(text) == b"[redacted]\nkept\n[redacted]"


def test_a_private_key_ends_at_its_first_end() -> None:
    end = "-----END PRIVATE KEY-----"
    assert redact(f"{pem('PRIVATE KEY')}\nkept\n{end}".encode()) == f"[redacted]\nkept\n{end}".encode()


@pytest.mark.parametrize(
    "text",
    [
        "task-session-timeout-correction",
        "project:smriti-disk-usage-report-on-t1",
        "risk-assessment-for-the-harbour",
        "sk-short",
        "ghp_short",
        "github_pat_",
        "AKIA and ASIA",
        "the bearer of this letter",
        "bearer short",
        "eyJ is how a token begins",
        "hf_transformers_model_configuration_name",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        'if "-----BEGIN PRIVATE KEY-----" in text: raise ValueError("a key")',
        "-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----",
        "0123456789abcdef" * 4,
        "123e4567-e89b-12d3-a456-426614174000",
        "",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert redact(text.encode()) == text.encode()


@given(st.text(string.ascii_lowercase + " -_/.:\n", max_size=200).filter(lambda text: "sk-" not in text))
def test_words_are_left_alone(text: str) -> None:
    words = text.replace("bearer", "")
    assert redact(words.encode()) == words.encode()


@given(st.binary(max_size=50), st.sampled_from(sorted(SECRETS.values())), st.binary(max_size=50))
def test_bytes_that_are_no_text_hide_no_secret(before: bytes, secret: str, after: bytes) -> None:
    clean = redact(before + b"\n" + secret.encode() + b"\n" + after)
    assert secret.encode() not in clean
    assert clean.startswith(before + b"\n[redacted]")
    assert clean.endswith(after)


@given(st.lists(st.sampled_from([*SECRETS.values(), "word", "task-of-many-words-in-a-row", "\n", " ", '"', "="])))
def test_redacting_twice_is_redacting_once(parts: list[str]) -> None:
    once = redact(" ".join(parts).encode())
    assert redact(once) == once


@pytest.mark.parametrize(
    "part",
    [
        "eyJ",
        "sk-",
        "-----BEGIN PRIVATE KEY-----",
        "-----BEGIN ",
        "ghp_",
        "bearer ",
        "AIza",
        "xoxb-",
        "A",
        "eyJa.",
        "eyJ-",
        "eyJaaaaaaaaaaaa.eyJ-",
        "\\n",
    ],
)
def test_no_text_takes_long(part: str) -> None:
    """In the forms that cost most; a scan that goes back would take minutes."""
    started = time.monotonic()
    redact(part.encode() * (400_000 // len(part)))
    assert time.monotonic() - started < 30
