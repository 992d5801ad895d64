"""Text as its tokens come: the parts make the whole, and end before a stop word."""

import random

import pytest

from regard.text import BytePairs, Placed, SentencePieceText, Tokenizer, Words, learn
from regard.text.byte_pairs import _LETTERS
from regard.text.streaming import StopFilter, StreamedText

LINES = ["the cat sat on the mat\n", "Élan 你好世界 😀, naïve café\n"] * 5
END = dict.fromkeys(("unknown", "begin", "end"), Placed("<|endoftext|>", 256))
TOKENIZERS: dict[str, Tokenizer] = {
    "byte-pairs": BytePairs(_LETTERS, [], END),
    "characters": learn("characters", LINES),
    "sentencepiece": SentencePieceText.train(LINES, 320, is_upper_limit=True, keeps_layout=True),
    "words": Words.train(LINES),
}


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("opening", ["", "the cat"])
def test_a_long_text(kind: str, opening: str) -> None:
    tokenizer, draw = TOKENIZERS[kind], random.Random(1)
    begun = tokenizer.encode(opening)
    ids = [i for _ in range(6) for i in tokenizer.encode(draw.choice(LINES))]
    text, said = StreamedText(tokenizer, begun), ""
    before = len(tokenizer.decode(begun))
    for n, token in enumerate(ids, start=1):
        part = text.add(token)
        assert "\ufffd" not in part
        said += part
        assert said + text.waiting == tokenizer.decode([*begun, *ids[:n]])[before:]
    assert "😀" in said or kind == "words"


def test_bytes_wait_until_they_are_a_character() -> None:
    tokenizer = TOKENIZERS["byte-pairs"]
    ids = tokenizer.encode("a🙂")
    text = StreamedText(tokenizer)
    parts = [(text.add(token), bool(text.waiting)) for token in ids]
    assert parts == [("a", False), ("", True), ("", True), ("", True), ("🙂", False)]


@pytest.mark.parametrize(
    ("parts", "stops", "given", "is_stopped"),
    [
        (["a", "b"], [], ["a", "b", ""], False),
        (["a", "b", "c"], ["bc"], ["a", "", "", ""], True),
        (["ab", "x", "bc"], ["bc"], ["a", "bx", "", ""], True),
        (["a", "b"], ["bc"], ["a", "", "b"], False),
        (["abc"], ["c", "b"], ["a", ""], True),
        (["abc"], ["cde", "bcx"], ["a", "bc"], False),
        (["ab", "cd"], ["bc"], ["a", "", ""], True),
        (["a"], [""], ["a", ""], False),
    ],
)
def test_what_may_become_a_stop_word_is_held_back(
    parts: list[str], stops: list[str], given: list[str], is_stopped: bool
) -> None:
    text = StopFilter(stops)
    assert [*map(text.add, parts), text.end()] == given
    assert text.is_stopped == is_stopped


def test_a_stop_word_may_end_with_the_text() -> None:
    text = StopFilter(["end"])
    assert text.add("the e") == "the "
    assert text.end("nd") == ""
    assert text.is_stopped
