"""Where log lines go, and what they look like."""

import logging
import sys
from typing import TextIO

LEVELS = {-1: logging.WARNING, 0: logging.INFO, 1: logging.DEBUG}


class LineFormatter(logging.Formatter):
    """One line a record: newlines within a message are escaped."""

    def format(self, record: logging.LogRecord) -> str:
        return super().format(record).replace("\n", "\\n")


def configure(verbosity: int = 0, stream: TextIO | None = None) -> None:
    """Send everything below the `millrace` logger to `stream` (stderr by default), from the level that `verbosity` (-1, 0, 1) asks for."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(LineFormatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logger = logging.getLogger("millrace")
    logger.handlers = [handler]
    logger.setLevel(LEVELS[verbosity])
    logger.propagate = False
