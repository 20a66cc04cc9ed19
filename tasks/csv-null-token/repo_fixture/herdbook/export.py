"""Handing recordings on to other systems."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import TextIO

from herdbook.recording import Recording


def write_json(recordings: Iterable[Recording], out: TextIO) -> None:
    """Write the recordings as one array, with every column, known or not."""
    entries = [asdict(recording) | {"day": recording.day.isoformat()} for recording in recordings]
    json.dump(entries, out, indent=1, ensure_ascii=False)
    out.write("\n")
