"""The pages of the documentation, and what stands in them."""

import re
from pathlib import Path

PROJECT = Path(__file__).parents[2]
DOCS = PROJECT / "docs"
PAGES = sorted([*PROJECT.glob("*.md"), *DOCS.rglob("*.md")])

CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def name(page: Path) -> str:
    """Its path in the project, which names a test."""
    return page.relative_to(PROJECT).as_posix()


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and text of each block of a page."""
    return BLOCK.findall(page.read_text("utf-8"))


def links(page: Path) -> list[str]:
    """Where the links of a page lead, within the project."""
    found = LINK.findall(BLOCK.sub("", page.read_text("utf-8")))
    return [link for link in found if not link.startswith(("https://", "http://", "#"))]
