"""Several models that decide each next token together."""

from collections.abc import Sequence
from typing import Any

import torch

from regard.errors import UsageError
from regard.models.interface import Step
from regard.shapes import Float, Int, Source, Tensor


class Ensemble:
    """The mean of the models' probabilities: ``P(y) = 1/M Σ Pₘ(y)``; a model like any other.

    The models must share one vocabulary.
    """

    def __init__(self, models: Sequence[Step[Any]]) -> None:
        if not models:
            raise UsageError("an ensemble needs at least one model")
        self.models = tuple(models)

    def start(self, source: Source) -> tuple[Any, ...]:
        """Let every model read the source."""
        return tuple(model.start(source) for model in self.models)

    def step(
        self, state: tuple[Any, ...], tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], tuple[Any, ...]]:
        """Take one more token a row, and give the log of the summed probabilities of the next."""
        stepped = [model.step(one, tokens) for model, one in zip(self.models, state, strict=True)]
        sizes = {logits.shape[1] for logits, _ in stepped}
        if len(sizes) > 1:
            raise UsageError(
                f"models of {' and '.join(map(str, sorted(sizes)))} tokens cannot decide together: "
                "an ensemble needs one vocabulary"
            )
        each = torch.stack([logits.log_softmax(-1) for logits, _ in stepped])
        return each.logsumexp(0), tuple(after for _, after in stepped)

    def reorder(self, state: tuple[Any, ...], rows: Int[Tensor, "N"]) -> tuple[Any, ...]:
        """Take these rows, in this order."""
        return tuple(
            model.reorder(one, rows) for model, one in zip(self.models, state, strict=True)
        )
