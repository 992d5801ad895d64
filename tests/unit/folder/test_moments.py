"""Weights of a run after some of its updates: which there are, and the model they make."""

from pathlib import Path

import pytest
import torch

from regard.config import Recipe, TransformerSection
from regard.errors import ModelFolderError
from regard.folder import Checkpoints, begin, keep_moment, moments_of, save_weights
from regard.models import Model
from regard.systems import build, load_moment
from regard.text import Words

WORDS = Words(list("abc"))
SECTION = TransformerSection(d_model=8, n_heads=2, d_feedforward=12, n_layers=1)


def model(seed: int) -> Model:
    torch.manual_seed(seed)
    return build(SECTION, len(WORDS), len(WORDS))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return begin(tmp_path / "run", Recipe(model=SECTION), WORDS, WORDS)


def test_a_run_that_has_kept_nothing_has_no_moments(run: Path) -> None:
    assert moments_of(run) == ()
    with pytest.raises(ModelFolderError, match=r"kept no weights of update 5: those of none are"):
        load_moment(run, 5)


def test_moments_are_those_kept_those_to_go_on_from_and_what_the_folder_holds(run: Path) -> None:
    for update in (0, 20):
        keep_moment(run, update, model(update))
    for update in (10, 20):
        Checkpoints(run).save(update, model(update), {})
    assert [one.update for one in moments_of(run)] == [0, 10, 20]
    save_weights(run, model(99))
    (run / "training/moments/notes.safetensors").touch()
    assert [one.update for one in moments_of(run)] == [0, 10, 20, None]
    for update, seed in ((0, 0), (10, 10), (20, 20), (None, 99)):
        loaded = load_moment(run, update)
        assert not loaded.model.training
        for name, tensor in model(seed).state_dict().items():
            assert torch.equal(loaded.model.state_dict()[name], tensor)


def test_kept_again_a_moment_is_replaced(run: Path) -> None:
    keep_moment(run, 3, model(1))
    keep_moment(run, 3, model(2))
    assert len(moments_of(run)) == 1
    found = load_moment(run, 3).model.state_dict()
    assert all(torch.equal(found[name], one) for name, one in model(2).state_dict().items())


def test_what_is_not_there_is_said_with_what_is(run: Path) -> None:
    for update in (0, 1000):
        keep_moment(run, update, model(1))
    with pytest.raises(ModelFolderError) as refusal:
        load_moment(run, 7)
    assert str(refusal.value) == (
        f"{run} has kept no weights of update 7: those of 0, 1,000 are there; training.keep_at "
        "says which are kept"
    )
