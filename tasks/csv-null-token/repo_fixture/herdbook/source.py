"""Reading the recorders' files."""

from __future__ import annotations

import json
from pathlib import Path

from herdbook.recording import BadRecording, Recording


def read(path: Path) -> list[Recording]:
    """Read a month's recordings, ordered by farm, cow and day; BadRecording names the line of the first bad one."""
    recordings = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            try:
                recordings.append(Recording.parse(json.loads(line)))
            except (ValueError, BadRecording) as error:
                raise BadRecording(f"{path.name}, line {number}: {error}") from None
    return sorted(recordings, key=lambda recording: (recording.farm, recording.ear_tag, recording.day))
