"""Texts as callers give them: a str is one text, and what is no str is named by its place."""

import pytest

from regard.errors import RegardError, TextTypeError
from regard.text.given import checked_pairs, checked_text, checked_texts

pytestmark = pytest.mark.usefixtures("as_users_call")


def test_texts_are_what_they_were() -> None:
    assert checked_text("一个句子", "text") == "一个句子"
    assert list(checked_texts(iter(["a", ""]), "texts")) == ["a", ""]
    assert list(checked_pairs([("a", "b"), ["c", "d"]], "pairs")) == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize("other", [None, 3, 2.5, ["a"], b"a"])
def test_what_is_no_str_is_named(other: object) -> None:
    with pytest.raises(TypeError, match=r"texts\[1\] is .* not a str") as refused:
        list(checked_texts(["a", other], "texts"))
    assert isinstance(refused.value, RegardError)


def test_bytes_are_to_be_decoded() -> None:
    with pytest.raises(TextTypeError, match=r"bytes.*decode"):
        checked_text("é".encode(), "prompt")


@pytest.mark.parametrize("other", ["abc", b"abc", None, 7])
def test_one_thing_is_no_list(other: object) -> None:
    for check in (checked_texts, checked_pairs):
        with pytest.raises(TextTypeError, match=r"stops is .* give a list"):
            check(other, "stops")  # type: ignore[arg-type]


@pytest.mark.parametrize("other", ["ab", None, ("a",), ("a", "b", "c"), {"a", "b"}])
def test_what_is_no_pair_is_named(other: object) -> None:
    with pytest.raises(TextTypeError, match=r"pairs\[1\] is .*not a pair"):
        list(checked_pairs([("a", "b"), other], "pairs"))


def test_the_side_of_a_pair_is_named() -> None:
    with pytest.raises(TextTypeError, match=r"pairs\[0\]\[1\] is None"):
        list(checked_pairs([("a", None)], "pairs"))


def test_what_is_long_is_shortened() -> None:
    with pytest.raises(TextTypeError) as refused:
        checked_text(list(range(10_000)), "text")
    assert len(str(refused.value)) < 120
