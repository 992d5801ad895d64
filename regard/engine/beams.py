"""Beam search by the C++ kernels, in few calls: other threads have the interpreter meanwhile."""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from regard.engine.decoder_step import StackWeights
from regard.engine.native import addresses, count, library, pointer
from regard.engine.words import WordTable
from regard.errors import SizeError
from regard.shapes import Float, Int, Tensor

_WIDEST = 64  # beyond, inserting into a sorted list is slower than selecting
_STEPS = 4  # between two looks at whether the outputs are still wanted


class Complete(NamedTuple):
    """An output without the token that ends it, and what it is ranked by."""

    tokens: tuple[int, ...]
    log_probability: float
    score: float


Ended = list[tuple[int, list[Complete]]]  # sources whose search is over, and their best outputs


@dataclass(frozen=True)
class BeamQuestion:
    """What a beam search is asked, in numbers; lengths count the token that ends an output."""

    width: int
    n_best: int
    least: int  # tokens of an output
    no_repeat: int  # no n-gram of this many tokens twice in an output; 0: as it comes
    longest: Int[np.ndarray, "B"]  # tokens of the outputs
    prefixes: Int[np.ndarray, "B P"]  # how they must begin; padding where they are free
    penalties: Float[np.ndarray, "L"]  # what a log-probability is divided by, at each length
    padding: int
    begin: int  # the token before an output, and the one after it
    end: int

    @property
    def most(self) -> int:
        """Tokens of the longest output."""
        return len(self.penalties) - 1

    @property
    def is_served(self) -> bool:
        """Whether the kernel inserts so many candidates faster than others select them."""
        return self.width <= _WIDEST

    @property
    def told(self) -> Any:
        """Struct that the kernel reads; the caller keeps it."""
        self._require_fit()
        return _Question(
            *(len(self.longest), self.width, self.n_best, self.most, self.least),
            *(self.no_repeat, self.prefixes.shape[1], self.padding, self.begin, self.end),
            *map(_start, (self.longest, self.prefixes, self.penalties)),
        )

    def _require_fit(self) -> None:
        """Refuse what the kernel would read beyond its end."""
        longest, prefixes = self.longest, self.prefixes
        is_typed = longest.dtype == prefixes.dtype == np.int64
        is_typed = is_typed and self.penalties.dtype == np.float64
        if not is_typed or prefixes.ndim != 2 or len(longest) != len(prefixes):
            raise SizeError(
                "longest and prefixes are int64 numbers for as many sources, and penalties float64"
            )
        is_possible = 1 <= self.n_best <= self.width and self.no_repeat >= 0 <= self.least
        if not is_possible or (len(longest) and int(longest.max()) > self.most):
            raise SizeError(
                f"a beam of {self.width} for the {self.n_best} best outputs with penalties up to "
                f"{self.most} tokens is not possible: n_best is 1 to width, and every length has "
                "its penalty"
            )


class _Question(ctypes.Structure):
    """The kernel's struct of that name."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("n_sources", "width", "n_best", "most", "least")),
        *((name, ctypes.c_int64) for name in ("no_repeat", "n_prefix", "padding", "begin", "end")),
        *((name, ctypes.c_void_p) for name in ("longest", "prefixes", "penalties")),
    )


def search_beams(
    weights: StackWeights,
    words: WordTable,
    source: Sequence[Float[Tensor, "M _"]],
    places: Int[Tensor, "B S"],
    asked: BeamQuestion,
) -> Iterator[Ended]:
    """Sources whose search ended within the last few steps, now and then none: one may give up.

    ``source`` is, for each layer, rows of keys and values side by side; source i sees the rows
    ``places[i]`` that are not below 0. Positions must reach as far as the outputs.
    """
    lib = library()
    assert lib is not None
    assert places.dtype == torch.int32
    assert all(one.is_contiguous() for one in (places, *source))
    assert words.positions is None or asked.most <= len(words.positions)
    beams = ctypes.c_void_p(
        lib.k_beams_begin(
            *(ctypes.byref(one) for one in (weights.stack, words.told, asked.told)),
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
