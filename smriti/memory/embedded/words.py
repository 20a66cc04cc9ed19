"""The words of a text, as both the index and a query are cut into them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_WORD = re.compile(r"[^\s\x00-\x2f:-@\[-`{-\xbf\u2000-\u206f\u3000-\u303f]+")
"""Letters, digits, marks and symbols of any script; ASCII and general punctuation part words."""
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def words(text: str) -> list[str]:
    """Cut `text` into words, in order; empty for an empty text alone.

    Words are in NFKC, case-folded and without an English plural's s; a camelCase name gives itself and its parts. None
    holds white space, ASCII punctuation or an ASCII capital, so FTS5's `ascii` tokenizer takes each as one token. Of a
    text that is punctuation alone, each character gives a word.
    """
    plain = unicodedata.normalize("NFKC", text.encode(errors="replace").decode())
    found: list[str] = []
    for run in _WORD.findall(plain):
        found.append(_singular(run.casefold()))
        parts = _CAMEL.split(run)
        if len(parts) > 1:
            found += [_singular(part.casefold()) for part in parts]
    return found or [f"u{ord(character):x}" for character in plain]


def telling(found: Sequence[str]) -> list[str]:
    """Return the distinct ones of a text's words in order, without function words unless there are no others."""
    distinct = list(dict.fromkeys(found))
    return [word for word in distinct if word not in _FUNCTION_WORDS] or distinct


def _singular(word: str) -> str:
    """Take an English plural's ending off (the S stemmer: Harman 1991, How effective is suffixing?, JASIS 42)."""
    if len(word) < 4 or not word.endswith("s"):
        return word
    if word.endswith("ies"):
        return word if word.endswith(("eies", "aies")) else word[:-3] + "y"
    return word if word.endswith(("us", "ss", "aes", "ees", "oes")) else word[:-1]


_FUNCTION_WORDS = frozenset(
    _singular(word)
    for word in (  # noqa: SIM905  # it is read as a text
        "a about after all also am an and any are as at be because been before being but by can could did do does "
        "doing done down each either else for from get had has have he her here him his how i if in into is it "
        "its just let like make may me might more most must my neither new no nor not now of off on once one only "
        "or other our out over own per please same shall she should since so some such than that the their them "
        "then there these they this those through to too under until up upon us use used very via was we were "
        "what when where whether which while who whom whose why will with within without would yet you your"
    ).split()
)
