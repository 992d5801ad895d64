"""The average of several checkpoints: one model, usually better than each (section 6.1)."""

from collections.abc import Sequence
from pathlib import Path

import torch

from regard.errors import ModelFolderError, UsageError
from regard.folder.weights import WEIGHTS, Weights, read_weights
from regard.shapes import Tensor


def average(sources: Sequence[str | Path | Weights]) -> dict[str, Tensor]:
    """``mean(w₁, …, wₙ)``, summed in float64 and given back in the first one's types.

    A source is a state dict, a weights file, or a folder that has one; files are open one at a
    time. What is not a floating-point number is taken from the last.
    """
    if not sources:
        raise UsageError("there is nothing to average: give at least one checkpoint")
    sums: dict[str, Tensor] = {}
    first: dict[str, Tensor] = {}
    for source in sources:
        weights = _read(source)
        first = first or dict(weights)
        _check_alike(first, weights, source)
        for name, tensor in weights.items():
            if not tensor.is_floating_point():
                sums[name] = tensor
            elif name in sums:
                sums[name] += tensor.detach()
            else:
                sums[name] = tensor.detach().to(torch.float64, copy=True)
    return {
        name: (total / len(sources)).to(first[name].dtype) if total.is_floating_point() else total
        for name, total in sums.items()
    }


def _read(source: str | Path | Weights) -> Weights:
    if not isinstance(source, str | Path):
        return source
    path = Path(source)
    return read_weights(path / WEIGHTS if path.is_dir() else path)


def _check_alike(first: Weights, weights: Weights, source: str | Path | Weights) -> None:
    if first.keys() == weights.keys() and all(first[n].shape == weights[n].shape for n in first):
        return
    where = f"{source} has" if isinstance(source, str | Path) else "one of them has"
    differing = sorted(first.keys() ^ weights.keys()) or [
        name for name in first if first[name].shape != weights[name].shape
    ]
    raise ModelFolderError(
        f"checkpoints of different models cannot be averaged: {where} another {differing[0]} "
        "than the first"
    )
