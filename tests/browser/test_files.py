"""The page's files: few, small, and nothing in them that the policy forbids."""

import re

from regard.inspection.viewer import FOLDER

PROGRAM = ("index.html", "studio.css", "studio.js")


def test_the_program_is_small() -> None:
    assert sum((FOLDER / name).stat().st_size for name in PROGRAM) < 300_000


def test_nothing_is_inline_and_nothing_comes_from_elsewhere() -> None:
    page = (FOLDER / "index.html").read_text("utf-8")
    assert not re.search(r"<script(?![^>]*src=)|<style| style=| on\w+=", page)
    assert not re.search(r"(src|href)=\"(?:https?:)?//", page)
    style = (FOLDER / "studio.css").read_text("utf-8")
    assert "@import" not in style
    assert "url(" not in style
    program = (FOLDER / "studio.js").read_text("utf-8")
    assert not re.search(r"\beval\(|new Function\(|innerHTML=\"", program)
