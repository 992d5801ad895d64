"""What is learned from a batch: a task is a function from model and batch to a loss."""

from typing import Protocol

from regard.data import Batch
from regard.models import Transformer
from regard.shapes import Float, Tensor
from regard.special import PAD
from regard.training.loss import cross_entropy


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
    hidden = model.hidden(batch.source, batch.target[:, :-1])[is_real]
    return cross_entropy(hidden, model.output.weight, to_predict[is_real], smoothing), len(hidden)


TASKS: dict[str, Task] = {"translation": translation}
