"""Sentences through a whole encoder, and what a decoder will look at, in one call."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from regard.engine.decoder_step import StackWeights
from regard.engine.native import addresses, count, native, pointer, require_ids
from regard.engine.panels import Panels, told_linears
from regard.engine.words import WordTable
from regard.shapes import Float, Int, Tensor


@dataclass(frozen=True)
class ReaderWeights:
    """An encoder, and how each layer of a decoder makes keys and values of what it gives."""

    encoder: StackWeights
    memories: tuple[tuple[Panels, Float[Tensor, "_"]], ...]

    @property
    def can_run(self) -> bool:
        """Whether the C++ kernel serves these weights on this machine."""
        biases = [bias for _, bias in self.memories]
        return self.encoder.can_run and native(*biases) is not None

    @cached_property
    def told(self) -> tuple[Any, Any]:
        """How wide keys and values are in each layer of the decoder, and what makes them."""
        widths = (ctypes.c_int64 * len(self.memories))(*(len(bias) for _, bias in self.memories))
        return widths, told_linears(self.memories)


def read_sentences(
    weights: ReaderWeights,
    words: WordTable,
    ids: Int[Tensor, "M"],
    starts: Int[np.ndarray, "starts"],
) -> Sequence[Float[Tensor, "M _"]]:
    """For each layer of the decoder, keys and values of all words, side by side.

    ``starts`` says where each of the sentences begins, and where the last one ends.
    """
    lib = native(words.table)
    assert lib is not None
    assert starts.dtype == np.int32
    assert ids.dtype == torch.int64
    assert ids.is_contiguous()
    require_ids(ids, len(words.table))
    assert words.positions is None or int(np.diff(starts).max()) <= len(words.positions)
    kept = [words.table.new_empty(len(ids), len(bias)) for _, bias in weights.memories]
    lib.k_read(
        ctypes.byref(weights.encoder.stack),
        ctypes.byref(words.told),
        count(len(starts) - 1),
        pointer(ids),
        ctypes.c_void_p(starts.ctypes.data),
        count(len(kept)),
        *weights.told,
        addresses(kept),
    )
    return kept
