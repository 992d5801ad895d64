"""Opening a folder for what its model can do."""

from pathlib import Path
from typing import TypeVar

import torch

from regard.errors import UsageError
from regard.folder import LoadedModel, load
from regard.models import Classifier, Model, Tagger

Kind = TypeVar("Kind", bound=Model)

_NAMES: dict[type[Model], str] = {Classifier: "bert-classify", Tagger: "bert-tag"}  # as trained


def open_as(
    kind: type[Kind], folder: str | Path, device: str | torch.device, *, cannot: str
) -> tuple[LoadedModel, Kind]:
    """The folder and its frozen model, if it is of that class; ``cannot`` says what others lack."""
    loaded = load(folder, device)
    model = loaded.model
    if not isinstance(model, kind):
        raise UsageError(
            f"{loaded.path} holds a model of kind {loaded.recipe.model.kind}, which {cannot}: give "
            f"the folder of a {_NAMES.get(kind, kind.__name__.lower())}"
        )
    model.freeze()
    return loaded, model
