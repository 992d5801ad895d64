"""What holds for every system: found by its recipe, named by its words, opened as it is."""

from pathlib import Path

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


@pytest.mark.parametrize("preset", ["ntm", "gpt-tiny", "bert-tiny", "caption-soft", "dialogue"])
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
        assert {"trace", "ablate", "importance", "evaluate", "use"} <= set(public)
