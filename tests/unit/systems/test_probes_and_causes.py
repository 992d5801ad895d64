"""Probes and causes on the phrasebook, by a model that has learned nothing."""

import json
from pathlib import Path

import pytest

import regard
from regard.config import read_recipe
from regard.data import read_annotated_pairs
from regard.errors import DataError, WrongModelError
from regard.folder import save
from regard.inspection import ablated
from regard.systems import Translator, build
from regard.text import Words

CORPUS = "phrasebook:en-fr:test:90"


@pytest.fixture(scope="module")
def translator(tmp_path_factory: pytest.TempPathFactory) -> Translator:
    sides = [side for pair in read_annotated_pairs(CORPUS) for side in (pair.source, pair.target)]
    words = Words(sorted({word.text for side in sides for word in side.words}))
    sizes = {"n_layers": 2, "d_model": 12, "n_heads": 2, "d_feedforward": 10, "dropout": 0.0}
    changes = [f"model.{key}={value}" for key, value in sizes.items()]
    recipe = read_recipe("transformer-tiny", changes)
    model = build(recipe.model, len(words), len(words))
    return Translator.open(save(tmp_path_factory.mktemp("m") / "m", model, recipe, words, words))


def test_every_layer_is_probed(translator: Translator) -> None:
    found = translator.probe(CORPUS, most=40)
    assert set(found.tasks) == {"relation", "tree"}  # the phrasebook tells no parts of speech
    assert (found.n_learned, found.n_measured) == (40, 40)
    for layers in found.tasks.values():
        assert [one.layer for one in layers] == [0, 1, 2]
        assert all(0 <= one.low <= one.score <= one.high <= 1 for one in layers)
    best = found.best("relation")
    assert best.selectivity == best.score - best.control
    assert best.score > found.baselines["relation"]
    assert 0.3 < found.baselines["tree"] < 0.6
    with pytest.raises(DataError, match="20 at least"):
        translator.probe("phrasebook:en-fr:test:9")


def test_what_is_lost_is_a_difference_of_log_probabilities(
    translator: Translator, tmp_path: Path
) -> None:
    report = tmp_path / "heads.json"
    follows = {"kind": "encoder", "layer": 1, "head": 0}
    spread = {"heads": [], "gain": []}
    report.write_text(json.dumps({"relations": {"det": follows}, "spread": spread}))
    found = translator.causes(CORPUS, of="encoder.1", report=report)
    assert (found.n_tried, found.n_examples) == (2, 90)
    groups = {(one.group, one.name): one for one in found.causes if not one.is_reported}
    assert ("construction", "negation") in groups
    assert ("relation", "det") in groups
    (told,) = (one for one in found.causes if one.is_reported)
    assert (told.name, told.head.name) == ("det", "encoder.1.0")
    # One head by hand: of all tokens of sentences with a negation.
    pairs = list(read_annotated_pairs(CORPUS))
    some = [(one.source.text, one.target.text) for one in pairs if "negation" in one.tags]
    before = [value for one in translator.score(some) for value in one.log_probabilities]
    with ablated(translator.models[0], "encoder.1.0"):
        after = [value for one in translator.score(some) for value in one.log_probabilities]
    lost = (sum(before) - sum(after)) / len(before)
    assert found.lost["encoder.1.0"]["construction: negation"] == pytest.approx(lost, abs=1e-5)


def test_only_translators_have_causes(tmp_path: Path) -> None:
    words = Words(["a", "b"])
    recipe = read_recipe("bert-tiny", ["model.d_model=8", "model.n_heads=2", "model.n_layers=1"])
    folder = save(tmp_path / "b", build(recipe.model, len(words), len(words)), recipe, words, words)
    with pytest.raises(WrongModelError):
        regard.load(folder).causes(CORPUS)
