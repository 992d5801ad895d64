"""The viewer: the page of `studio/` as it is built, served by `regard serve` or saved with data."""

from pathlib import Path

from regard.inspection.viewer.html import ViewedTrace, frame, mimebundle, page, view_address

FOLDER = Path(__file__).parent

__all__ = ["FOLDER", "ViewedTrace", "frame", "mimebundle", "page", "view_address"]
