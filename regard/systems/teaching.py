"""Heads that are taught where to look: a loss beside the task's own, or scores that are scaled.

With α the weights of a head and G(q) the places where query q should look,
``loss = task + weight · mean over q of −log Σ α(q, k), k in G(q)``. All pieces of a word look, and
what they give to all pieces of the other word counts together.

Scores can be scaled instead: in a layer, ``s(q, k) · N(k; p, 1)`` with p the middle of G(q)
(parent-scaled self-attention, Bugliarello and Okazaki 2020). Half of the sentences are left as they
are, so that the model does without when it is used.
"""

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import torch

from regard.attention import Probe
from regard.config import Lesson
from regard.data import Batch
from regard.inspection.heads import find_heads
from regard.models import Model
from regard.shapes import Float, Int, Tensor
from regard.training.tasks import Task

_SHARE_IGNORED = 0.5  # of sentences whose scores are not scaled
_LEAST = 1e-9  # of a weight: the logarithm of none has no slope


@dataclass(frozen=True)
class Teaching:
    """A task, and what some heads are taught beside it while it is learned."""

    task: Task
    lessons: tuple[Lesson, ...]

    def __call__(
        self, model: Model, batch: Batch, smoothing: float
    ) -> tuple[Float[Tensor, ""], int]:
        """The task alone: what is measured is what the model is for."""
        return self.task(model, batch, smoothing)

    def at(self, update: int) -> Task:
        """What is learned at an update: when the last lesson is over, the task alone."""
        going_on = [
            (number, lesson)
            for number, lesson in enumerate(self.lessons)
            if lesson.until is None or update <= lesson.until
        ]
        return TaughtTask(self.task, tuple(going_on)) if going_on else self.task


@dataclass(frozen=True)
class TaughtTask:
    """A task with lessons, by the number of their links in a batch."""

    task: Task
    lessons: tuple[tuple[int, Lesson], ...]

    def __call__(
        self, model: Model, batch: Batch, smoothing: float
    ) -> tuple[Float[Tensor, ""], int]:
        """The loss of the task, and that of the lessons a token."""
        heard: dict[int, Tensor] = {}
        with ExitStack() as stack:
            for number, lesson in self.lessons:
                links = batch.gold[number]
                if lesson.way == "scale":
                    act, name = _scaling(lesson, links, len(batch)), "scores"
                else:
                    act, name = _hearing(heard, number, lesson.place[1]), "weights"
                stack.enter_context(_listening(_probe(model, lesson, name), act))
            loss, n = self.task(model, batch, smoothing)
        for number, lesson in self.lessons:
            if number in heard and len(batch.gold[number]):
                taught = following_loss(heard[number], batch.gold[number])
                loss = loss + lesson.weight * n * taught
        return loss, n


def following_loss(weights: Float[Tensor, "B Q K"], links: Int[Tensor, "L 3"]) -> Float[Tensor, ""]:
    """The mean of ``−log Σ α(gold)`` over all queries that have gold."""
    return -(weight_on(weights, links) + _LEAST).log().mean()


def weight_on(weights: Float[Tensor, "B Q K"], links: Int[Tensor, "L 3"]) -> Float[Tensor, "N"]:
    """What each query that has gold gives to it in all."""
    row, query, key = links.unbind(1)
    each = weights[row, query, key].float()
    queries, place = torch.unique(row * weights.shape[1] + query, return_inverse=True)
    return each.new_zeros(len(queries)).index_add(0, place, each)


def share_following(weights: Float[Tensor, "B Q K"], links: Int[Tensor, "L 3"]) -> tuple[int, int]:
    """How many queries look most at a place of their gold, and how many have gold."""
    row, query, key = links.unbind(1)
    is_right = weights[row, query].argmax(-1) == key
    number = row * weights.shape[1] + query
    return len(torch.unique(number[is_right])), len(torch.unique(number))


def _probe(model: Model, lesson: Lesson, name: str) -> Probe:
    (head,) = find_heads(model, lesson.head)
    (site,) = (one for one in model.sites if (one.kind, one.layer) == (head.kind, head.layer))
    probe = model.get_submodule(f"{site.probe.rpartition('.')[0]}.{name}")
    assert isinstance(probe, Probe)
    return probe


@contextmanager
def _listening(probe: Probe, listener: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """Within, only the layer of that probe computes in the open."""
    probe.attach(listener, opens_all=False)
    try:
        yield
    finally:
        probe.detach(listener)


def _hearing(heard: dict[int, Tensor], number: int, head: int) -> Callable[[Tensor], Tensor]:
    def listen(weights: Tensor) -> Tensor:
        heard[number] = weights[:, head]
        return weights

    return listen


def _scaling(lesson: Lesson, links: Int[Tensor, "L 3"], n_rows: int) -> Callable[[Tensor], Tensor]:
    """Multiply the scores of a head by how near a key is to the middle of the gold."""
    head = lesson.place[1]
    is_scaled = torch.rand(n_rows) >= _SHARE_IGNORED

    def scale(scores: Tensor) -> Tensor:
        factors = torch.ones_like(scores[:, head])
        row, query, key = links[is_scaled.to(links.device)[links[:, 0]]].unbind(1)
        n_queries, n_keys = factors.shape[1:]
        number, place, counts = torch.unique(
            row * n_queries + query, return_inverse=True, return_counts=True
        )
        sums = factors.new_zeros(len(number)).index_add(0, place, key.to(factors.dtype))
        distance = torch.arange(n_keys, device=key.device) - (sums / counts)[:, None]
        near = torch.exp(-(distance**2) / 2) / math.sqrt(2 * math.pi)
        factors.view(-1, n_keys)[number] = near
        scaled = scores.clone()
        scaled[:, head] = scores[:, head] * factors
        return scaled

    return scale
