"""How Hypothesis runs everywhere: without a clock, and in CI the same examples each time."""

from __future__ import annotations

import os

from hypothesis import settings

settings.register_profile("anywhere", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "anywhere")
