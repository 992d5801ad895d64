"""Logs for programs: a JSON object a line, and never what a user wrote."""

import json
import logging
from datetime import UTC, datetime
from typing import TextIO

LOGGER = "regard.serving"


class Lines(logging.Formatter):
    """Time, level and event, and the facts that came along under ``facts``."""

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        said = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage(),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            said["error"] = record.exc_info[0].__name__  # its text may quote the user's
        return json.dumps(said, ensure_ascii=False)


def write_logs(stream: TextIO, *, is_quiet: bool = False) -> None:
    """Let the service's logs, and the server's troubles, go to a stream."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Lines())
    for name, level in (
        (LOGGER, logging.WARNING if is_quiet else logging.INFO),
        ("uvicorn", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
