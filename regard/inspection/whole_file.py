"""A file that is written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole_file(place: Path) -> Iterator[Path]:
    """Within, a path beside the place to write to; at the end it gets its name."""
    beside = place.with_name(f".{place.name}.{os.getpid()}.partial")
    try:
        yield beside
        beside.replace(place)
    finally:
        beside.unlink(missing_ok=True)
