"""What follows a gap has a space before it only where one is written."""

import pytest

from regard.text import Tokenizer, learn
from regard.text.sentences import going_on

TEXTS = ["我们爱北京", "北京很大", "the dog sleeps, and the cat is asleep"] * 30


@pytest.fixture(scope="module")
def pieces() -> Tokenizer:
    return learn("sentencepiece", TEXTS, 420, is_upper_limit=True)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("北京很大", ["北京很大"]), (" 北京很大", ["▁北京很大"]), (" sleeps", ["▁sleeps"]), ("", [])],
)
def test_a_space_is_there_if_it_is_written(pieces: Tokenizer, text: str, tokens: list[str]) -> None:
    joined = "".join(one.text for one in going_on(pieces, text))
    assert joined == "".join(tokens)


def test_places_are_those_of_the_text(pieces: Tokenizer) -> None:
    text = "爱 the dog, 龘"
    found = going_on(pieces, text)
    covered = [text[one.start : one.end] for one in found]
    assert "".join(dict.fromkeys(covered)).replace(" ", "") == text.replace(" ", "")
    assert [one.word for one in found] == sorted(one.word for one in found)


@pytest.mark.parametrize("kind", ["characters", "words"])
def test_other_tokenizers_put_no_space_there(kind: str) -> None:
    tokenizer = learn(kind, TEXTS)  # type: ignore[arg-type]
    assert going_on(tokenizer, "the dog") == tokenizer.pieces("the dog")
