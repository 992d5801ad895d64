"""One table a format, read in both directions: the names of its layers, the keys of config.json.

A row of layers stands for weight and bias; ``#`` counts the layers of a stack. Where a format keeps
several of our layers as one, side by side, the row names them all.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import torch

from regard.attention import Learned, Sinusoidal
from regard.config.alone import Alone
from regard.config.network import Heads
from regard.errors import ModelFolderError
from regard.folder.foreign.given import Given
from regard.folder.foreign.huggingface import HuggingFaceFolder
from regard.folder.weights import Weights
from regard.models.sublayers import Embedding
from regard.shapes import Float, Tensor

Layers = dict[str | tuple[str, ...], str]  # ours, theirs
Turn = Callable[[str, Tensor], Tensor]  # the tensor of our name as it lies on the other side

ACTIVATIONS = {  # theirs, ours; of several names for one, the last is written
    "relu": "relu",
    "gelu_python": "gelu",
    "gelu": "gelu",
    "gelu_fast": "gelu-tanh",
    "gelu_pytorch_tanh": "gelu-tanh",
    "gelu_new": "gelu-tanh",
    "swish": "silu",
    "silu": "silu",
}
_WRITTEN = {ours: theirs for theirs, ours in ACTIVATIONS.items()}


class Key(NamedTuple):
    """A key of a recipe, its name in config.json, and what it is there unless said."""

    ours: str
    theirs: str
    default: object = ...


def _as_it_is(name: str, tensor: Tensor) -> Tensor:
    return tensor


def read_layers(
    given: Given, layers: Layers, n_layers: int, turn: Turn = _as_it_is
) -> dict[str, Tensor]:
    """The weights of a folder by our names."""
    weights: dict[str, Tensor] = {}
    for ours, theirs in _tensors(layers, n_layers):
        parts = turn(ours[0], given.take(theirs)).contiguous().chunk(len(ours))
        weights |= zip(ours, parts, strict=True)
    return weights


def written_layers(
    own: Weights, layers: Layers, n_layers: int, turn: Turn = _as_it_is
) -> dict[str, Tensor]:
    """Our weights by the names of the format."""
    return {
        theirs: turn(ours[0], torch.cat([own[one] for one in ours])).contiguous()
        for ours, theirs in _tensors(layers, n_layers)
    }


def under(ours: str, theirs: str, layers: Layers) -> Layers:
    """The rows of layers below these names."""
    return {
        tuple(f"{ours}.{one}" for one in _several(row)): f"{theirs}.{name}"
        for row, name in layers.items()
    }


def _several(row: str | tuple[str, ...]) -> tuple[str, ...]:
    return (row,) if isinstance(row, str) else row


def _tensors(layers: Layers, n_layers: int) -> Iterator[tuple[tuple[str, ...], str]]:
    for row, theirs in layers.items():
        for i in map(str, range(n_layers if "#" in theirs else 1)):
            for part in ("weight", "bias"):
                ours = tuple(f"{one.replace('#', i)}.{part}" for one in _several(row))
                yield ours, f"{theirs.replace('#', i)}.{part}"


def read_config(folder: HuggingFaceFolder, keys: Sequence[Key], model: str) -> dict[str, Any]:
    """What config.json states, by the keys of our model's recipe."""
    found: dict[str, Any] = {}
    by: dict[str, str] = {}
    for ours, theirs, default in keys:
        value = folder.config[theirs] if default is ... else folder.config.get(theirs, default)
        if ours == "activation":
            value = _activation(folder, value, model)
        if found.setdefault(ours, value) != value:
            raise ModelFolderError(
                f"{folder.path} has {by[ours]} = {found[ours]} and {theirs} = {value}, and "
                f"Regard's {model} has one number for both: such a model cannot be read"
            )
        by.setdefault(ours, theirs)
    return found


def _activation(folder: HuggingFaceFolder, theirs: object, model: str) -> str:
    if not isinstance(theirs, str) or theirs not in ACTIVATIONS:
        raise ModelFolderError(
            f"{folder.path} has the activation {theirs!r}, and Regard's {model} has "
            f"{', '.join(_WRITTEN)}: such a model cannot be read"
        )
    return ACTIVATIONS[theirs]


def written_config(section: Heads, keys: Sequence[Key]) -> dict[str, Any]:
    """What config.json says of a model of ours."""
    return {theirs: _written(section, ours) for ours, theirs, _ in keys}


def _written(section: Heads, ours: str) -> Any:
    value = getattr(section, ours)
    if ours == "activation":
        return _WRITTEN[value]
    if ours.endswith("dropout"):
        value = section.dropout if value is None else value
        return 0.1 if value == "auto" else value
    return value


def places(embedding: Embedding, n_places: int) -> Float[Tensor, "L D"]:
    """The table that is added to words: sines become one, and no places one of zeros."""
    positions = embedding.positions
    if isinstance(positions, Learned | Sinusoidal):
        return positions.prepared(n_places)[:n_places].detach().cpu().float().clone()
    return torch.zeros(n_places, embedding.weight.shape[1])


class WordsAndPlaces(NamedTuple):
    """The tables of a model that reads one text, as BERT and GPT-2 keep them: added as they are.

    Where ours makes words larger by √d, the table is written so, and is no longer the output's.
    """

    words: Float[Tensor, "V D"]
    places: Float[Tensor, "L D"]
    is_tied: bool  # to the output

    @classmethod
    def of(cls, embedding: Embedding, order: Sequence[int], section: Alone) -> "WordsAndPlaces":
        """Those of an embedding, whose rows are written in that order."""
        words = embedding.weight.detach().float()[torch.tensor(order)] * embedding.scale
        is_tied = section.tie == "two-way" and embedding.scale == 1.0
        return cls(words, places(embedding, section.context), is_tied)
