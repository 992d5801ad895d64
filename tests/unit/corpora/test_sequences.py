"""Sequences to copy, to turn round and to sort: the target follows from the source alone."""

from collections import Counter
from itertools import islice, pairwise

import pytest

from regard.corpora import Example, open_corpus, parse_extract, split_of
from regard.corpora.sequences import SYMBOLS, Copy, Reverse, Sequences, Sort
from regard.errors import DataError

NAMES = ("copy", "reverse", "sort")
SPLITS = ("train", "valid", "test", "long")


def drawn(name: str, split: str, seed: int, n: int) -> list[Example]:
    return list(islice(open_corpus(name).examples(split, seed), n))


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("name", NAMES)
def test_the_target_is_what_the_name_says(name: str, split: str) -> None:
    rule = {"copy": list, "reverse": lambda words: words[::-1], "sort": sorted}[name]
    for example in drawn(name, split, 3, 60):
        words = example.source.split(" ")
        assert example.target.split(" ") == rule(words)
        assert set(words) <= set("0123456789")


@pytest.mark.parametrize("name", NAMES)
def test_the_alignment_joins_each_symbol_with_itself(name: str) -> None:
    for example in drawn(name, "train", 2, 100):
        assert example.source_side is not None
        assert example.target_side is not None
        source, target = example.source_side.words, example.target_side.words
        assert (" ".join(source), " ".join(target)) == (example.source, example.target)
        assert sorted(s for s, _ in example.alignment) == list(range(len(source)))
        assert [t for _, t in example.alignment] == list(range(len(target)))
        assert all(source[s] == target[t] for s, t in example.alignment)
        assert example.tags == (f"length-{len(source)}",)


def test_equal_symbols_keep_their_order_when_sorted() -> None:
    for example in drawn("sort", "long", 1, 20):
        words = example.target.split(" ")
        for (s, t), (next_s, next_t) in pairwise(example.alignment):
            assert words[t] < words[next_t] or s < next_s


def test_lengths_come_alike_and_long_ones_are_held_out() -> None:
    lengths = {
        split: Counter(len(example.source.split()) for example in drawn("copy", split, 1, n))
        for split, n in zip(SPLITS, (2000, 200, 200, 2000), strict=True)
    }
    assert set(lengths["train"]) == set(range(1, 21))
    assert set(lengths["long"]) == set(range(21, 41))
    assert {*lengths["valid"], *lengths["test"]} <= set(range(1, 21))
    # Ten symbols make ten sequences of one.
    assert lengths["train"][1] <= 10
    for split, first in (("train", 4), ("long", 21)):
        assert all(n > 60 for length, n in lengths[split].items() if length >= first)


def test_splits_share_no_source_whatever_the_seed() -> None:
    sources = {
        split: {e.source for seed in (1, 2) for e in drawn("reverse", split, seed, 200)}
        for split in SPLITS
    }
    for split in ("train", "valid", "test"):
        assert {split_of(source) for source in sources[split]} == {split}
    for one in SPLITS:
        for other in SPLITS:
            assert one == other or not sources[one] & sources[other]


def test_examples_are_distinct_and_follow_from_the_seed() -> None:
    first = [example.source for example in drawn("copy", "train", 3, 2000)]
    assert len(set(first)) == 2000
    assert [example.source for example in drawn("copy", "train", 3, 2000)] == first
    assert not set(first[:200]) <= {example.source for example in drawn("copy", "train", 4, 200)}
    # The same sequences for all three, so that what is learned from them can be compared.
    assert [example.source for example in drawn("sort", "train", 3, 2000)] == first


def test_what_was_drawn_stays_the_same() -> None:
    """Another VERSION is due where this changes."""
    assert [example.source for example in parse_extract("copy:3").draw()] == [
        "1 0 6 8 2 0 3 3 8 5 3 8 2",
        "8 5 0 7 4 2",
        "3 7 0 8 1 9 7 8 6 4 6 3 4 7",
    ]


def test_few_sequences_are_drawn_to_the_last() -> None:
    corpus = Copy(n_symbols=3, longest=4, longest_held_out=5)
    found = {
        split: [example.source for example in corpus.examples(split, 1)] for split in corpus.splits
    }
    n_short = sum(len(found[split]) for split in ("train", "valid", "test"))
    assert n_short == 3 + 9 + 27 + 81
    assert len(found["long"]) == len(set(found["long"])) == 3**5
    assert len({source for sources in found.values() for source in sources}) == n_short + 3**5


def test_other_symbols_and_lengths() -> None:
    corpus = Reverse(n_symbols=12, shortest=5, longest=6, longest_held_out=8)
    short = list(islice(corpus.examples("train", 1), 200))
    assert {len(example.source.split()) for example in short} == {5, 6}
    assert {word for example in short for word in example.source.split()} == set(SYMBOLS[:12])
    long = list(islice(corpus.examples("long", 1), 200))
    assert {len(example.source.split()) for example in long} == {7, 8}
    letters = next(Sort(n_symbols=36, shortest=20).examples("train", 1)).target.split()
    assert letters == sorted(letters, key=SYMBOLS.index)


def test_names_on_the_command_line() -> None:
    assert [len(list(parse_extract(name).draw())) for name in ("copy:valid", "sort:long:7")] == [
        500,
        7,
    ]
    assert parse_extract("reverse:long").sides == ("given", "reversed")
    assert parse_extract("copy").version == "1"


@pytest.mark.parametrize(
    ("kind", "options", "sentence"),
    [
        (Copy, {"n_symbols": 1}, "the corpus copy has 2 to 36 symbols, not 1."),
        (Sort, {"n_symbols": 37}, "the corpus sort has 2 to 36 symbols, not 37."),
        (
            Reverse,
            {"longest": 50},
            "the corpus reverse cannot have lengths from 1 to 50 and then to 40: what is needed is "
            "1 <= shortest <= longest < longest_held_out.",
        ),
        (
            Copy,
            {"shortest": 0},
            "the corpus copy cannot have lengths from 0 to 20 and then to 40: what is needed is "
            "1 <= shortest <= longest < longest_held_out.",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    kind: type[Sequences], options: dict[str, int], sentence: str
) -> None:
    with pytest.raises(DataError) as caught:
        kind(**options)
    assert str(caught.value) == sentence


def test_an_unknown_split_is_refused_at_once() -> None:
    with pytest.raises(DataError) as caught:
        Copy().examples("tests", 1)
    assert str(caught.value) == (
        "the corpus copy has no split 'tests': choose train, valid, test, long."
    )
