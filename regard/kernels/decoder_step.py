"""One word a row through a whole decoder, without coming back to Python between its layers."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import torch

from regard.kernels.native import addresses, count, native, pointer
from regard.shapes import Float, Int, Tensor

_LANES = 16


@cache
def _matrix_product() -> Any:
    """BLAS' ``sgemm_`` out of torch's own library; ``None`` where torch does not show it."""
    try:
        torchs_own = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / "libtorch_cpu.so"))
        return ctypes.cast(torchs_own.sgemm_, ctypes.c_void_p)
    except (OSError, AttributeError):
        return None


@dataclass(frozen=True)
class DecoderWeights:
    """All weights of a decoder, as ``k_decoder_step`` reads them: a row for each input."""

    layers: tuple[tuple[Float[Tensor, "..."], ...], ...]  # in the order of its struct Layer
    norm: tuple[Float[Tensor, "D"], Float[Tensor, "D"]] | None  # at the end of the stack
    output: Float[Tensor, "D V"]
    n_heads: int
    is_pre_norm: bool
    epsilon: float

    @property
    def can_run(self) -> bool:
        """Whether the C++ kernel serves these weights on this machine."""
        fits = (self.output.shape[0] // self.n_heads) % _LANES == 0
        has_kernel = native(self.output, *(one for layer in self.layers for one in layer))
        return fits and has_kernel is not None and _matrix_product() is not None

    @cached_property
    def starts(self) -> Any:
        """Where each of the layers' weights begins."""
        assert all(one.is_contiguous() for layer in self.layers for one in layer)
        return addresses([one for layer in self.layers for one in layer])


def decoder_step(
    weights: DecoderWeights,
    embedded: Float[Tensor, "R D"],
    written: Sequence[Float[Tensor, "..."]],
    first: int,
    places: Int[Tensor, "R T"],
    source: Sequence[Float[Tensor, "..."]],
    source_places: Int[Tensor, "R S"],
) -> Float[Tensor, "R V"]:
    """The logits of the next words; ``embedded`` is written over.

    ``written`` and ``source`` hold, for each layer, rows of keys and values side by side; those of
    the new words are written to rows ``first``, ``first + 1``, … of ``written``.
    """
    lib = native(embedded)
    assert lib is not None
    assert places.dtype == source_places.dtype == torch.int32
    assert all(one.is_contiguous() for one in (embedded, places, source_places))
    n_rows, width = embedded.shape
    output = weights.output
    logits = embedded.new_empty(n_rows, output.shape[1])
    norm, shift = weights.norm or (None, None)
    lib.k_decoder_step(
        _matrix_product(),
        count(len(weights.layers)),
        count(n_rows),
        count(width),
        count(weights.layers[0][-4].shape[1]),
        count(weights.n_heads),
        count(output.shape[1]),
        ctypes.c_int(weights.is_pre_norm),
        ctypes.c_double(weights.epsilon),
        weights.starts,
        pointer(norm),
        pointer(shift),
        pointer(output),
        addresses(written),
        count(first),
        pointer(places),
        count(places.shape[1]),
        addresses(source),
        pointer(source_places),
        count(source_places.shape[1]),
        pointer(embedded),
        pointer(logits),
    )
    return logits
