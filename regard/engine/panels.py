"""Weights that will not change, laid out once as the kernels' own matrix products read them."""

import ctypes
from dataclasses import dataclass
from typing import Any, Literal, get_args

import torch

from regard.engine.native import count, native, pointer
from regard.errors import SizeError, UsageError
from regard.shapes import Float, Tensor

_LANES = 16

Precision = Literal["float32", "int8"]  # of the products of a model whose weights stay
PRECISIONS: tuple[Precision, ...] = get_args(Precision)


def checked_precision(name: str) -> Precision:
    """The precision of that name."""
    for one in PRECISIONS:
        if one == name:
            return one
    raise UsageError(f"there is no precision {name!r}: choose one of {', '.join(PRECISIONS)}")


class LinearStruct(ctypes.Structure):
    """The kernels' struct Linear."""

    _fields_ = tuple((name, ctypes.c_void_p) for name in ("numbers", "scales", "bias"))


@dataclass(frozen=True)
class Panels:
    """A matrix from inputs to outputs: its columns in panels, each end to end in memory.

    With scales its numbers are bytes: ``w ≈ ŵ · scale`` with ŵ from -127 to 127, and a scale for
    each output. The kernels then make integers of their inputs, too.
    """

    numbers: Tensor
    n_inputs: int
    n_outputs: int
    scales: Float[Tensor, "_"] | None = None

    @classmethod
    def of(cls, weight: Float[Tensor, "Out In"], precision: Precision = "float32") -> "Panels":
        """Of the weight of a linear layer, which has a row for each output."""
        lib = native(weight)
        assert lib is not None
        n_outputs, n_inputs = weight.shape
        given, whole = weight.detach().contiguous(), -(-n_outputs // _LANES) * _LANES
        size = count(n_outputs), count(n_inputs)
        if precision == "float32":
            numbers = given.new_empty(whole * n_inputs)
            lib.k_pack(*size, pointer(given), pointer(numbers))
            return cls(numbers, n_inputs, n_outputs)
        numbers = torch.empty(lib.k_int8_bytes(*size), dtype=torch.uint8)
        scales = given.new_empty(whole)
        lib.k_pack_int8(*size, pointer(given), pointer(numbers), pointer(scales))
        return cls(numbers, n_inputs, n_outputs, scales)

    def told(self, bias: Float[Tensor, "_"] | None) -> LinearStruct:
        """Where all of it lies; the caller keeps the bias."""
        return LinearStruct(*map(pointer, (self.numbers, self.scales, bias)))

    def multiply(
        self, value: Float[Tensor, "N In"], bias: Float[Tensor, "Out"] | None = None
    ) -> Float[Tensor, "N Out"]:
        """``value weightᵀ + bias``."""
        lib = native(value)
        assert lib is not None
        if value.shape[1] != self.n_inputs or (bias is not None and len(bias) != self.n_outputs):
            raise SizeError(
                f"rows of {value.shape[1]} numbers do not fit {self.n_inputs} inputs and "
                f"{self.n_outputs} outputs"
            )
        value, result = value.contiguous(), value.new_empty(len(value), self.n_outputs)
        size = map(count, (len(value), self.n_outputs, self.n_inputs))
        lib.k_multiply(ctypes.byref(self.told(bias)), *size, pointer(value), pointer(result))
        return result

    @property
    def precision(self) -> Precision:
        """Of its products."""
        return "float32" if self.scales is None else "int8"

    @property
    def n_bytes(self) -> int:
        """Of memory."""
        return self.numbers.nbytes + (0 if self.scales is None else self.scales.nbytes)


def told_linears(parts: Any) -> Any:
    """Several matrices with their biases, one after the other; the caller keeps them."""
    structs = [panels.told(bias) for panels, bias in parts]
    return (LinearStruct * len(structs))(*structs)
