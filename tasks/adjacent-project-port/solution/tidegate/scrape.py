"""Scrape targets for Prometheus, in the format that it reads from files."""

from __future__ import annotations

import json
from collections.abc import Iterable

METRICS_PORT = 9318
"""Where the metrics listener of every lock host is in production."""


def scrape_config(hosts: Iterable[str], port: int = METRICS_PORT) -> str:
    """Give one group of targets as JSON: each host once, in the order given."""
    targets = [f"{host}:{port}" for host in dict.fromkeys(hosts)]
    return json.dumps([{"targets": targets, "labels": {"job": "tidegate"}}], indent=2) + "\n"
