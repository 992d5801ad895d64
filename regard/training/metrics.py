"""metrics.jsonl: the events of a run, one JSON object a line, for curves and for later."""

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from regard.files import explained_errors, write_text
from regard.training.events import Event, Finished, Stepped, Validated

_STEPS_BETWEEN = 10  # every tenth update is written: enough for a curve


class MetricsFile:
    """Appends what is worth keeping; a continued run first takes out what it will do again."""

    def __init__(self, path: Path, since_update: int) -> None:
        self.path = path
        kept = "".join(
            line
            for line, record in _lines(path)
            if record["update"] <= since_update and record["event"] != "finished"
        )
        write_text(path, kept)

    def write(self, event: Event) -> None:
        """Keep an event, if it is of a kind that is kept."""
        if isinstance(event, Stepped) and event.update % _STEPS_BETWEEN:
            return
        if isinstance(event, Stepped | Validated | Finished):
            record = {"event": type(event).__name__.lower(), **asdict(event)}
            if not record.get("losses", True):
                del record["losses"]  # there is one phase, and its loss is said
            record.pop("samples", None)  # to be read in passing, and sentences of the data
            with explained_errors(self.path), self.path.open("a", encoding="utf-8") as file:
                file.write(_line(record))


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """What a metrics file holds; a line that was cut off, or is no event, is passed over."""
    return [record for _, record in _lines(path)]


def _lines(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each line that is an event, as it is written and as what it says."""
    if not path.is_file():
        return
    for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
        try:
            record = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            continue
        if isinstance(record, dict) and _is_event(record):
            yield f"{line}\n", record


def _is_event(record: dict[str, Any]) -> bool:
    return type(record.get("update")) is int and isinstance(record.get("event"), str)


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is no JSON")


def _line(record: dict[str, Any]) -> str:
    """Strict JSON: what is not finite, as the gradient of an overflow in fp16, is null."""
    return json.dumps(_finite(record), ensure_ascii=False, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    return None if isinstance(value, float) and not math.isfinite(value) else value
