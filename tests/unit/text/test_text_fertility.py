"""Tokens a word, or a character where a language has no spaces between words."""

import pytest

from regard.text import Fertility, learn, measure_fertility


@pytest.mark.parametrize(
    ("sentences", "tokens", "unit"),
    [
        (["the cat sleeps"], 14 / 3, "word"),
        (["这只猫睡觉。", "OK"], 1.0, "character"),
        (["ねこがねている"], 1.0, "character"),
        (["แมวนอน"], 1.0, "character"),
        ([], 0.0, "word"),
    ],
)
def test_the_unit_follows_from_the_script(sentences, tokens, unit):
    letters = learn("characters", ["the cat sleeps", *sentences])
    found = measure_fertility(letters, sentences)
    assert found.tokens == pytest.approx(tokens)
    assert found.unit == unit
    assert str(found) == f"{tokens:.2f} tokens a {unit}"


def test_what_is_spelt():
    assert Fertility(5.2, "word").is_spelt
    assert not Fertility(1.7, "word").is_spelt
    assert Fertility(3.0, "character").is_spelt
    assert not Fertility(1.1, "character").is_spelt
