"""Drawn digits: the text says it all, hands differ, and splits share nothing."""

from itertools import islice

import numpy as np
import pytest

from regard.corpora import open_corpus
from regard.corpora.digits import SIDE, draw_digit, is_digit
from regard.data import open_picture, read_picture_set
from regard.errors import DataError


def test_the_text_says_it_all() -> None:
    one, again = (draw_digit("digit 7, hand 4021") for _ in range(2))
    np.testing.assert_array_equal(one, again)
    assert (one.shape, one.dtype) == ((SIDE, SIDE, 3), np.uint8)
    assert (one != draw_digit("digit 7, hand 4022")).any()
    assert is_digit("digit 7, hand 4021")
    np.testing.assert_array_equal(np.asarray(open_picture("digit 7, hand 4021")), one)


@pytest.mark.parametrize("digit", range(10))
def test_each_is_written_within_the_picture(digit: int) -> None:
    for hand in range(5):
        pixels = draw_digit(f"digit {digit}, hand {hand}")[:, :, 0]
        assert 20 < (pixels > 128).sum() < 350
        edges = np.concatenate([pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]])
        assert (edges > 128).sum() < 9


def test_what_is_no_digit_is_refused() -> None:
    with pytest.raises(DataError, match="'digit 12' is no digit"):
        draw_digit("digit 12")


def test_splits_share_nothing_and_digits_come_in_turns() -> None:
    corpus = open_corpus("digits")
    parts = {split: list(islice(corpus.examples(split, 1), 40)) for split in corpus.splits}
    sources = [one.source for part in parts.values() for one in part]
    assert len(set(sources)) == 120
    assert [one.target for one in parts["train"][:11]] == [*map(str, range(10)), "0"]
    with pytest.raises(DataError, match="no split 'tests'"):
        corpus.examples("tests", 1)


def test_a_corpus_is_a_set_of_pictures() -> None:
    found = read_picture_set("digits:test:20", classes=tuple("9876543210"))
    assert found.labels is not None
    assert (found.labels[:3].tolist(), found.n_channels) == ([9, 8, 7], 1)
    scenes = read_picture_set("scenes:en:3", size=32)
    assert (scenes.pixels.shape, scenes.labels) == ((3, 32, 32, 3), None)
    with pytest.raises(DataError, match="the corpus dates has no pictures"):
        read_picture_set("dates:3")
