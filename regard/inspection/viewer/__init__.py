"""The viewer: the page of `studio/` as it is built, which `regard serve` serves."""

from pathlib import Path

FOLDER = Path(__file__).parent
