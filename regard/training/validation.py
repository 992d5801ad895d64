"""Measuring a model on what was held out: loss, perplexity, and the quality of what it writes."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch

from regard.data import Batch, Corpus, collate
from regard.decoding import Search, SourceLine, search_many
from regard.evaluation import LabelQuality, Quality, judge
from regard.models import EncoderDecoder, Model
from regard.special import EOS
from regard.text import Tokenizer
from regard.training.tasks import Task

_ROWS = 64


class Stopped(Exception):  # noqa: N818 - nothing is wrong
    """A measurement was broken off because a stop was asked for: there is no result."""


@dataclass(frozen=True)
class Measured:
    """What held-out data say of a model."""

    loss: float  # per target token, without label smoothing
    quality: Quality | LabelQuality | None

    @property
    def perplexity(self) -> float:
        """``exp(loss)``: among how many words the model is undecided."""
        return math.exp(min(self.loss, 700.0))

    def worth(self, measure: str) -> float:
        """The number by which models are compared; more is better."""
        if measure == "loss" or self.quality is None:
            return -self.loss
        worth: float = getattr(self.quality, measure)
        return worth


class HeldOut:
    """What is kept apart to measure a model by."""

    def measure(
        self,
        model: Model,
        task: Task,
        *,
        decodes: bool,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Measured:
        """Measure the model as it is, and leave it as it was.

        Raises ``Stopped`` if ``should_stop`` says so before there is a result.
        """
        was_training = model.training
        model.eval()
        try:
            with torch.inference_mode():
                loss = self._loss(model, task, should_stop)
                quality = self.quality(model, should_stop) if decodes else None
        finally:
            model.train(was_training)
        return Measured(loss, quality)

    def _loss(self, model: Model, task: Task, should_stop: Callable[[], bool]) -> float:
        total, n_tokens = 0.0, 0
        for batch in self.batches(next(model.parameters()).device):
            if should_stop():
                raise Stopped
            loss, n = task(model, batch, 0.0)
            total, n_tokens = total + float(loss), n_tokens + n
        return total / max(1, n_tokens)

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All of it, on a device."""
        raise NotImplementedError

    def quality(
        self, model: Model, should_stop: Callable[[], bool]
    ) -> Quality | LabelQuality | None:
        """How good what the model writes is, where there is something to compare it with."""
        return None

    def bits_per_character(self, loss: float) -> float | None:
        """The loss as nobody's tokens change it, where it is one of all of a text."""
        return None


@dataclass(frozen=True)
class Validation(HeldOut):
    """Held-out pairs, as ids and as the text a reader would compare with."""

    corpus: Corpus
    references: Sequence[str]  # the targets of the first pairs, which are decoded and judged
    tokenizer: Tokenizer  # of the target

    def quality(self, model: Model, should_stop: Callable[[], bool]) -> Quality:
        """How near greedy translations come to the references."""
        assert isinstance(model, EncoderDecoder)
        return judge(self._outputs(model, should_stop), self.references)

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All pairs."""
        return (batch for _, batch in self._batches(device, len(self.corpus)))

    def _outputs(self, model: EncoderDecoder, should_stop: Callable[[], bool]) -> list[str]:
        sources = (self.corpus[i][0].tolist() for i in range(len(self.references)))
        lines = (SourceLine((*source, EOS)) for source in sources)
        device = next(model.parameters()).device
        found = search_many(
            [model],
            lines,
            Search(width=1),
            batch_rows=_ROWS,
            device=device,
            should_stop=should_stop,
        )
        outputs = [self.tokenizer.decode(best.tokens) for (best,) in found]
        if len(outputs) < len(self.references):
            raise Stopped
        return outputs

    def _batches(self, device: torch.device, n_pairs: int) -> list[tuple[list[int], Batch]]:
        """The first pairs, those of like length together so that little is padding."""
        sources, targets = self.corpus.lengths()
        order = sorted(range(n_pairs), key=lambda i: (sources[i], targets[i]))
        parts = [order[start : start + _ROWS] for start in range(0, n_pairs, _ROWS)]
        return [(rows, collate(self.corpus, rows).to(device)) for rows in parts]


@dataclass(frozen=True)
class TextValidation(HeldOut):
    """Held-out text."""

    rows: Sequence[Batch]
    n_characters: float | None = None  # that a token stands for, on average

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All of the text."""
        return (batch.to(device) for batch in self.rows)

    def bits_per_character(self, loss: float) -> float | None:
        """``loss / ln 2`` a token, over the characters of a token."""
        return None if self.n_characters is None else loss / math.log(2) / self.n_characters
