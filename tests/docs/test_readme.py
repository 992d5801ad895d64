"""What the README claims is so, in both languages."""

import re

import pytest

from .pages import PROJECT, blocks

ENGLISH, CHINESE = PROJECT / "README.md", PROJECT / "README.zh-CN.md"
READMES = [ENGLISH, CHINESE]
RESULTS = (PROJECT / "benchmarks" / "RESULTS.md").read_text("utf-8")

MEASURED = re.compile(r"^\| (.*RESULTS\.md#.*|the same.*|同上.*)\|$", re.MULTILINE)
FIGURE = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w%-])")


def anchor(heading: str) -> str:
    """How GitHub names a heading in an address."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def section(named: str) -> str:
    """The part of the results under that heading."""
    parts = re.split(r"^## (.+)$", RESULTS, flags=re.MULTILINE)
    found = dict(zip(map(anchor, parts[1::2]), parts[2::2], strict=True))
    assert named in found, f"benchmarks/RESULTS.md has no section #{named}"
    return found[named]


def measured(text: str) -> list[tuple[str, set[str]]]:
    """Section and figures of each row of the table of measurements."""
    rows, named = [], ""
    for row in MEASURED.findall(text):
        found = re.search(r"RESULTS\.md#([\w-]+)", row)
        named = found[1] if found else named
        *_, ours, others = row.strip(" |").split("|")
        rows.append((named, set(FIGURE.findall(f"{ours} | {others}".replace("*", "")))))
    return rows


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_every_figure_stands_in_the_results(page) -> None:  # type: ignore[no-untyped-def]
    rows = measured(page.read_text("utf-8"))
    assert len(rows) >= 6
    for named, figures in rows:
        assert len(figures) >= 2
        for figure in figures:
            assert re.search(rf"(?<![\d.,]){re.escape(figure)}(?![\d,])", section(named)), (
                f"{figure} is not in #{named}"
            )


def test_both_languages_have_the_same_figures_and_examples() -> None:
    english, chinese = (page.read_text("utf-8") for page in READMES)
    assert measured(english) == measured(chinese)
    assert blocks(ENGLISH) == blocks(CHINESE)
    assert english.count("\n## ") == chinese.count("\n## ")


@pytest.mark.parametrize("page", READMES, ids=lambda page: page.name)
def test_the_first_minutes_are_there(page) -> None:  # type: ignore[no-untyped-def]
    text = page.read_text("utf-8")
    for needed in (
        *("$ make demo", "$ make test", "pip install .", "regard train ", "regard.load("),
        *("docs/pictures/studio", "macOS", "Windows", "GPU", "OFL.txt"),
    ):
        assert needed in text, needed
    assert len(text.splitlines()) <= 120, "the README is one page: move the rest to docs/"
