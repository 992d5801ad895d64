"""The phrasebook's sentences with labels: their kinds, and who does what when."""

from itertools import islice, pairwise

import pytest

from regard.corpora import open_corpus
from regard.corpora.interface import Side
from regard.corpora.sentences import PAIRS, roles
from regard.text.words import join, split

KINDS = {"question", "negation", "existence", "comparison", "quality", "statement"}


@pytest.mark.parametrize("language", PAIRS)
def test_kinds_are_what_the_grammar_says(language: str) -> None:
    found = list(islice(open_corpus("sentence-kinds", language).examples("train", 1), 500))
    assert {one.target for one in found} == KINDS
    for one in found:
        assert (one.target == "question") == ("question" in one.tags)
        assert one.source.endswith(("?", "？")) == (one.target == "question")
    assert len({one.source for one in found}) == len(found)


@pytest.mark.parametrize("language", PAIRS)
def test_every_word_has_a_tag_and_words_are_as_text_is_split(language: str) -> None:
    found = list(islice(open_corpus("sentence-roles", language).examples("train", 1), 150))
    for one in found:
        words = list(one.source) if language == "zh" else one.source.split(" ")
        tags = one.target.split(" ")
        assert len(words) == len(tags)
        assert [word.text for word in split(join(words))] == words
        assert all(a != "O" or not b.startswith("I-") for a, b in pairwise(tags))
    assert {tag for one in found for tag in one.target.split()} == {
        "O",
        *(f"{place}-{role}" for place in "BI" for role in ("WHO", "WHAT", "WHEN")),
    }


def test_a_span_is_all_that_hangs_from_its_word() -> None:
    words = ("That", "waitress", "that", "I", "saw", "sold", "my", "lamp", "today")
    heads = (1, 5, 4, 4, 1, -1, 7, 5, 5)
    relations = (
        "det",
        "nsubj",
        "obj",
        "nsubj",
        "acl:relcl",
        "root",
        "nmod:poss",
        "obj",
        "obl:tmod",
    )
    assert roles(Side(words, heads, relations)) == [
        *("B-WHO", "I-WHO", "I-WHO", "I-WHO", "I-WHO", "O", "B-WHAT", "I-WHAT", "B-WHEN"),
    ]
