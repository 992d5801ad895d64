"""What README and the other pages claim about the project is so, in both languages."""

import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
ENGLISH, CHINESE = PROJECT / "README.md", PROJECT / "README.zh-CN.md"
READMES = [ENGLISH, CHINESE]
PAGES = sorted([*PROJECT.glob("*.md"), *(PROJECT / "docs").rglob("*.md")])

SYSTEM = re.compile(r"^\| L(\d+) \| (.+?) \| (.+?) \|$", re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TREE_LINE = re.compile(r"^( *)([\w.-]+/?)  +(\S.*)$|^( *)([\w.-]+/)$")


def name(page: Path) -> str:
    return page.relative_to(PROJECT).as_posix()


def tree(page: Path) -> dict[str, str]:
    """Path -> what is said of it, from the drawn tree of a README."""
    (drawn,) = [body for marked, body in BLOCK.findall(page.read_text("utf-8")) if marked == "text"]
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
    """Number -> what, and what shows it, from the table of a README."""
    text = page.read_text("utf-8")
    return {int(number): (what, shown) for number, what, shown in SYSTEM.findall(text)}


@pytest.mark.parametrize("page", READMES, ids=name)
def test_the_tree_is_true(page: Path) -> None:
    for path in tree(page):
        assert (PROJECT / path).is_dir() == path.endswith("/"), path
        assert (PROJECT / path).exists(), path


@pytest.mark.parametrize("page", READMES, ids=name)
def test_the_tree_leaves_out_no_room(page: Path) -> None:
    rooms = {
        f"regard/{module.relative_to(PROJECT / 'regard').parts[0]}/"
        for module in (PROJECT / "regard").glob("*/*.py")
    }
    assert rooms <= set(tree(page))


def test_both_trees_are_the_same() -> None:
    assert list(tree(ENGLISH)) == list(tree(CHINESE))


@pytest.mark.parametrize("page", READMES, ids=name)
def test_the_table_has_every_system_of_the_lectures(page: Path) -> None:
    assert list(systems(page)) == list(range(1, 31))


def test_both_tables_say_the_same() -> None:
    english, chinese = systems(ENGLISH), systems(CHINESE)
    for number, (_, shown) in english.items():
        in_chinese = chinese[number][1]
        assert CODE.findall(shown) == CODE.findall(in_chinese), f"L{number}"
        assert (shown == "not yet") == (in_chinese == "还没有"), f"L{number}"
        assert shown == "not yet" or CODE.search(shown) or LINK.search(shown), f"L{number}"


def test_both_readmes_have_the_same_examples_and_commands() -> None:
    english, chinese = (
        [(marked, body) for marked, body in BLOCK.findall(page.read_text("utf-8"))]
        for page in READMES
    )
    assert [b for b in english if b[0] != "text"] == [b for b in chinese if b[0] != "text"]


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_links_lead_somewhere(page: Path) -> None:
    text = BLOCK.sub("", page.read_text("utf-8"))
    for target in LINK.findall(text):
        if not target.startswith(("https://", "http://", "#")):
            assert (page.parent / target.partition("#")[0]).exists(), target


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_make_targets_exist(page: Path) -> None:
    makefile = (PROJECT / "Makefile").read_text("utf-8")
    text = page.read_text("utf-8")
    for target in re.findall(r"(?:`|^\$ )make ([a-z]+)", text, re.MULTILINE):
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


@pytest.mark.parametrize("page", [*PAGES, *(PROJECT / "docs").rglob("*.svg")], ids=name)
def test_no_path_of_any_one_machine(page: Path) -> None:
    found = re.search(r"(?<![\w.])/(work|home|root|tmp|Users|opt|mnt)/\S*", page.read_text("utf-8"))
    assert found is None, found


@pytest.mark.parametrize("picture", sorted((PROJECT / "docs").rglob("*.svg")), ids=name)
def test_pictures_need_no_network(picture: Path) -> None:
    text = picture.read_text("utf-8")
    assert not re.search(r"url\((?!data:|#)", text)
    assert not re.search(r"(href|src)=\"https?:|url\(\"?https?:", text)
