"""From a model folder to a model that is ready for use."""

from pathlib import Path

import torch

from regard.folder import LoadedModel, find_moment, put_into, read_folder, read_weights
from regard.folder.weights import WEIGHTS
from regard.systems.system import build


def load(path: str | Path, device: str | torch.device = "cpu") -> LoadedModel:
    """Open a model folder; the model is ready for use (in evaluation mode)."""
    return _load(path, (WEIGHTS,), Path(path) / WEIGHTS, device)


def load_moment(
    folder: str | Path, update: int | None, device: str | torch.device = "cpu"
) -> LoadedModel:
    """The model as it was after an update, ready for use."""
    return _load(folder, (), find_moment(folder, update).path, device)


def _load(
    path: str | Path, needs: tuple[str, ...], weights: Path, device: str | torch.device
) -> LoadedModel:
    found = read_folder(path, needs=needs)
    tokenizers = found.source_tokenizer, found.target_tokenizer
    # Building draws first weights that nobody needs; the caller's random numbers stay as they are.
    with torch.random.fork_rng(devices=[]):
        model = build(found.recipe.model, *map(len, tokenizers))
    put_into(model, read_weights(weights), weights, adopts=True)
    model.to(device).eval()
    return LoadedModel(model, found.recipe, *tokenizers, found.path, found.format)
