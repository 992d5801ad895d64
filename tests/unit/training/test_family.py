"""Every kind of model goes through the same loop and folder: trained, stopped, continued."""

from itertools import count
from pathlib import Path

import pytest
import torch

from regard.config import Recipe, parse_recipe
from regard.data import Batches, MemoryCorpus
from regard.models import EncoderDecoder
from regard.systems import Translator, build, load
from regard.text import Words
from regard.training import FolderKeeper, Ranks, Run, Validation, train

WORDS = Words(list("abcdefg"))
PAIRS = [([4 + i % 7, 4 + i % 5], [4 + i % 5, 4 + i % 7, 4 + i % 3]) for i in range(24)]

RECURRENT = "d_embedding = 6\nd_hidden = 10\ntie = 'none'"
HEADS = "d_model = 8\nn_heads = 2\nd_feedforward = 12"
MODELS = {
    "transformer": f"kind = 'transformer'\nn_layers = 1\n{HEADS}",
    "universal": f"kind = 'universal'\nn_steps = 3\n{HEADS}",
    "sutskever": f"kind = 'sutskever'\nn_layers = 2\n{RECURRENT}",
    "sutskever lstmn": f"kind = 'sutskever'\nn_layers = 1\nencoder_cell = 'lstmn'\n{RECURRENT}",
    "bahdanau": f"kind = 'bahdanau'\n{RECURRENT}",
    "bahdanau hard": f"kind = 'bahdanau'\nnormaliser = 'hard'\nscore = 'content'\n{RECURRENT}",
    "luong": f"kind = 'luong'\n{RECURRENT}",
    "luong local": f"kind = 'luong'\nnormaliser = 'local-p'\nreach = 2\n{RECURRENT}",
    "ntm": f"kind = 'ntm'\nn_slots = 5\nd_slot = 4\n{RECURRENT}",
    "convolutional": "kind = 'convolutional'\nn_layers = 2\nd_model = 8\nmax_length = 20",
}
TRAINING = """
updates = 6
batch_tokens = 24
learning_rate = 0.01
warmup = 2
validate_every = 3
save_every = 2
average_last = 2
accumulate = 1
"""
each = pytest.mark.parametrize("name", MODELS)


def recipe_of(name: str) -> Recipe:
    return parse_recipe(
        f"[model]\ndropout = 0.3\n{MODELS[name]}\n[text]\nkind = 'words'\nsize = 11\n"
        f"[training]{TRAINING}"
    )


def run(name: str, folder: Path, stops_after: int = 10**9) -> EncoderDecoder:
    """Train in this folder, or go on; a stop comes when it is asked for the n-th time."""
    recipe = recipe_of(name)
    torch.manual_seed(1)
    model = build(recipe.model, 11, 11)
    keeper = FolderKeeper(folder, Ranks(), 2)
    keeper.claim(recipe)
    keeper.begin(recipe, WORDS, WORDS)
    held_out = Validation(
        MemoryCorpus(PAIRS[:3]), [WORDS.decode(target) for _, target in PAIRS[:3]], WORDS
    )
    asked = count(1)
    for _ in train(
        Run(
            recipe=recipe.training,
            model=model,
            batches=Batches(MemoryCorpus(PAIRS), 1, 24),
            keeper=keeper,
            validation=held_out,
            ranks=Ranks(),
            device=torch.device("cpu"),
            should_stop=lambda: next(asked) >= stops_after,
        )
    ):
        pass
    return model


@each
def test_a_run_that_was_stopped_ends_as_one_that_was_not(name: str, tmp_path: Path) -> None:
    run(name, tmp_path / "whole")
    run(name, tmp_path / "parts", stops_after=4)
    run(name, tmp_path / "parts")
    whole, parts = (load(tmp_path / one).model.state_dict() for one in ("whole", "parts"))
    assert whole.keys() == parts.keys()
    for key, tensor in whole.items():
        assert torch.equal(tensor, parts[key]), key
    assert all(torch.isfinite(tensor).all() for tensor in whole.values())


@each
def test_what_was_saved_translates_scores_and_aligns(name: str, tmp_path: Path) -> None:
    model = run(name, tmp_path / "model").eval()
    translator = Translator.open(tmp_path / "model")
    (translations,) = translator.translate_each(["a b c"])
    assert len(translations) == 1
    (scored,) = translator.score([("a b c", "b a")])
    assert len(scored.log_probabilities) == 3
    assert max(scored.log_probabilities) <= 0.0
    if any(site.kind == "cross" for site in model.sites):
        found = translator.align("a b c", "b a")
        assert (len(found.matrix), len(found.matrix[0])) == (2, 3)
    assert load(tmp_path / "model").recipe.model == recipe_of(name).model
