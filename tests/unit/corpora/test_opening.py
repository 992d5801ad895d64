"""Naming embedded corpora: what is meant, and what is said when nothing can be meant."""

import sys
from collections.abc import Iterator
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from regard.corpora import (
    CORPORA,
    SIZES,
    EmbeddedCorpus,
    Example,
    Extract,
    is_extract,
    open_corpus,
    parse_extract,
)
from regard.corpora.catalogue import HELD_OUT_SIZE, Embedded
from regard.errors import DataError


class Counting:
    """A corpus of seven sentences for each seed."""

    splits = ("train", "valid", "test", "odd")

    def __init__(self, pair: str) -> None:
        self.pair = pair

    def examples(self, split: str, seed: int) -> Iterator[Example]:
        return (Example(f"{self.pair} {split} {seed} {n}", str(n)) for n in range(7))


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A corpus with the pairs aa-bb and cc-aa, beside the others."""
    module: Any = ModuleType("counting")
    module.Counting, module.VERSION = Counting, 3
    monkeypatch.setitem(sys.modules, "counting", module)
    embedded = Embedded("counts", "counting", "Counting", pairs=("aa-bb", "cc-aa"))
    monkeypatch.setitem(CORPORA, "counting", embedded)


def refusal(text: str) -> str:
    with pytest.raises(DataError) as caught:
        parse_extract(text)
    return str(caught.value)


@pytest.mark.parametrize(
    ("text", "extract"),
    [
        ("dates", Extract("dates")),
        ("dates:valid", Extract("dates", split="valid")),
        ("dates:20000", Extract("dates", size=20000)),
        ("dates:train:20000", Extract("dates", split="train", size=20000)),
        ("counting:cc-aa", Extract("counting", "cc-aa")),
        ("counting:cc-aa:odd", Extract("counting", "cc-aa", "odd")),
        ("counting:aa-bb:5", Extract("counting", "aa-bb", "train", 5)),
        ("counting:aa-bb:odd:5", Extract("counting", "aa-bb", "odd", 5)),
    ],
)
@pytest.mark.usefixtures("counting")
def test_a_name_says_corpus_pair_split_and_size(text: str, extract: Extract) -> None:
    assert is_extract(text)
    assert parse_extract(text) == extract
    assert parse_extract(extract.name) == extract


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("date", "there is no corpus 'date'; did you mean dates?"),
        (
            "poems:en-fr",
            f"there is no corpus 'poems'; choose {', '.join(CORPORA)}, counting.",
        ),
        (
            "counting",
            "the corpus counting needs a pair of languages: aa-bb, cc-aa (as counting:aa-bb).",
        ),
        ("counting:aa-cb", "the corpus counting has no pair 'aa-cb'; did you mean aa-bb?"),
        ("counting:odd", "the corpus counting has no pair 'odd'; choose aa-bb, cc-aa."),
        ("counting:", "the corpus counting has no pair ''; choose aa-bb, cc-aa."),
        ("dates:tests", "dates:tests: there is no split 'tests'; did you mean test?"),
        (
            "dates:zh-en",
            "dates:zh-en: there is no split 'zh-en'; choose train, valid, test, combinations.",
        ),
        (
            "dates:train:0",
            "dates:train:0: '0' is not a number of examples: write 1 or more in digits alone, for "
            "example 50000.",
        ),
        (
            "dates:1,000",
            "dates:1,000: '1,000' is not a number of examples: write 1 or more in digits alone, "
            "for example 50000.",
        ),
        (
            "dates:train:",
            "dates:train:: '' is not a number of examples: write 1 or more in digits alone, for "
            "example 50000.",
        ),
        (
            "dates:train:valid:5",
            "'dates:train:valid:5' says too much: a corpus is named as dates[:SPLIT][:SIZE].",
        ),
        (
            "counting:aa-bb:odd:test",
            "'counting:aa-bb:odd:test' says too much: a corpus is named as "
            "counting:PAIR[:SPLIT][:SIZE].",
        ),
    ],
)
@pytest.mark.usefixtures("counting")
def test_what_cannot_be_meant_is_told(text: str, sentence: str) -> None:
    assert refusal(text) == sentence


def test_a_corpus_without_languages_refuses_a_pair() -> None:
    with pytest.raises(DataError) as caught:
        open_corpus("dates", "en-fr")
    assert str(caught.value) == ("the corpus dates is not of two languages: leave out 'en-fr'.")


@pytest.mark.usefixtures("counting")
def test_sizes_that_are_given_must_be_there_and_usual_ones_need_not() -> None:
    assert [example.target for example in parse_extract("counting:aa-bb:test").draw()] == list(
        "0123456"
    )
    assert len(list(parse_extract("counting:aa-bb:test:7").draw())) == 7
    with pytest.raises(DataError) as caught:
        list(parse_extract("counting:aa-bb:test:8").draw())
    assert str(caught.value) == (
        "counting:aa-bb:test:8: there are only 7 different examples: ask for 7 or fewer."
    )


@pytest.mark.usefixtures("counting")
def test_pair_split_and_seed_reach_the_corpus() -> None:
    extract = parse_extract("counting:cc-aa:odd:1")
    assert [example.source for example in extract.draw()] == ["cc-aa odd 1 0"]
    assert [example.source for example in extract.draw(seed=4)] == ["cc-aa odd 4 0"]
    assert (extract.sides, extract.version) == (("cc", "aa"), "3")


def test_usual_sizes() -> None:
    assert SIZES == {"train": 100_000, "valid": 500, "test": 1_000}
    for split, size in (*SIZES.items(), ("combinations", HELD_OUT_SIZE)):
        assert Extract("dates", split=split).most == size
    assert len(list(Extract("dates", split="valid").draw())) == SIZES["valid"]


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        (name, pair)
        for name, embedded in CORPORA.items()
        if name != "manual-pages"  # of which a machine may have none
        for pair in embedded.pairs or (None,)
    ],
)
def test_every_corpus_keeps_the_interface(name: str, pair: str | None) -> None:
    assert CORPORA[name].pairs or CORPORA[name].sides
    corpus = open_corpus(name, pair)
    assert isinstance(corpus, EmbeddedCorpus)
    assert {"train", "valid", "test"} <= set(corpus.splits)
    for split in corpus.splits:
        example = next(corpus.examples(split, 1))
        assert isinstance(example, Example)
        assert not {"\n", "\t"} & {*example.source, *example.target}


@pytest.mark.parametrize("name", [name for name in CORPORA if CORPORA[name].pairs])
def test_the_pairs_that_are_listed_are_those_of_the_corpus(name: str) -> None:
    assert set(CORPORA[name].pairs) == set(import_module(CORPORA[name].module).PAIRS)


@pytest.mark.parametrize("text", ["train.tsv", "a.en|a.de", "C:\\dates.tsv", "dates.tsv", ""])
def test_files_are_not_taken_for_corpora(text: str) -> None:
    assert not is_extract(text)
