"""What is said about installing works from a clone: nothing is published under the name regard."""

import re
import tomllib
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
TEXTS = sorted(
    file
    for pattern in (
        *("*.md", "*.txt", "*.toml", "docs/**/*.md", "docs/**/*.ipynb", "regard/**/*.py"),
        *("benchmarks/*.*", "studio/src/**/*.ts"),
    )
    for file in PROJECT.glob(pattern)
    if file.name != "CHANGELOG.md"  # which tells what was
)
EXTRAS = tomllib.loads((PROJECT / "pyproject.toml").read_text("utf-8"))["project"][
    "optional-dependencies"
]


def name(file: Path) -> str:
    return file.relative_to(PROJECT).as_posix()


def test_nothing_is_installed_from_an_index_by_our_name() -> None:
    wrong = re.compile(r"pip3? install[^\n`|&]*[\s'\"]regard(?![\w/.-])")
    found = [name(file) for file in TEXTS if wrong.search(file.read_text("utf-8"))]
    assert not found, "write pip install '.[extra]', which works in a clone"


def test_every_extra_that_is_named_exists() -> None:
    named = {
        (name(file), extra)
        for file in TEXTS
        for asked in re.findall(r"pip3? install[^\n`]*\.\[([\w,-]+)\]", file.read_text("utf-8"))
        for extra in asked.split(",")
    }
    raised = {
        (name(file), extra)
        for file in (PROJECT / "regard").rglob("*.py")
        for extra in re.findall(r'MissingExtraError\([^()]*"([\w-]+)"\)', file.read_text("utf-8"))
    }
    assert {extra for _, extra in raised} >= {"serve", "fast", "tensorboard"}
    for place, extra in named | raised:
        assert extra in EXTRAS, f"{place} names the extra {extra}, which pyproject.toml has not"


@pytest.mark.parametrize("page", ["README.md", "README.zh-CN.md"])
def test_the_readme_names_every_extra_of_users(page: str) -> None:
    text = (PROJECT / page).read_text("utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == set(EXTRAS) - {"develop"}
