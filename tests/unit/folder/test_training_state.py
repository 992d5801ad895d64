"""What a run needs to go on comes back exactly, without pickle."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from regard.errors import ModelFolderError
from regard.folder import load_state, save_state


def alike(a: object, b: object) -> bool:
    if type(a) is not type(b):
        return False
    match a:
        case torch.Tensor():
            return a.dtype == b.dtype and torch.equal(a, b)
        case np.ndarray():
            return a.dtype == b.dtype and np.array_equal(a, b)
        case dict():
            return list(a) == list(b) and all(alike(a[k], b[k]) for k in a)
        case list() | tuple():
            return len(a) == len(b) and all(map(alike, a, b))
    return a == b or (a != a and b != b)


def test_everything_comes_back_exactly(tmp_path: Path) -> None:
    shared = torch.arange(6.0).view(2, 3)
    state = {
        "numbers": [0.1, 1e-300, -0.0, math.inf, math.nan, 2**200, True, None, "Ü\n"],
        "nested": {"tuple": (1, (2.0, "x"), [()]), 3: {"a": 4}, (5, 6): None, "$tensor": "mine"},
        "empty": {},
        "tensors": [shared, shared.T, shared[0], torch.tensor(3), torch.zeros(0, 2)],
        "kinds": {t: torch.ones(3, dtype=getattr(torch, t)) for t in ("bool", "uint8", "bfloat16")},
        "arrays": [np.arange(3, dtype=np.uint32), np.zeros((2, 1), dtype=np.float64)],
    }
    save_state(tmp_path, state)
    assert alike(load_state(tmp_path), state)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["state.json", "state.safetensors"]


def test_an_optimiser_goes_on_as_it_would_have(tmp_path: Path) -> None:
    def fresh() -> tuple[torch.nn.Parameter, torch.optim.Adam]:
        weight = torch.nn.Parameter(torch.arange(4.0))
        return weight, torch.optim.Adam([weight], lr=0.1, betas=(0.9, 0.98))

    def step(weight: torch.nn.Parameter, adam: torch.optim.Adam) -> None:
        adam.zero_grad()
        (weight**3).sum().backward()
        adam.step()

    weight, adam = fresh()
    step(weight, adam)
    save_state(tmp_path, {"weight": weight.data, "adam": adam.state_dict()})
    kept = load_state(tmp_path)
    again, other = fresh()
    again.data.copy_(kept["weight"])
    other.load_state_dict(kept["adam"])
    for _ in range(3):
        step(weight, adam)
        step(again, other)
    assert torch.equal(weight, again)


def test_what_a_state_cannot_hold(tmp_path: Path) -> None:
    with pytest.raises(TypeError) as caught:
        save_state(tmp_path, {"a": [1, {2}]})
    assert str(caught.value) == "state.a.1 is of type set, which a state cannot hold"


def test_a_damaged_state(tmp_path: Path) -> None:
    save_state(tmp_path, {"a": torch.ones(2)})
    (tmp_path / "state.json").write_text('{"a": {"$tensor": "other"}}')
    with pytest.raises(ModelFolderError, match=r"state\.json is damaged"):
        load_state(tmp_path)
    (tmp_path / "state.json").write_text('{"a": ')
    with pytest.raises(ModelFolderError, match="remove the folder it is in to go on from the"):
        load_state(tmp_path)
    (tmp_path / "state.safetensors").unlink()
    with pytest.raises(ModelFolderError, match="there are no weights at"):
        load_state(tmp_path)
