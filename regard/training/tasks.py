"""What is learned from a batch: a task is a function from model and batch to a loss."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from torch.nn import functional as F

from regard.data import Batch
from regard.engine import linear_cross_entropy
from regard.models import EncoderDecoder, Model, Predicted, baseline_loss, reinforce
from regard.models.source_attention import LookingTranslator
from regard.shapes import Float, Int, Tensor
from regard.special import PAD

_SMALL = 0.01  # of the loss of what is expected, beside that of the words


@runtime_checkable
class Task(Protocol):
    """The loss of one batch, summed over what was predicted, and how much that was."""

    def __call__(
        self, model: Model, batch: Batch, smoothing: float
    ) -> tuple[Float[Tensor, ""], int]:
        """Compute the loss of a batch."""
        ...


@runtime_checkable
class ChangingTask(Task, Protocol):
    """A task that is not the same at every update."""

    def at(self, update: int) -> Task:
        """What is learned at an update, counted from 1."""
        ...


@dataclass(frozen=True)
class Phase:
    """A step of an update: the loss it goes by, the weights it changes, and how fast.

    Most models learn in one phase, of all weights. Adversaries learn in turns: each of theirs
    changes the weights of one of them, and the other stands still.
    """

    task: Task
    part: str = ""  # the submodule of the model that learns; "" is all of it
    rate: float = 1.0  # times the learning rate of the recipe
    is_averaged: bool = True  # whether the moving average of a recipe that keeps one is of it too

    def task_at(self, update: int) -> Task:
        """What it goes by at an update."""
        return self.task.at(update) if isinstance(self.task, ChangingTask) else self.task


def translation(model: Model, batch: Batch, smoothing: float) -> tuple[Float[Tensor, ""], int]:
    """Predict each word of the target from the source and the words before it.

    What a model's computing costs, and what its lots were worth, counts while it learns, and not
    when it is measured.
    """
    assert isinstance(model, EncoderDecoder)
    to_predict = batch.target[:, 1:]
    is_real = to_predict != PAD
    predicted = model.predict(batch.source, batch.target[:, :-1], is_real)
    labels = to_predict[is_real]
    output = model.output
    if predicted.copies is not None:
        loss = predicted.copies.loss(output(predicted.hidden), labels, smoothing)
    else:
        loss = linear_cross_entropy(
            predicted.hidden, output.weight, labels, smoothing, bias=output.bias
        )
    if model.training and predicted.cost is not None:
        loss = loss + predicted.cost * len(labels)
    if model.training and predicted.log_choice is not None:
        loss = loss + _learned_choice(model, predicted, labels)
    return loss, len(labels)


def _learned_choice(
    model: EncoderDecoder, predicted: Predicted, labels: Int[Tensor, "N"]
) -> Float[Tensor, ""]:
    """What teaches where to look, of draws: the reward is ``log p(word)`` of the word at hand.

    What it was expected to be is a moving average (Xu et al. 2015), or learns by least squares
    (Mnih and Gregor 2014), or both, word by word. As a value it is 0.
    """
    assert predicted.log_choice is not None
    logits = model.output(predicted.hidden.detach()).detach()
    reward = -F.cross_entropy(logits, labels, reduction="none")
    if predicted.baseline is None:
        assert isinstance(model, LookingTranslator)
        assert predicted.queries is not None
        expected = model.expected_reward(reward, labels, predicted.queries)
        policy = reinforce(predicted.log_choice, reward, expected)
        # Adam makes steps of one size whatever the scale; clipping would let it crowd out the rest.
        expecting = _SMALL * baseline_loss(expected, reward)
        return policy + expecting - expecting.detach()
    expecting = baseline_loss(predicted.baseline, reward)
    policy = reinforce(predicted.log_choice, reward, predicted.baseline)
    return policy + expecting - expecting.detach()
