"""Run an operation without autograd's bookkeeping where no gradient will be asked for."""

from typing import Any

import torch
from torch import autograd


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
