"""The viewer: the page of `studio/` as it is built, served by `regard serve` and saved as one file."""

from pathlib import Path

FOLDER = Path(__file__).parent
