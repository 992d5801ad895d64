"""Small language models that have learned nothing, but are far from uniform."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from regard.config import read_recipe
from regard.folder import save
from regard.systems import build
from regard.text import Tokenizer, learn

TEXT = ["the animal didn't cross the street, because it was too tired\n", "那只动物没有过马路\n"]
SIZES = ["model.n_layers=3", "model.d_model=12", "model.n_heads=2", "model.d_feedforward=10"]

Folder = Callable[..., Path]


@pytest.fixture(scope="session")
def tokenizers() -> dict[str, Tokenizer]:
    """One of each kind."""
    return {
        "characters": learn("characters", TEXT),
        "words": learn("words", TEXT),
        "sentencepiece": learn(
            "sentencepiece", TEXT * 5, 320, keeps_layout=True, is_upper_limit=True
        ),
    }


@pytest.fixture
def folder(tmp_path: Path, tokenizers: dict[str, Tokenizer]) -> Folder:
    """Make a model folder: of a kind, with such tokens."""

    def make(kind: str = "gpt", tokens: str = "words", *changes: str) -> Path:
        recipe = read_recipe(f"{kind}-tiny", [*SIZES, "model.context=40", *changes])
        tokenizer = tokenizers[tokens]
        torch.manual_seed(3)
        model = build(recipe.model, len(tokenizer), len(tokenizer))
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(2.5)
            torch.nn.init.normal_(model.output.weight, std=0.4)
        return save(tmp_path / f"{kind}-{tokens}", model, recipe, tokenizer, tokenizer)

    return make
