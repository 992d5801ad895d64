"""Weights that will not change, laid out once as the kernels' own matrix products read them."""

from dataclasses import dataclass

from regard.engine.native import count, native, pointer
from regard.shapes import Float, Tensor

_LANES = 16


@dataclass(frozen=True)
class Panels:
    """A matrix from inputs to outputs: its columns in panels, each end to end in memory."""

    numbers: Float[Tensor, "..."]
    n_inputs: int
    n_outputs: int

    @classmethod
    def of(cls, weight: Float[Tensor, "Out In"]) -> "Panels":
        """Of the weight of a linear layer, which has a row for each output."""
        lib = native(weight)
        assert lib is not None
        n_outputs, n_inputs = weight.shape
        given = weight.detach().contiguous()
        numbers = given.new_empty(-(-n_outputs // _LANES) * _LANES * n_inputs)
        lib.k_pack(count(n_outputs), count(n_inputs), pointer(given), pointer(numbers))
        return cls(numbers, n_inputs, n_outputs)
