"""Small models that have learned nothing: their numbers must fit together all the same."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from regard.config import Recipe, TrainingSection, TransformerSection
from regard.folder import save
from regard.systems import build
from regard.text import Characters, Tokenizer, Words

WORDS = ["ein", "Hund", "sieht", "eine", "Katze", "im", "Haus", "机", "器", "."]

Folder = Callable[..., Path]


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Make the folder of a model with random weights."""

    def make(
        name: str = "model",
        *,
        seed: int = 0,
        tokenizer: Tokenizer | None = None,
        **changes: object,
    ) -> Path:
        words = tokenizer or Words(WORDS)
        sizes = {"d_model": 12, "n_heads": 3, "d_feedforward": 20, "n_layers": 2, "dropout": 0.0}
        section = TransformerSection(**{**sizes, "n_decoder_layers": 3, **changes})  # type: ignore[arg-type]
        torch.manual_seed(seed)
        model = build(section, len(words), len(words))
        with torch.no_grad():  # far from uniform, so that outputs differ
            for parameter in model.parameters():
                parameter.mul_(1.5)
        training = TrainingSection(decodes_at_validation=False)
        recipe = Recipe(model=section, training=training)
        return save(tmp_path / name, model, recipe, words, words)

    return make


@pytest.fixture
def spelling() -> Characters:
    """A tokenizer that makes many pieces of a word."""
    return Characters.train(["ab cd efg h"])
