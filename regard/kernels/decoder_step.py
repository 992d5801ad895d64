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
_ACTIVATIONS = ("relu", "gelu", "gelu_tanh")


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
    """All weights of a decoder, as ``k_decoder_step`` reads them: a row for each input.

    A decoder alone, which looks at no source, has ``None`` for the weights of looking.
    """

    layers: tuple[tuple[Float[Tensor, "..."] | None, ...], ...]  # in the order of its struct Layer
    norm: tuple[Float[Tensor, "D"], Float[Tensor, "D"]] | None  # at the end of the stack
    output: Float[Tensor, "D V"]
    n_heads: int
    is_pre_norm: bool
    activation: str
    epsilon: float

    @property
    def can_run(self) -> bool:
        """Whether the C++ kernel serves these weights on this machine."""
        fits = (self.output.shape[0] // self.n_heads) % _LANES == 0
        given = [one for one in self._listed if one is not None]
        return (
            fits
            and self.activation in _ACTIVATIONS
            and native(self.output, *given) is not None
            and _matrix_product() is not None
        )

    @property
    def d_inner(self) -> int:
        """How wide the layers become within."""
        narrow = self.layers[0][-2]
        assert narrow is not None
        return narrow.shape[0]

    @cached_property
    def starts(self) -> Any:
        """Where each of the layers' weights begins."""
        assert all(one.is_contiguous() for one in self._listed if one is not None)
        return addresses(self._listed)

    @property
    def _listed(self) -> list[Tensor | None]:
        return [one for layer in self.layers for one in layer]


def decoder_step(
    weights: DecoderWeights,
    embedded: Float[Tensor, "R D"],
    written: Sequence[Float[Tensor, "..."]],
    first: int,
    places: Int[Tensor, "R T"],
    source: Sequence[Float[Tensor, "..."]] = (),
    source_places: Int[Tensor, "R S"] | None = None,
) -> Float[Tensor, "R V"]:
    """The logits of the next words; ``embedded`` is written over.

    ``written`` and ``source`` hold, for each layer, rows of keys and values side by side; those of
    the new words are written to rows ``first``, ``first + 1``, … of ``written``. A decoder alone
    has no source.
    """
    lib = native(embedded)
    assert lib is not None
    seen = [places] if source_places is None else [places, source_places]
    assert all(one.dtype == torch.int32 for one in seen)
    assert all(one.is_contiguous() for one in (embedded, *seen))
    n_rows, width = embedded.shape
    output = weights.output
    logits = embedded.new_empty(n_rows, output.shape[1])
    norm, shift = weights.norm or (None, None)
    lib.k_decoder_step(
        _matrix_product(),
        count(len(weights.layers)),
        count(n_rows),
        count(width),
        count(weights.d_inner),
        count(weights.n_heads),
        count(output.shape[1]),
        ctypes.c_int(weights.is_pre_norm),
        ctypes.c_int(_ACTIVATIONS.index(weights.activation)),
        ctypes.c_double(weights.epsilon),
        weights.starts,
        pointer(norm),
        pointer(shift),
        pointer(output),
        addresses(written),
        count(first),
        pointer(places),
        count(places.shape[1]),
        addresses(source) if source else None,
        pointer(source_places),
        count(0 if source_places is None else source_places.shape[1]),
        pointer(embedded),
        pointer(logits),
    )
    return logits
