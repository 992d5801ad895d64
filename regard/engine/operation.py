"""Run an operation of the kernels, without autograd's bookkeeping where no gradient is wanted."""

import ctypes
from typing import Any

import torch
from torch import autograd

from regard.engine.native import native
from regard.shapes import Tensor


def kernels(*tensors: Tensor) -> ctypes.CDLL:
    """The kernels, for tensors that they are known to serve: engine decides that once for all."""
    lib = native(*tensors)
    assert lib is not None, "float32 on a CPU, with native code"
    return lib


def run(operation: type[autograd.Function], *arguments: Any) -> Any:
    """The operation's result; recorded for a backward pass where torch records."""
    if torch.is_grad_enabled():
        return operation.apply(*arguments)  # type: ignore[no-untyped-call]
    return operation.forward(Forgetful(), *arguments)


class Forgetful:
    """Takes what an operation would keep for its backward pass, and forgets it."""

    def save_for_backward(self, *tensors: Any) -> None:
        """Forget these."""

    def mark_dirty(self, *tensors: Any) -> None:
        """Nobody asks."""

    def set_materialize_grads(self, value: bool) -> None:
        """Nobody asks."""
