"""The pages are found, lead somewhere, and say what is so."""

import re
from pathlib import Path

import pytest
import yaml

from .pages import CODE, DOCS, LINK, PAGES, PROJECT, blocks, links, name

SYSTEM = re.compile(r"^\| L(\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)
TREE_LINE = re.compile(r"^( *)([\w.-]+/?)  +(\S.*)$|^( *)([\w.-]+/)$")
INDEXES = {DOCS / "index.md": "", DOCS / "index.zh.md": ".zh"}
LECTURES = [DOCS / "lectures.md", DOCS / "lectures.zh.md"]
ARCHITECTURE = [DOCS / "architecture.md", DOCS / "architecture.zh.md"]


def tree(page: Path) -> dict[str, str]:
    """Path -> what is said of it, from the drawn tree of a page."""
    (drawn,) = [body for marked, body in blocks(page) if marked == "text"]
    found: dict[str, str] = {}
    above: list[str] = []
    for line in drawn.splitlines():
        match = TREE_LINE.match(line)
        assert match, f"{page.name}: {line!r} is not a line of a tree"
        indent, entry, said = match[1] or match[4] or "", match[2] or match[5], match[3] or ""
        above = [*above[: len(indent) // 2], entry]
        found["".join(above)] = said
    return found


def systems(page: Path) -> dict[int, tuple[str, str]]:
    """Number -> what, and what shows it, from the table of the lectures."""
    text = page.read_text("utf-8")
    return {int(number): (what, shown) for number, what, shown in SYSTEM.findall(text)}


@pytest.mark.parametrize("index", INDEXES, ids=name)
def test_the_index_lists_every_page(index: Path) -> None:
    """In its own language where there is a page in it, in English otherwise."""
    language = INDEXES[index]
    stems = {page.stem.removesuffix(".zh") for page in DOCS.glob("*.md")} - {"index"}
    expected = {
        f"{stem}{language if (DOCS / f'{stem}{language}.md').exists() else ''}.md" for stem in stems
    }
    linked = {link.partition("#")[0] for link in links(index)}
    assert not expected - linked, "docs/index*.md lists every page"


def _leaves(entry: object) -> list[str]:
    if isinstance(entry, str):
        return [entry]
    parts = entry.values() if isinstance(entry, dict) else entry
    return [leaf for part in parts for leaf in _leaves(part)]


def test_the_site_lists_every_page() -> None:
    listed = _leaves(yaml.safe_load((PROJECT / "mkdocs.yml").read_text("utf-8"))["nav"])
    assert sorted(listed) == sorted(
        page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")
    )


@pytest.mark.parametrize(
    "page", [page for page in DOCS.glob("*.md") if ".zh" in page.name], ids=name
)
def test_both_languages_lead_to_each_other(page: Path) -> None:
    english = page.with_name(page.name.replace(".zh", ""))
    assert english.name in links(page)
    assert page.name in links(english)


@pytest.mark.parametrize("page", ARCHITECTURE, ids=name)
def test_the_tree_is_true(page: Path) -> None:
    for path in tree(page):
        assert (PROJECT / path).is_dir() == path.endswith("/"), path
        assert (PROJECT / path).exists(), path


@pytest.mark.parametrize("page", ARCHITECTURE, ids=name)
def test_the_tree_leaves_out_no_package(page: Path) -> None:
    packages = {
        f"regard/{module.relative_to(PROJECT / 'regard').parts[0]}/"
        for module in (PROJECT / "regard").glob("*/*.py")
    }
    assert packages <= set(tree(page))


def test_both_trees_are_the_same() -> None:
    english, chinese = map(tree, ARCHITECTURE)
    assert list(english) == list(chinese)


@pytest.mark.parametrize("page", LECTURES, ids=name)
def test_the_table_has_every_topic_of_the_lectures(page: Path) -> None:
    assert list(systems(page)) == list(range(1, 31))


def test_both_tables_say_the_same() -> None:
    english, chinese = map(systems, LECTURES)
    for number, (_, shown) in english.items():
        in_chinese = chinese[number][1]
        assert CODE.findall(shown) == CODE.findall(in_chinese), f"L{number}"
        assert (shown == "not yet") == (in_chinese == "还没有"), f"L{number}"
        assert shown == "not yet" or CODE.search(shown) or LINK.search(shown), f"L{number}"


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in links(page):
        assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_make_targets_exist(page: Path) -> None:
    makefile = (PROJECT / "Makefile").read_text("utf-8")
    text = page.read_text("utf-8")
    for target in re.findall(r"(?:`|^\$ )make ([a-z]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_no_conflict_was_left_unresolved(page: Path) -> None:
    assert not re.search(r"^(<<<<<<<|>>>>>>>) ", page.read_text("utf-8"), re.MULTILINE)


@pytest.mark.parametrize("page", [*PAGES, *DOCS.rglob("*.svg")], ids=name)
def test_no_path_of_any_one_machine(page: Path) -> None:
    found = re.search(r"(?<![\w.])/(work|home|root|tmp|Users|opt|mnt)/\S*", page.read_text("utf-8"))
    assert found is None, found


# One term for one thing in Chinese: the field's usual one.
UNUSUAL = {"抽样": "采样", "热图": "热力图", "的看法": "可以看作"}


@pytest.mark.parametrize("page", [p for p in PAGES if re.search(r"\.zh(-CN)?$", p.stem)], ids=name)
def test_chinese_terms_are_the_usual_ones(page: Path) -> None:
    text = page.read_text("utf-8")
    for word, usual in UNUSUAL.items():
        assert word not in text, f"write {usual} instead of {word}"


@pytest.mark.parametrize("picture", sorted(DOCS.rglob("*.svg")), ids=name)
def test_pictures_need_no_network(picture: Path) -> None:
    text = picture.read_text("utf-8")
    assert not re.search(r"url\((?!data:|#)", text)
    assert not re.search(r"(href|src)=\"https?:|url\(\"?https?:", text)
