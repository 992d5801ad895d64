"""CSV files of pairs, labels and conversations: quotes, headers, and what is refused."""

import gzip
from pathlib import Path

import pytest

from regard.data import parse_labelled, parse_spec, read_classified, read_pairs, read_tagged
from regard.errors import DataError


def write(path: Path, text: str) -> Path:
    raw = text.encode()
    path.write_bytes(gzip.compress(raw) if path.suffix == ".gz" else raw)
    return path


@pytest.fixture(params=["a.csv", "b.csv.gz"])
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return tmp_path / request.param


QUOTED = '"Yes, ""now"".",是的。\n"two\nlines",两行\n\n'
PAIRS = [('Yes, "now".', "是的。"), ("two lines", "两行")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (QUOTED, PAIRS),
        (f"source,target\n{QUOTED}", PAIRS),
        (f"\ufeffEN,zh\r\n{QUOTED}", PAIRS),
        (f"English,中文\n{QUOTED}", PAIRS),
        ("target,id,source\nb,7,a\n", [("a", "b")]),
        ("source;target\na, b;c\n", [("a, b", "c")]),
        ("a\tb\n", [("a", "b")]),
        ("he said, 'no'\n", [("he said", "'no'")]),
        ("source,target\n,b\n", [("", "b")]),
    ],
)
def test_pairs(path: Path, text: str, expected: list[tuple[str, str]]) -> None:
    assert list(read_pairs(write(path, text))) == expected
    assert list(read_pairs(f"{path}*2")) == expected * 2


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("a,b,c\n", ("line 1", "3 columns", "source,target")),
        ("just a line\n", ("line 1", "1 column,", "source,target")),
        ("id,source,text\n1,a,b\n", ("id, source, text", "source and target")),
        ("source,target\na,b\nc,d,e\n", ("line 3", "3 columns", "quotes")),
        ("source,target\na\n", ("line 2", "1 column,")),
        ('source,target\n"a" b,c\n', ("line 2", "not CSV", "quotes")),
        ('source,target\n"a,b\n', ("not CSV",)),
        ("source,target\n", ("holds no pairs",)),
        ("", ("holds no pairs",)),
    ],
)
def test_pairs_that_are_refused(path: Path, text: str, facts: tuple[str, ...]) -> None:
    with pytest.raises(DataError) as refused:
        list(read_pairs(write(path, text)))
    for fact in (str(path), *facts):
        assert fact in str(refused.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"good, really",yes\nbad,no\n', [("good, really", "yes"), ("bad", "no")]),
        ("label,review\n1,好\n0,坏\n", [("好", "1"), ("坏", "0")]),
        ("Text,Label\ngood,yes\n", [("good", "yes")]),
        ("id,sentence1,sentence2,label\n7,a,b,same\n", [("a", "b", "same")]),
        ("a,b,same\n", [("a", "b", "same")]),
        ("what it says,label\ngood,yes\n", [("good", "yes")]),
    ],
)
def test_texts_with_labels(path: Path, text: str, expected: list[tuple[str, ...]]) -> None:
    found = read_classified([parse_labelled(str(write(path, text)))])
    assert [(*one.texts, one.label) for one in found] == expected


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("a,b,c,d\n", ("4 columns", "text,label")),
        ("text,label,class\na,b,c\n", ("text, label, class", "one of them label")),
        ("text,label\ngood, or not,yes\n", ("line 2", "3 columns", "quotes")),
        ("text,label\ngood,\n", ("line 2", "label is empty")),
    ],
)
def test_labels_that_are_refused(path: Path, text: str, facts: tuple[str, ...]) -> None:
    with pytest.raises(DataError) as refused:
        read_classified([parse_labelled(str(write(path, text)))])
    for fact in facts:
        assert fact in str(refused.value)


@pytest.mark.parametrize(
    "text",
    ["word,tag\n我,A\n走,B\n\n你,A\n", "我,A\n走,B\n\n你,A\n", "words,tags\n我 走,A B\n你,A\n"],
)
def test_words_with_tags(path: Path, text: str) -> None:
    found = read_tagged([parse_labelled(str(write(path, text)))])
    assert [one.words for one in found] == [("我", "走"), ("你",)]
    assert [one.tags for one in found] == [("A", "B"), ("A",)]


def test_conversations(path: Path) -> None:
    spec = parse_spec(write(path, 'question,answer\n"Hi, you",Hello\nBye,See you\n'), turns=1)
    assert list(read_pairs(spec)) == [("Hi, you", "Hello"), ("Bye", "See you")]
