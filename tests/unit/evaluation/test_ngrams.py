"""N-gram models: numbers that were found by hand, and probabilities that are some."""

import math

import numpy as np
import pytest

from regard.errors import DataError
from regard.evaluation.ngrams import CountedText, NgramModel

SENTENCES = [["a", "b"], ["a", "b"], ["a", "c"]]


def probability(model: NgramModel, *words: str) -> float:
    """Of the last word, after the others."""
    (found,) = model.log_probabilities([words])
    return math.exp(found[-1])


def test_a_bigram_model_found_by_hand() -> None:
    model = NgramModel(CountedText.of(SENTENCES, least=1), 2)
    # Bigrams: <s>a 3, ab 2, ac 1, b</s> 2, c</s> 1: D = 2 / (2 + 2·2). What stands before a, b, c:
    # one word each, before </s> two: D = 3 / (3 + 2·1), and 5 words may come.
    lower = (1 - 0.6) / 5 + 0.6 * 4 / 5 / 5
    assert probability(model, "a", "b") == pytest.approx((2 - 1 / 3) / 3 + 1 / 3 * 2 / 3 * lower)
    # Unseen after "a": only what is taken from the others, and of the uniform part.
    assert probability(model, "a", "never") == pytest.approx(1 / 3 * 2 / 3 * (0.6 * 4 / 5 / 5))


def test_a_unigram_model_found_by_hand() -> None:
    model = NgramModel(CountedText.of(SENTENCES, least=1), 1)
    # a 3, b 2, c 1, </s> 3 of 9: D = 1 / (1 + 2·1).
    assert probability(model, "b") == pytest.approx((2 - 1 / 3) / 9 + 1 / 3 * 4 / 9 / 5)
    assert probability(model, "c", "b") == probability(model, "b")


@pytest.mark.parametrize("order", [1, 2, 3, 5])
def test_what_may_come_next_sums_to_one(order: int) -> None:
    draw = np.random.default_rng(order)
    sentences = [[str(n) for n in draw.integers(0, 6, draw.integers(1, 9))] for _ in range(40)]
    text = CountedText.of(sentences)
    model = NgramModel(text, order)
    for context in ([], ["1"], ["1", "2"], ["5", "0", "3", "3", "1"], ["never", "1"]):
        total = sum(probability(model, *context, word) for word in text.vocabulary if word != "<s>")
        assert total == pytest.approx(1.0)


def test_more_context_helps_on_text_that_has_it() -> None:
    sentences = [list("xaby"), list("zabw")] * 20
    text = CountedText.of(sentences)
    bigrams, trigrams = NgramModel(text, 2), NgramModel(text, 4)
    assert probability(trigrams, *"xaby") > 0.8 > 0.6 > probability(bigrams, *"xaby")


def test_a_large_vocabulary_keeps_its_contexts_apart() -> None:
    # 50,000 words: the number of a trigram is far beyond 32 bits.
    sentences = [[f"{n}", f"{n + 1}", f"{n + 2}"] for n in range(0, 150_000, 3)] * 2
    model = NgramModel(CountedText.of(sentences), 3)
    last = sentences[-1]
    assert probability(model, *last) > 0.5
    assert probability(model, *last[:2], sentences[0][2]) < 0.01


def test_rare_words_are_one_and_the_rest_is_left_out() -> None:
    text = CountedText.of([["a", "a", "once"], ["a", "b"]], most=3)
    assert set(text.vocabulary) == {"<s>", "</s>", "<unk>", "a"}
    assert text.n_left_out == 2
    assert text.encode(["a", "once"]) == [3, 2]


def test_nothing_is_no_text() -> None:
    with pytest.raises(DataError, match="no text"):
        CountedText.of([])
