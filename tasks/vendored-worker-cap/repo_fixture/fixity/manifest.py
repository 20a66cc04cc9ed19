"""The manifest of a collection: write, read, compare."""

import re
from collections.abc import Mapping


class ManifestError(ValueError):
    """Text that is not a manifest."""


def write(digests: Mapping[str, str]) -> str:
    return "".join(f"{digest}  {path}\n" for path, digest in sorted(digests.items()))


def read(text: str) -> dict[str, str]:
    """Digests by path. Raises ManifestError, with the line's number, on a line that is not `<sha256>  <path>`."""
    digests = {}
    for number, line in enumerate(text.splitlines(), start=1):
        match = re.fullmatch(r"([0-9a-f]{64})  (.+)", line)
        if match is None:
            raise ManifestError(f"line {number}: expected '<sha256>  <path>', found {line!r}")
        digests[match[2]] = match[1]
    return digests


def differences(expected: Mapping[str, str], found: Mapping[str, str]) -> list[str]:
    """One line for each path that is missing, added or changed, by path."""
    lines = []
    for path in sorted(expected.keys() | found.keys()):
        if path not in found:
            lines.append(f"missing {path}")
        elif path not in expected:
            lines.append(f"added {path}")
        elif expected[path] != found[path]:
            lines.append(f"changed {path}")
    return lines
