"""Minimal pairs of the phrasebook: one place differs, known ones are new, held-out ones unseen."""

from pathlib import Path

import pytest

from regard.cli.main import main
from regard.corpora.phrasebook import COMBINATIONS
from regard.corpora.phrasebook.challenge import PARADIGMS, SETS, SpoiledPair, draw_pairs
from regard.corpora.phrasebook.lexicon import ADJECTIVES, NOUNS, VERBS
from regard.corpora.phrasebook.phrasebook import split_of_sentence
from regard.data.minimal_pairs import read_minimal_pairs

SIZE = 2


@pytest.fixture(scope="module", params=SETS)
def drawn(request: pytest.FixtureRequest) -> tuple[str, list[tuple[str, SpoiledPair]]]:
    return request.param, list(draw_pairs(request.param, list(PARADIGMS), SIZE, 1, "en"))


def held_out_words() -> set[str]:
    """All English forms of what is held out."""
    names = set().union(*COMBINATIONS.values())
    nouns = {form for name in names if name in NOUNS for form in NOUNS[name].english}
    verbs = {form for name in names if name in VERBS for form in VERBS[name].english}
    return nouns | verbs | {ADJECTIVES[name].english for name in names if name in ADJECTIVES}


def changed(good: str, bad: str) -> tuple[str, str]:
    """What is left of both without the beginning and the end that they share."""
    start = next(i for i, (a, b) in enumerate(zip(good, bad, strict=False)) if a != b)
    end = 0
    while end < min(len(good), len(bad)) - start and good[-1 - end] == bad[-1 - end]:
        end += 1
    return good[start : len(good) - end], bad[start : len(bad) - end]


def test_there_are_enough_paradigms() -> None:
    for paradigms in PARADIGMS.values():
        assert len({one.label for one in paradigms}) == len(paradigms) >= 12


def test_each_paradigm_is_full_of_different_pairs(
    drawn: tuple[str, list[tuple[str, SpoiledPair]]],
) -> None:
    for language, paradigms in PARADIGMS.items():
        for one in paradigms:
            mine = [pair for of, pair in drawn[1] if of == language and pair.paradigm is one]
            assert len({pair.good for pair in mine}) == len(mine) == SIZE


def test_one_place_differs(drawn: tuple[str, list[tuple[str, SpoiledPair]]]) -> None:
    for language, pair in drawn[1]:
        assert pair.good != pair.bad
        most = 9 if language == "zh" else 22  # "expensive motorbike" has changed places
        assert max(map(len, changed(pair.good, pair.bad))) <= most, pair


def test_training_shows_neither(drawn: tuple[str, list[tuple[str, SpoiledPair]]]) -> None:
    kind, pairs = drawn
    for _, pair in pairs:
        words = set(pair.source.lower().rstrip(".?").split())
        if kind == "known":
            assert split_of_sentence(pair.source) != "train"
        else:
            assert words & held_out_words(), pair.source


def test_the_seed_decides() -> None:
    first, again, other = (list(draw_pairs("held-out", ["en"], 1, seed)) for seed in (1, 1, 2))
    assert first == again != other


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["data", "phrasebook", "--challenge", "--test-size", "1"]
    for more in ([], ["--pair", "zh-en", "--out", str(tmp_path)]):
        with pytest.raises(SystemExit) as left:
            main([*asked, *more])
        assert bool(left.value.code) == (not more)
    assert "--out" in capsys.readouterr().err
    assert {one.name for one in tmp_path.iterdir()} == {f"{kind}.zh-en.tsv" for kind in SETS}
    found = read_minimal_pairs(tmp_path / "held-out.zh-en.tsv")
    assert len(found) == len(PARADIGMS["en"])
    assert all("。" in one.source or "？" in one.source for one in found)
    with pytest.raises(SystemExit) as left:
        main(["data", "dates", "--challenge", "--out", str(tmp_path / "other")])
    assert left.value.code == 2
