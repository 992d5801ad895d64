"""What holds for every system: found by its recipe, named by its words, opened as it is."""

from pathlib import Path

import numpy as np
import pytest
import torch

from regard.config import NETWORKS, preset_names, read_recipe
from regard.errors import WrongModelError
from regard.folder import save
from regard.systems import OpenedModel, build, load_system, open_model, system_of
from regard.text import Words, learn

SYSTEMS = sorted({name for network in NETWORKS.values() for name in network.systems.values()})
WORDS = ["a", "red", "circle", "the", "cat"]


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_says_what_it_is_for(name: str) -> None:
    system = load_system(name)
    assert system.name == name
    assert system.words.methods
    assert system.words.use.startswith("`regard ")
    assert all(hasattr(system.open, method) for method in system.words.methods)
    assert "{model}" in system.words.example


@pytest.mark.parametrize("name", preset_names())
def test_every_preset_has_a_system(name: str) -> None:
    recipe = read_recipe(name)
    assert system_of(recipe).name == recipe.model.systems[recipe.training.task]


@pytest.mark.parametrize(
    "preset", ["ntm", "gpt-tiny", "bert-tiny", "caption-soft", "dialogue", "sagan"]
)
def test_a_folder_is_opened_as_its_system(tmp_path: Path, preset: str) -> None:
    recipe = read_recipe(preset, ["model.dropout=0.0"])
    words = learn("words", [" ".join(WORDS)], has_turns=preset == "dialogue")
    assert isinstance(words, Words)
    torch.manual_seed(0)
    model = build(recipe.model, len(words), len(words))
    opened = open_model(save(tmp_path / preset, model, recipe, words, words))
    assert isinstance(opened, OpenedModel)
    assert type(opened) is system_of(recipe).open
    others = {m for one in SYSTEMS for m in load_system(one).words.methods}
    for method in others - set(dir(type(opened))):
        with pytest.raises(WrongModelError, match=f"does not {method}: `regard "):
            getattr(opened, method)


def test_what_a_user_has_in_hand_completes() -> None:
    for name in SYSTEMS:
        system = load_system(name)
        public = [one for one in dir(system.open) if not one.startswith("_")]
        assert {"trace", "retrace", "ablate", "importance", "evaluate", "use"} <= set(public)


@pytest.mark.parametrize(
    ("preset", "head"),
    [
        ("phrasebook", "cross.0.1"),
        ("gpt-tiny", "decoder.0.1"),
        ("bert-tiny", "encoder.0.1"),
        ("caption-soft", "cross.0.0"),
    ],
)
def test_a_trace_is_read_again_with_a_head_off(tmp_path: Path, preset: str, head: str) -> None:
    recipe = read_recipe(preset, ["model.dropout=0.0"])
    words = learn("words", [" ".join(WORDS)])
    torch.manual_seed(0)
    model = build(recipe.model, len(words), len(words))
    opened = open_model(save(tmp_path / preset, model, recipe, words, words))
    picture = np.random.default_rng(0).integers(0, 255, (64, 64, 3), np.uint8)
    source = {"caption-soft": picture, "bert-tiny": "the red [MASK] cat"}.get(preset, "a red cat")
    target = {"bert-tiny": "the red circle cat", "gpt-tiny": " the"}.get(preset, "a cat")
    before = opened.trace(source, target)
    after = opened.retrace(before, head)
    assert after.target == before.target
    kind, layer, _ = head.split(".")
    weights = [seen.site(kind, int(layer)).weights[:, 0] for seen in (before, after)]
    np.testing.assert_allclose(*weights, atol=1e-6)  # it looks as it did, and brings nothing back
    lost = opened.ablate(source, head, target=target)
    n_given = len(after.steps) - len(lost.scored_after.log_probabilities)
    assert [step.log_probability for step in after.steps[n_given:]] == pytest.approx(
        lost.scored_after.log_probabilities, abs=1e-4
    )
    assert any(abs(change) > 1e-6 for change in lost.changes)
