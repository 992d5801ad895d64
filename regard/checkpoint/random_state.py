"""Where Python's, numpy's and torch's shared random generators stand, to be kept with a run."""

import random
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch


def capture_random() -> dict[str, Any]:
    """The states of all shared generators, as ``save_state`` can hold them."""
    state: dict[str, Any] = {
        "python": random.getstate(),
        "numpy": np.random.get_state(legacy=False),
        "torch": torch.get_rng_state(),
    }
    if torch.cuda.is_available():
        state["cuda"] = torch.cuda.get_rng_state_all()
    return state


def restore_random(state: Mapping[str, Any]) -> None:
    """Let all shared generators go on from a captured state."""
    random.setstate(state["python"])
    np.random.set_state(state["numpy"])
    torch.set_rng_state(state["torch"])
    if "cuda" in state and torch.cuda.is_available():
        torch.cuda.set_rng_state_all(state["cuda"])
