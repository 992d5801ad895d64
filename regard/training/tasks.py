"""What is learned from a batch: a task is a function from model and batch to a loss."""

from typing import Protocol, runtime_checkable

import torch

from regard.data import Batch
from regard.kernels import linear_cross_entropy
from regard.models import Transformer
from regard.models.packing import pack
from regard.shapes import Float, Tensor
from regard.special import PAD


@runtime_checkable
class Task(Protocol):
    """The loss of one batch, summed over what was predicted, and how much that was."""

    def __call__(
        self, model: Transformer, batch: Batch, smoothing: float
    ) -> tuple[Float[Tensor, ""], int]:
        """Compute the loss of a batch."""
        ...


def translation(
    model: Transformer, batch: Batch, smoothing: float
) -> tuple[Float[Tensor, ""], int]:
    """Predict each word of the target from the source and the words before it."""
    to_predict = batch.target[:, 1:]
    is_real = to_predict != PAD
    if model.is_packable and not torch.is_autocast_enabled("cpu"):
        source = pack(batch.source, batch.source != PAD)
        hidden = model.hidden_packed(source, pack(batch.target[:, :-1], is_real))
    else:
        hidden = model.hidden(batch.source, batch.target[:, :-1])[is_real]
    labels = to_predict[is_real]
    return linear_cross_entropy(hidden, model.output.weight, labels, smoothing), len(labels)


TASKS: dict[str, Task] = {"translation": translation}
