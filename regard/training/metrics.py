"""metrics.jsonl: the events of a run, one JSON object a line, for curves and for later."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import Any

from regard.checkpoint.replacing import telling, write_text
from regard.training.events import Event, Finished, Stepped, Validated

_STEPS_BETWEEN = 10  # every tenth update is written: enough for a curve


class MetricsFile:
    """Appends what is worth keeping; a continued run first takes out what it will do again."""

    def __init__(self, path: Path, since_update: int) -> None:
        self.path = path
        kept = [
            record
            for record in read_metrics(path)
            if record["update"] <= since_update and record["event"] != "finished"
        ]
        write_text(path, "".join(_line(record) for record in kept))

    def write(self, event: Event) -> None:
        """Keep an event, if it is of a kind that is kept."""
        if isinstance(event, Stepped) and event.update % _STEPS_BETWEEN:
            return
        if isinstance(event, Stepped | Validated | Finished):
            with telling(self.path), self.path.open("a", encoding="utf-8") as file:
                file.write(_line({"event": type(event).__name__.lower(), **asdict(event)}))


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """What a metrics file holds; a last line that was cut off is passed over."""
    records: list[dict[str, Any]] = []
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                records.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return records


def _line(record: dict[str, Any]) -> str:
    """Strict JSON: what is not finite, as the gradient of an overflow in fp16, is null."""
    finite = {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in record.items()
    }
    return json.dumps(finite, ensure_ascii=False, allow_nan=False) + "\n"
