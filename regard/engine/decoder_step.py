"""One word a row through a whole decoder, without coming back to Python between its layers."""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from regard.engine.native import addresses, count, native, pointer
from regard.engine.panels import LinearStruct, Panels
from regard.shapes import Float, Int, Tensor

_LANES = 16
_ACTIVATIONS = ("relu", "gelu", "gelu_tanh")
_MATRICES = (2, 4, 8, 10, 14, 16)  # where they stand among a layer's weights


class _Stack(ctypes.Structure):
    """The kernel's struct of that name."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("n_layers", "D", "F", "E", "V")),
        ("is_pre_norm", ctypes.c_int64),
        ("activation", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("layers", "heads", "norm", "shift")),
        ("output", LinearStruct),
        ("epsilon", ctypes.c_float),
    )


Part = Float[Tensor, "..."] | Panels | None


@dataclass(frozen=True)
class StackWeights:
    """All weights of a decoder or an encoder, as the kernels read them.

    What looks at no source, a decoder alone or an encoder, has ``None`` for the weights of looking.
    """

    layers: tuple[tuple[Part, ...], ...]  # in the order of its struct Layer
    norm: tuple[Float[Tensor, "D"], Float[Tensor, "D"]] | None  # at the end of the stack
    output: Panels | None  # an encoder has none
    bias: Float[Tensor, "V"] | None  # of the output
    heads: tuple[tuple[int, int], ...]  # of each layer: that attend to the words, and to a source
    d_head: int
    is_pre_norm: bool
    activation: str
    epsilon: float

    @property
    def can_run(self) -> bool:
        """Whether the C++ kernel serves these weights on this machine."""
        given = [*self._listed, *(self.norm or ()), self.bias]
        floats = [one for one in given if one is not None and one.dtype != torch.uint8]
        return (
            self.d_head % _LANES == 0
            and self.activation in _ACTIVATIONS
            and native(*floats) is not None
        )

    @property
    def width(self) -> int:
        """Of the vectors that pass through."""
        return self._narrow.n_outputs

    @property
    def n_tokens(self) -> int:
        """How many the output chooses from."""
        return 0 if self.output is None else self.output.n_outputs

    def with_tokens(
        self, output: Float[Tensor, "V D"], tokens: Int[np.ndarray, "v"]
    ) -> "StackWeights":
        """The same with an output layer of these tokens alone, whose weight is given."""
        assert self.output is not None
        rows = torch.from_numpy(tokens)
        kept = Panels.of(output.detach()[rows], self.output.precision)
        return replace(self, output=kept, bias=None if self.bias is None else self.bias[rows])

    @cached_property
    def stack(self) -> Any:
        """Where all of it lies, as the kernels are told."""
        assert all(one.is_contiguous() for one in self._listed if one is not None)
        norm, shift = self.norm or (None, None)
        return _Stack(
            *(len(self.layers), self.width, self._narrow.n_inputs, self.d_head, self.n_tokens),
            *(self.is_pre_norm, _ACTIVATIONS.index(self.activation)),
            ctypes.cast(self._starts, ctypes.c_void_p),
            ctypes.cast(self._numbers_of_heads, ctypes.c_void_p),
            *(pointer(norm), pointer(shift)),
            LinearStruct() if self.output is None else self.output.told(self.bias),
            self.epsilon,
        )

    @property
    def _narrow(self) -> Panels:
        """The last product of a layer."""
        narrow = self.layers[0][-2]
        assert isinstance(narrow, Panels)
        return narrow

    @cached_property
    def _starts(self) -> Any:
        """Where each of the layers' weights begins."""
        return addresses(self._listed)

    @cached_property
    def _numbers_of_heads(self) -> Any:
        return (ctypes.c_int64 * (2 * len(self.heads)))(*(n for pair in self.heads for n in pair))

    @property
    def _listed(self) -> list[Tensor | None]:
        return [one for layer in self.layers for part in enumerate(layer) for one in _told(*part)]


def _told(place: int, part: Part) -> tuple[Tensor | None, ...]:
    """What the kernels are told of one of a layer's weights: of a matrix, its scales as well."""
    if place not in _MATRICES:
        assert not isinstance(part, Panels)
        return (part,)
    assert not isinstance(part, Tensor)
    return (None, None) if part is None else (part.numbers, part.scales)


def decoder_step(
    weights: StackWeights,
    embedded: Float[Tensor, "R D"],
    written: Sequence[Float[Tensor, "..."]],
    first: int,
    places: Int[Tensor, "R T"],
    source: Sequence[Float[Tensor, "..."]] = (),
    source_places: Int[Tensor, "R S"] | None = None,
) -> Float[Tensor, "R V"]:
    """The logits of the next words.

    ``written`` and ``source`` hold, for each layer, rows of keys and values side by side; those of
    the new words are written to rows ``first``, ``first + 1``, … of ``written``. A decoder alone
    has no source.
    """
    lib = native(embedded)
    assert lib is not None
    seen = [places] if source_places is None else [places, source_places]
    assert all(one.dtype == torch.int32 for one in seen)
    assert all(one.is_contiguous() for one in (embedded, *seen))
    n_rows = len(embedded)
    logits = embedded.new_empty(n_rows, weights.n_tokens)
    lib.k_decoder_step(
        ctypes.byref(weights.stack),
        count(n_rows),
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
