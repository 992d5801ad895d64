"""Where words begin among ids, whatever cuts the text."""

import pytest

from regard.special import UNKNOWN
from regard.text import Tokenizer, learn
from regard.text.sentences import cut_at_words, joined
from regard.text.words import split

CHINESE = ["我的兔子吃了这根香肠", "保罗卖了那些香肠", "我们爱北京"] * 30
ENGLISH = ["The dog sleeps, and the cat doesn't sleep.", "My rabbit ate the sausage."] * 30
SENTENCES = (
    ["我们", "爱", "北京", "。"],
    list("我们爱北京"),
    ["The", "dog", "does", "n't", "sleep", "."],
    ["A", "𝒳", "3,5", "ﬁne", "naïve", "我们"],
)


def tokenizer(kind: str) -> Tokenizer:
    size = 420 if kind == "sentencepiece" else None
    return learn(kind, CHINESE + ENGLISH, size)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", ["sentencepiece", "words", "characters"])
@pytest.mark.parametrize("words", SENTENCES, ids=range(len(SENTENCES)))
def test_each_word_has_a_first_id_of_its_own(kind: str, words: list[str]) -> None:
    text, placed = joined(words)
    assert [text[one.start : one.end] for one in placed] == words
    cut = cut_at_words(tokenizer(kind), text, placed)
    assert len(cut.firsts) == len(words)
    assert cut.firsts == sorted(set(cut.firsts))
    assert cut.firsts[-1] < len(cut.ids)


def test_a_text_whose_pieces_keep_to_words_is_read_as_it_is() -> None:
    pieces = tokenizer("sentencepiece")
    text = "The dog sleeps, and the cat doesn't sleep."
    cut = cut_at_words(pieces, text, split(text))
    assert cut.ids == pieces.encode(text)
    begins = [pieces.token(cut.ids[first]) for first in cut.firsts]
    for word, token in zip(split(text), begins, strict=True):
        assert word.text.startswith(token.strip("▁"))


def test_a_piece_that_spans_words_is_cut_where_they_part() -> None:
    pieces = tokenizer("sentencepiece")
    assert len(pieces.encode("我们爱北京")) == 1  # seen thirty times
    text, placed = joined(["我们", "爱", "北京"])
    cut = cut_at_words(pieces, text, placed)
    assert len(cut.ids) >= 3
    assert "".join(pieces.token(one).strip("▁") for one in cut.ids) == "我们爱北京"


def test_a_word_that_leaves_no_piece_is_unknown() -> None:
    cut = cut_at_words(tokenizer("words"), *joined(["dog", "\u200b", "cat", "\u200b"]))
    assert len(cut.ids) == 4
    assert (cut.firsts, cut.ids[1], cut.ids[3]) == ([0, 1, 2, 3], UNKNOWN, UNKNOWN)
