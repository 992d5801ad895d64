"""How much heads of language models matter: a gradient, held against small changes."""

from pathlib import Path

import pytest
import torch

from regard.attention import Site
from regard.config import read_recipe
from regard.errors import DataError
from regard.folder import save
from regard.inspection.ablation import scaled
from regard.inspection.heads import Head
from regard.systems import TextEncoder, TextGenerator, build, open_model
from regard.text import Words

WORDS = Words(["the", "cat", "sat", "on", "a", "mat", "."])
SIZES = ["model.n_layers=2", "model.d_model=12", "model.n_heads=2", "model.d_feedforward=10"]
TEXTS = ["the cat sat on the mat .", "a mat ."]


def folder(place: Path, kind: str) -> Path:
    recipe = read_recipe(f"{kind}-tiny", [*SIZES, "model.context=9"])
    torch.manual_seed(3)
    model = build(recipe.model, len(WORDS), len(WORDS))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2)
    return save(place / kind, model, recipe, WORDS, WORDS)


def test_of_a_writer(tmp_path: Path) -> None:
    writer = TextGenerator.open(folder(tmp_path, "gpt"))
    found = open_model(writer).importance(TEXTS)
    assert (found.n_sentences, len(found.of)) == (2, 4)
    expected = sum(_slope(writer, text) for text in TEXTS) / 2
    assert found.of[Head("decoder", 1, 0)] == pytest.approx(expected, rel=2e-2)


def _slope(writer: TextGenerator, text: str) -> float:
    """By how much the loss of one text changes with a head's factor, from both sides."""
    ids, site = WORDS.encode(text), Site("decoder", 1, "decoder.layers.1.attention.weights")
    losses = []
    for factor in (1.01, 0.99):
        with torch.inference_mode(), scaled(writer.model, {site: torch.tensor([[factor, 1.0]])}):
            table = writer.model(torch.tensor([[2, *ids[:-1]]]))[0].double().log_softmax(-1)
        losses.append(-float(table[torch.arange(len(ids)), ids].sum()))
    return abs(losses[0] - losses[1]) / 0.02


def test_of_a_finder_every_word_is_taken_out_once(tmp_path: Path) -> None:
    finder = TextEncoder.open(folder(tmp_path, "bert"))
    found = open_model(finder).importance(TEXTS)
    assert found.n_sentences == 7 + 3  # nothing is left out: the beginning and the end fit too
    assert {head.kind for head in found.of} == {"encoder"}
    together = [open_model(finder).importance([text]) for text in TEXTS]
    head = found.ranked[-1]
    mean = (7 * together[0].of[head] + 3 * together[1].of[head]) / 10
    assert found.of[head] == pytest.approx(mean, rel=1e-4)  # padding changes nothing
    assert open_model(finder).ablate("the cat [MASK] on the mat .", head).changes


def test_no_texts(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"^no sentences were given"):
        TextGenerator.open(folder(tmp_path, "gpt")).importance(["", ""])
