"""Small talk: what was said decides the answer, and some of it was said before."""

import re
from itertools import islice

import pytest

from regard.corpora import EmbeddedCorpus, Example, open_corpus, parse_extract
from regard.corpora.smalltalk import LANGUAGES
from regard.errors import DataError
from regard.text.turns import split_turns

SPLITS = ("train", "valid", "test", "combinations")


def drawn(split: str, n: int, language: str | None = None, seed: int = 1) -> list[Example]:
    return list(islice(open_corpus("smalltalk", language).examples(split, seed), n))


@pytest.fixture(scope="module")
def train() -> list[Example]:
    return drawn("train", 8000)


def test_it_is_a_corpus_of_two_languages_or_of_one(train: list[Example]) -> None:
    assert isinstance(open_corpus("smalltalk"), EmbeddedCorpus)
    assert {example.tags[0] for example in train} == {"en", "zh"}
    for language in LANGUAGES:
        found = drawn("train", 50, language)
        assert {example.tags[0] for example in found} == {language}
        assert {bool(re.search("[\u4e00-\u9fff]", one.target)) for one in found} == {
            language == "zh"
        }


def test_names_with_and_without_a_language() -> None:
    whole, english = parse_extract("smalltalk:200"), parse_extract("smalltalk:en:test:20")
    assert (whole.pair, whole.split, whole.size) == (None, "train", 200)
    assert (english.pair, english.split, english.size) == ("en", "test", 20)
    assert english.sides == ("said", "answered")
    with pytest.raises(DataError, match="there is no split 'fr'"):
        parse_extract("smalltalk:fr")


def test_what_was_said_decides_the_answer(train: list[Example]) -> None:
    """Whatever the split and the seed: the last three turns have one answer."""
    answers: dict[str, str] = {}
    for example in [*train, *drawn("train", 4000, seed=9), *drawn("combinations", 500)]:
        key = re.sub(r"[.?!,。？！，]", "", example.source).lower()
        assert answers.setdefault(key, example.target) == example.target, example.source


def test_sources_have_three_turns_at_most_and_are_distinct(train: list[Example]) -> None:
    assert {len(split_turns(example.source)) for example in train} == {1, 3}
    assert len({example.source for example in train}) == len(train)
    assert train[:200] == drawn("train", 200)
    assert train[:200] != drawn("train", 200, seed=2)


def test_no_source_is_in_two_splits(train: list[Example]) -> None:
    sources = [{one.source for one in train}]
    sources += [{one.source for one in drawn(split, 150)} for split in SPLITS[1:]]
    for i, some in enumerate(sources):
        for others in sources[:i]:
            assert some.isdisjoint(others)


def test_what_is_in_combinations_was_never_together_in_training(train: list[Example]) -> None:
    """Sums, weather in a city, colours of things; and words that were never asked back."""
    known = {example.target for example in train}
    seen = " ".join(known)
    for example in drawn("combinations", 300):
        _, topic, kind, _ = example.tags
        if kind == "said" and topic in ("plus", "minus", "colour"):
            assert example.target not in known
        if kind == "recall" and topic not in ("plus", "minus"):
            assert example.target not in known
        for word in re.findall(r"[A-Z][a-z]+", example.target):
            assert word in seen  # each part was


def test_plain_questions_are_always_for_training() -> None:
    for split in SPLITS[1:]:
        for example in drawn(split, 200):
            assert not {"fixed", "first"} <= set(example.tags)


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_is_told_something_knows_it(language: str) -> None:
    n = 0
    for example in drawn("train", 1500, language):
        turns = split_turns(example.source)
        _, topic, kind, _ = example.tags
        assert "{" not in example.source + example.target
        if kind == "recall" and topic == "name":
            n += 1
            name = turns[1].rstrip(".。").split("," if language == "en" else "，")[1].strip()
            assert name in example.target
        if kind == "recall" and topic in ("plus", "minus"):
            assert re.findall(r"\d+", example.target) == re.findall(r"\d+", turns[1])[-1:]
    assert n > 10


@pytest.mark.parametrize("topics", LANGUAGES.values(), ids=LANGUAGES)
def test_topics_are_whole(topics: tuple) -> None:  # type: ignore[type-arg]
    assert len({topic.name for topic in topics}) == len(topics)
    for topic in topics:
        assert bool(topic.asks) == bool(topic.recalled) == bool(topic.forgotten)
        assert len(topic.fillings()) == topic.n_fillings
        for filling in topic.fillings()[:3]:
            for text in (*topic.says, topic.answer, *topic.asks, topic.recalled, topic.forgotten):
                assert "{" not in text.format_map(filling)


def test_sums_are_right() -> None:
    signs = {"plus": "+", "minus": "-", "加": "+", "减": "-"}
    n = 0
    for example in drawn("combinations", 300):
        found = re.match(r"(\d+) ?(plus|minus|加|减) ?(\d+) ?(?:is|等于) ?(\d+)", example.target)
        if found:
            n += 1
            a, b, c = int(found[1]), int(found[3]), int(found[4])
            assert (a + b if signs[found[2]] == "+" else a - b) == c
    assert n > 20
