"""Embedded corpora wherever examples are named: read, weighed, prepared, and noticed if changed."""

from itertools import islice
from pathlib import Path

import pytest

from regard.corpora import CORPORA, open_corpus
from regard.data import Pair, parse_spec, prepare, read_corpus, read_pairs
from regard.errors import DataError
from regard.text import Characters


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def dates(split: str, n: int) -> list[Pair]:
    examples = open_corpus("dates").examples(split, 1)
    return [Pair(example.source, example.target) for example in islice(examples, n)]


def test_its_pairs_are_read() -> None:
    assert list(read_pairs("dates:train:30")) == dates("train", 30)
    assert list(read_pairs("dates:combinations:5")) == dates("combinations", 5)


def test_a_weight_repeats_it() -> None:
    spec = parse_spec("dates:4*2")
    assert (spec.name, spec.format, spec.weight) == ("dates:train:4", "corpus", 2)
    assert list(read_pairs(spec)) == dates("train", 4) * 2


def test_it_goes_together_with_files() -> None:
    Path("pairs.tsv").write_text("today\t2026-11-16\n", encoding="utf-8")
    pairs = list(read_corpus(["pairs.tsv", "dates:test:2"]))
    assert pairs == [("today", "2026-11-16"), *dates("test", 2)]


def test_a_file_of_that_very_name_wins() -> None:
    Path("dates.tsv").write_text("a\tb\n", encoding="utf-8")
    assert list(read_pairs("dates.tsv")) == [("a", "b")]
    Path("dates:x.tsv").write_text("c\td\n", encoding="utf-8")
    assert list(read_pairs("dates:x.tsv")) == [("c", "d")]
    Path("dates").write_text("e\tf\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"^dates: how pairs are written in this file cannot be"):
        parse_spec("dates")


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("dates:tst", "dates:tst: there is no split 'tst'; did you mean test?"),
        (
            "dats:test",
            "dats:test: no such file. Nor is there a corpus of that name: there are "
            f"{', '.join(CORPORA)}.",
        ),
        ("x/a:b.tsv", "x/a:b.tsv: no such file. Paths are taken from the current folder."),
        ("dates:3*0", "dates:3*0: a weight is 1 or more; leave the file out instead."),
    ],
)
def test_mistakes(spec: str, sentence: str) -> None:
    with pytest.raises(DataError) as caught:
        parse_spec(spec)
    assert str(caught.value) == sentence


def test_it_is_prepared_once_and_anew_when_its_version_changes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    characters = Characters.train([text for pair in dates("train", 50) for text in pair])
    first = prepare(["dates:50*2"], "prepared", characters, held_out=["dates:valid:9"])
    assert (len(first), first.account.n_read) == (100, 50)
    assert first.account.n_held_out == 9
    assert first.account.n_overlap == 0
    header = Path("prepared/header.json")
    written_at = header.stat().st_mtime_ns
    again = prepare(["dates:50*2"], "prepared", characters, held_out=["dates:valid:9"])
    assert again.fingerprint == first.fingerprint
    assert header.stat().st_mtime_ns == written_at
    others = (["dates:51*2"], ["dates:50"])
    found = {prepare(other, "other", characters).fingerprint for other in others}
    assert len(found | {first.fingerprint}) == 3
    monkeypatch.setattr("regard.corpora.dates.VERSION", "2")
    changed = prepare(["dates:50*2"], "prepared", characters, held_out=["dates:valid:9"])
    assert changed.fingerprint != first.fingerprint


def test_more_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.corpora.dates.corpus.shuffled", lambda n, seed: iter(range(40)))
    n = len(list(open_corpus("dates").examples("train", 1)))
    assert 0 < n < 40
    with pytest.raises(DataError) as caught:
        list(read_pairs("dates:40"))
    assert str(caught.value) == (
        f"dates:train:40: there are only {n} different examples: ask for {n} or fewer."
    )
