"""Where log lines go, and what they look like."""

import json
import logging
import sys
from typing import TextIO

LEVELS = {-1: logging.WARNING, 0: logging.INFO, 1: logging.DEBUG}

SYSLOG_SEVERITY = {logging.CRITICAL: 2, logging.ERROR: 3, logging.WARNING: 4, logging.INFO: 6, logging.DEBUG: 7}


class LineFormatter(logging.Formatter):
    """The job hosts' format; they add the time themselves."""

    def format(self, record: logging.LogRecord) -> str:
        text = json.dumps(record.getMessage(), ensure_ascii=False)
        return f"sev={SYSLOG_SEVERITY[record.levelno]} orig={record.name} text={text}"


def configure(verbosity: int = 0, stream: TextIO | None = None) -> None:
    """Send everything below the `millrace` logger to `stream` (stderr by default), from the level that `verbosity` (-1, 0, 1) asks for."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(LineFormatter())
    logger = logging.getLogger("millrace")
    logger.handlers = [handler]
    logger.setLevel(LEVELS[verbosity])
    logger.propagate = False
