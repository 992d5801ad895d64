"""Measuring a model on held-out pairs: loss, perplexity, and the quality of what it writes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from regard.data import Batch, Corpus, collate
from regard.decoding import Search, SourceLine, search_many
from regard.evaluation import Quality, judge
from regard.models import EncoderDecoder
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
    quality: Quality | None

    @property
    def perplexity(self) -> float:
        """``exp(loss)``: among how many words the model is undecided."""
        return math.exp(min(self.loss, 700.0))

    def worth(self, measure: str) -> float:
        """The number by which models are compared; more is better."""
        if measure == "loss" or self.quality is None:
            return -self.loss
        return self.quality.bleu if measure == "bleu" else self.quality.chrf


@dataclass(frozen=True)
class Validation:
    """Held-out pairs, as ids and as the text a reader would compare with."""

    corpus: Corpus
    references: Sequence[str]  # the targets of the first pairs, which are decoded and judged
    tokenizer: Tokenizer  # of the target

    def measure(
        self,
        model: EncoderDecoder,
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
                outputs = self._outputs(model, should_stop) if decodes else None
                quality = None if outputs is None else judge(outputs, self.references)
        finally:
            model.train(was_training)
        return Measured(loss, quality)

    def _loss(self, model: EncoderDecoder, task: Task, should_stop: Callable[[], bool]) -> float:
        total, n_tokens = 0.0, 0
        for _, batch in self._batches(model, len(self.corpus)):
            if should_stop():
                raise Stopped
            loss, n = task(model, batch, 0.0)
            total, n_tokens = total + float(loss), n_tokens + n
        return total / max(1, n_tokens)

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

    def _batches(self, model: EncoderDecoder, n_pairs: int) -> list[tuple[list[int], Batch]]:
        """The first pairs, those of like length together so that little is padding."""
        device = next(model.parameters()).device
        sources, targets = self.corpus.lengths()
        order = sorted(range(n_pairs), key=lambda i: (sources[i], targets[i]))
        parts = [order[start : start + _ROWS] for start in range(0, n_pairs, _ROWS)]
        return [(rows, collate(self.corpus, rows).to(device)) for rows in parts]
