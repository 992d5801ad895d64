"""What happens, told as it happens: a JSON object a line."""

import json
from typing import Any

EVENTS = "application/x-ndjson"


def line(event: dict[str, Any]) -> bytes:
    """One of them."""
    return f"{json.dumps(event, ensure_ascii=False, allow_nan=False)}\n".encode()
