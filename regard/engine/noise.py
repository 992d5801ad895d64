"""Random numbers for dropout: 16 bits an element, all decided by one key."""

import ctypes
from typing import Any

import numpy as np
import torch

from regard.shapes import Bool, Tensor

_RANGE = 1 << 16


def draw_key() -> int:
    """A fresh key from torch's generator: what one use of dropout depends on."""
    return int(torch.randint(1 << 62, ()))


def keep_mask(shape: tuple[int, ...], p: float, key: int) -> tuple[Bool[Tensor, "..."], float]:
    """Which elements stay (each with probability ``1 - p``), and by what they are multiplied.

    ``p`` is rounded to 1/65536. NumPy's SFC64 gives 64 bits at a time, many times faster than
    torch draws on a CPU.
    """
    n = int(np.prod(shape))
    threshold = min(round(p * _RANGE), _RANGE - 1)  # of all, a few stay: the scale is finite
    generator = np.random.Generator(np.random.SFC64(key))
    raw = generator.integers(0, 1 << 64, size=(n + 3) // 4, dtype=np.uint64)
    bits = torch.from_numpy(raw.view(np.int16))[:n]
    return (bits >= threshold - _RANGE // 2).view(shape), _RANGE / (_RANGE - threshold)


def as_arguments(key: int, p: float) -> tuple[Any, ...]:
    """The key and the probability as the C++ kernels take them."""
    return ctypes.c_uint64(key), ctypes.c_uint64(0), ctypes.c_double(p)
