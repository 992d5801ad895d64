"""Weights as a safetensors file: each tensor once, under the first of its names."""

import os
from collections.abc import Mapping
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn

from regard.errors import ModelFolderError
from regard.files import CHECKSUMS, is_damaged, whole_file
from regard.shapes import Tensor

WEIGHTS = "weights.safetensors"

Weights = Mapping[str, Tensor]


def write_weights(path: Path, weights: nn.Module | Weights, *, is_summed: bool = False) -> None:
    """Write the weights of a model, or given ones, in place of what the file held."""
    with whole_file(path, is_summed=is_summed) as partial:
        # One entry: safetensors writes several in any order, and equal weights are equal files.
        save_file(_ready(weights), partial, {"format": "pt"})


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a file by name; where its checksum was kept, it is as it was written."""
    try:
        require_sound(path)
        return dict(load_file(path))
    except FileNotFoundError as error:
        raise ModelFolderError(f"there are no weights at {path}") from error
    except (SafetensorError, OSError) as error:
        raise ModelFolderError(
            f"{path} is damaged or was cut short ({error}): copy it again from where it came "
            "from, or train again"
        ) from error


def require_sound(path: Path) -> None:
    """Refuse a file that is not as it was written, where its checksum was kept."""
    if is_damaged(path):
        raise ModelFolderError(
            f"{path} is damaged: its checksum is not the one in {CHECKSUMS} beside it; copy both "
            "again from where they came from, or, if you changed the file yourself, take its line "
            f"out of {CHECKSUMS}"
        )


def put_into(
    model: nn.Module,
    weights: Weights,
    where: str | Path = "the weights",
    asking: str = "recipe",
    *,
    adopts: bool = False,
) -> None:
    """Copy weights into a model in place; every name and shape must fit what asks for them.

    One that adopts them holds the tensors given, which may be a file's own pages (on Windows such a
    file could not be replaced, and they are copied).
    """
    own = model.state_dict()
    wanted = unique(own)
    # A tied tensor may come under any of its names, or under all of them.
    unexpected = [name for name in weights if name not in own]
    given = {_key(own[name]) for name in weights if name in own}
    missing = [name for name, tensor in wanted.items() if _key(tensor) not in given]
    if missing or unexpected:
        what = f"lacks {missing[0]}" if missing else f"has {unexpected[0]}, which the model has not"
        more = len(missing) + len(unexpected) - 1
        also = f" (and {more} more)" if more else ""
        raise ModelFolderError(
            f"{where} does not fit the {asking}: it {what}{also}; {asking} and weights are of "
            "different models, take both from one"
        )
    for name, tensor in weights.items():
        if tensor.shape != own[name].shape:
            raise ModelFolderError(
                f"{where} does not fit the {asking}: {name} has shape {_shape(tensor)}, and the "
                f"{asking} and tokenizer ask for {_shape(own[name])}; they are of different "
                "models, take all from one"
            )
    with torch.no_grad():
        parameters = dict(model.named_parameters(remove_duplicate=False))
        for name, tensor in weights.items():
            if adopts and os.name == "posix" and name in parameters and _is_like(tensor, own[name]):
                parameters[name].data = tensor
            else:
                own[name].copy_(tensor)


def _is_like(tensor: Tensor, own: Tensor) -> bool:
    return (tensor.dtype, tensor.device) == (own.dtype, own.device) and tensor.is_contiguous()


def unique(weights: nn.Module | Weights) -> dict[str, Tensor]:
    """The tensors, those that are one and the same only once."""
    tensors = weights.state_dict() if isinstance(weights, nn.Module) else weights
    found: dict[str, Tensor] = {}
    seen = set()
    for name, tensor in tensors.items():
        if not tensor.numel() or _key(tensor) not in seen:
            seen.add(_key(tensor))
            found[name] = tensor
    return found


def _ready(weights: nn.Module | Weights) -> dict[str, Tensor]:
    """On the CPU and in one piece, as the file wants them."""
    return {name: tensor.detach().cpu().contiguous() for name, tensor in unique(weights).items()}


def _key(tensor: Tensor) -> tuple[object, ...]:
    """What tied tensors share; the parts of one flat buffer do not."""
    return tensor.device, tensor.data_ptr(), tensor.dtype, tensor.shape, tensor.stride()


def _shape(tensor: Tensor) -> str:
    return " × ".join(map(str, tensor.shape)) or "()"
