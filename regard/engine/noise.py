"""Random numbers for dropout: 16 bits an element, all decided by one key."""

import ctypes
from typing import Any

import torch


def draw_key() -> int:
    """A fresh key from torch's generator: what one use of dropout depends on."""
    return int(torch.randint(1 << 62, ()))


def as_arguments(key: int, p: float) -> tuple[Any, ...]:
    """The key and the probability as the C++ kernels take them."""
    return ctypes.c_uint64(key), ctypes.c_uint64(0), ctypes.c_double(p)
