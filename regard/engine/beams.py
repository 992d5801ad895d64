"""Beam search by the C++ kernels, in few calls: other threads have the interpreter meanwhile."""

import ctypes
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from regard.engine.decoder_step import StackWeights
from regard.engine.native import addresses, count, library, pointer
from regard.engine.words import WordTable
from regard.errors import SizeError
from regard.models import BeamQuestion, Complete, Ended
from regard.shapes import Float, Int, Tensor

_WIDEST = 64  # beyond, inserting into a sorted list is slower than selecting
_STEPS = 4  # between two looks at whether the outputs are still wanted


def serves_beam(asked: BeamQuestion) -> bool:
    """Whether the kernel inserts so many candidates faster than others select them."""
    return asked.width <= _WIDEST


def _told(asked: BeamQuestion, tokens: Int[np.ndarray, "v"] | None) -> Any:
    """Struct that the kernel reads; the caller keeps it."""
    require_fit(asked)
    return _Question(
        *(len(asked.longest), asked.width, asked.n_best, asked.most, asked.least),
        *(asked.no_repeat, asked.prefixes.shape[1], asked.padding, asked.begin, asked.end),
        *map(_start, (asked.longest, asked.prefixes, asked.penalties)),
        None if tokens is None else _start(tokens),
    )


def require_fit(asked: BeamQuestion) -> None:
    """Refuse what the kernel would read beyond its end."""
    longest, prefixes = asked.longest, asked.prefixes
    is_typed = longest.dtype == prefixes.dtype == np.int64
    is_typed = is_typed and asked.penalties.dtype == np.float64
    if not is_typed or prefixes.ndim != 2 or len(longest) != len(prefixes):
        raise SizeError(
            "longest and prefixes are int64 numbers for as many sources, and penalties float64"
        )
    is_possible = 1 <= asked.n_best <= asked.width and asked.no_repeat >= 0 <= asked.least
    if not is_possible or (len(longest) and int(longest.max()) > asked.most):
        raise SizeError(
            f"a beam of {asked.width} for the {asked.n_best} best outputs with penalties up to "
            f"{asked.most} tokens is not possible: n_best is 1 to width, and every length has "
            "its penalty"
        )


class _Question(ctypes.Structure):
    """The kernel's struct of that name."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("n_sources", "width", "n_best", "most", "least")),
        *((name, ctypes.c_int64) for name in ("no_repeat", "n_prefix", "padding", "begin", "end")),
        *((name, ctypes.c_void_p) for name in ("longest", "prefixes", "penalties", "tokens")),
    )


def search_beams(
    weights: StackWeights,
    words: WordTable,
    source: Sequence[Float[Tensor, "M _"]],
    places: Int[Tensor, "B S"],
    asked: BeamQuestion,
    tokens: Int[np.ndarray, "v"] | None = None,
) -> Iterator[Ended]:
    """Sources whose search ended within the last few steps, now and then none: one may give up.

    ``source`` is, for each layer, rows of keys and values side by side; source i sees the rows
    ``places[i]`` that are not below 0. Positions must reach as far as the outputs. ``tokens``,
    ascending, are what the rows of the weights' output are, where they are not all.
    """
    lib = library()
    assert lib is not None
    assert places.dtype == torch.int32
    assert tokens is None or (tokens.dtype == np.int64 and len(tokens) == weights.n_tokens)
    assert all(one.is_contiguous() for one in (places, *source))
    assert words.positions is None or asked.most <= len(words.positions)
    beams = ctypes.c_void_p(
        lib.k_beams_begin(
            *(ctypes.byref(one) for one in (weights.stack, words.told, _told(asked, tokens))),
            addresses(source),
            pointer(places),
            count(places.shape[1]),
        )
    )
    try:
        n_open = len(places)
        while n_open:
            told = ctypes.POINTER(ctypes.c_double)()
            n = lib.k_beams_advance(beams, count(_STEPS), ctypes.byref(told))
            ended = _read(told[:n])
            n_open -= len(ended)
            yield ended
    finally:
        lib.k_beams_end(beams)


def _read(told: list[float]) -> Ended:
    """What the kernel says of the sources that have ended."""
    ended: Ended = []
    at = 0
    while at < len(told):
        number, n_found = int(told[at]), int(told[at + 1])
        outputs: list[Complete] = []
        at += 2
        for _ in range(n_found):
            total, score, n_tokens = told[at : at + 3]
            at += 3 + int(n_tokens)
            outputs.append(Complete(tuple(map(int, told[at - int(n_tokens) : at])), total, score))
        ended.append((number, outputs))
    return ended


def _start(numbers: np.ndarray) -> Any:
    """Where an array's numbers begin; the caller keeps it."""
    assert numbers.flags.c_contiguous
    return ctypes.c_void_p(numbers.ctypes.data)
