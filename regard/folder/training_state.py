"""What a run needs to go on, as safetensors and JSON: nothing in it can be executed.

A state is made of dictionaries, lists, tuples, tensors, numpy arrays, texts, numbers, truth values
and ``None``, nested at will, as in ``optimizer.state_dict()`` or ``random.getstate()``. It comes
back exactly, types and bits.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file

from regard.errors import ModelFolderError
from regard.files import whole_file, write_text
from regard.folder.weights import read_weights
from regard.shapes import Tensor

TENSORS = "state.safetensors"
VALUES = "state.json"

_TENSOR, _ARRAY, _TUPLE, _ITEMS = "$tensor", "$array", "$tuple", "$items"


def save_state(folder: str | Path, state: Mapping[str, Any]) -> None:
    """Write ``state.safetensors`` and ``state.json`` into a folder."""
    tensors: dict[str, Tensor] = {}
    encoded = _encode(dict(state), "state", tensors)
    with whole_file(Path(folder) / TENSORS) as partial:
        save_file(tensors, partial, {"format": "pt"})
    write_text(Path(folder) / VALUES, json.dumps(encoded) + "\n")


def load_state(folder: str | Path) -> dict[str, Any]:
    """Read what ``save_state`` wrote."""
    path = Path(folder) / VALUES
    tensors = read_weights(Path(folder) / TENSORS)
    try:
        state = _decode(json.loads(path.read_text(encoding="utf-8")), tensors)
    except OSError as error:
        raise ModelFolderError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, IndexError, RecursionError) as error:
        raise _damaged(path, error) from error
    if not isinstance(state, dict):
        raise _damaged(path, "it holds no names and values")
    return state


def _damaged(path: Path, what: object) -> ModelFolderError:
    return ModelFolderError(
        f"{path} is damaged ({what}): remove the folder it is in to go on from the checkpoint "
        "before"
    )


def _encode(value: Any, name: str, tensors: dict[str, Tensor]) -> Any:
    match value:
        case None | bool() | str():
            return value
        case int() | float() if type(value) in (int, float):
            return value  # JSON keeps every digit that Python prints, and those are all
        case Tensor():
            # Copied: safetensors refuses tensors that share memory.
            tensors[name] = value.detach().cpu().contiguous().clone()
            return {_TENSOR: name}
        case np.ndarray():
            tensors[name] = torch.from_numpy(np.array(value, order="C"))
            return {_ARRAY: name}
        case tuple():
            return {_TUPLE: [_encode(v, f"{name}.{i}", tensors) for i, v in enumerate(value)]}
        case list():
            return [_encode(v, f"{name}.{i}", tensors) for i, v in enumerate(value)]
        case dict() if all(isinstance(k, str) and not k.startswith("$") for k in value):
            return {k: _encode(v, f"{name}.{k}", tensors) for k, v in value.items()}
        case dict():  # JSON knows only texts as keys; optimisers count their parameters
            return {
                _ITEMS: [
                    [_encode(k, f"{name}.{i}.key", tensors), _encode(v, f"{name}.{k}", tensors)]
                    for i, (k, v) in enumerate(value.items())
                ]
            }
    raise TypeError(f"{name} is of type {type(value).__name__}, which a state cannot hold")


def _decode(value: Any, tensors: dict[str, Tensor]) -> Any:
    match value:
        case list():
            return [_decode(one, tensors) for one in value]
        case {"$tensor": name}:
            return tensors[name]
        case {"$array": name}:
            return tensors[name].numpy()
        case {"$tuple": inner}:
            return tuple(_decode(one, tensors) for one in inner)
        case {"$items": items}:
            return {_decode(k, tensors): _decode(v, tensors) for k, v in items}
        case dict():
            return {key: _decode(one, tensors) for key, one in value.items()}
    return value
