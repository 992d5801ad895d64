"""Logs for programs: a JSON object a line, and never what a user wrote."""

import json
import logging
from datetime import UTC, datetime
from typing import TextIO

LOGGER = "regard.serving"
_SERVER = "uvicorn"
_PARSER = "python_multipart"  # which quotes what it cannot read; the client is told anyway


class Lines(logging.Formatter):
    """Time, level and event, and the facts that came along under ``facts``.

    Of a library's record only the library's name is told: its text may quote the user's.
    """

    def format(self, record: logging.LogRecord) -> str:
        """One line."""
        is_known = record.name.partition(".")[0] in (LOGGER.partition(".")[0], _SERVER)
        said = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": record.getMessage() if is_known else "library",
            **({} if is_known else {"library": record.name}),
            **getattr(record, "facts", {}),
        }
        if record.exc_info and record.exc_info[0] is not None:
            said["error"] = record.exc_info[0].__name__  # its text may quote the user's
        return json.dumps(said, ensure_ascii=False)


def write_logs(stream: TextIO, *, is_quiet: bool = False) -> None:
    """Let the service's logs, and all others' troubles, go to a stream as lines of JSON."""
    handler = logging.StreamHandler(stream)
    handler.setFormatter(Lines())
    for name, level in (
        (LOGGER, logging.WARNING if is_quiet else logging.INFO),
        (_SERVER, logging.WARNING),
        ("", logging.WARNING),
    ):
        logger = logging.getLogger(name)
        logger.handlers[:] = [handler]
        logger.setLevel(level)
        logger.propagate = False
    logging.getLogger(_PARSER).setLevel(logging.CRITICAL)
    logging.captureWarnings(True)
