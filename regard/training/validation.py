"""Measuring a model on what was held out: loss, perplexity, and the quality of what it writes."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import torch

from regard.data import Batch, Corpus, collate
from regard.decoding import Search, SourceLine, search_many
from regard.engine import for_decoding
from regard.evaluation import LabelQuality, Quality, judge
from regard.models import EncoderDecoder, Model
from regard.shapes import Int, Tensor
from regard.special import EOS, PAD
from regard.text import Tokenizer
from regard.training.events import Control, Sample
from regard.training.tasks import Task

_ROWS = 64
_FEWEST_TO_COMPARE = 10  # outputs: of fewer, some are equal by chance
_CONTROLLED = 4  # one batch in so many is also read with other sources


class Stopped(Exception):  # noqa: N818 - nothing is wrong
    """A measurement was broken off because a stop was asked for: there is no result."""


@dataclass(frozen=True)
class Measured:
    """What held-out data say of a model."""

    loss: float  # per target token, without label smoothing
    quality: Quality | LabelQuality | None
    repeated: float | None = None  # share of outputs that are one and the same
    control: Control | None = None
    samples: tuple[Sample, ...] = ()

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
        shows_samples: bool = False,
        should_stop: Callable[[], bool] = lambda: False,
    ) -> Measured:
        """Measure the model as it is, and leave it as it was.

        Raises ``Stopped`` if ``should_stop`` says so before there is a result.
        """
        was_training = model.training
        model.eval()
        try:
            with torch.inference_mode():
                loss, control = self._losses(model, task, should_stop)
                measured = self.examine(model, should_stop, decodes, shows_samples)
        finally:
            model.train(was_training)
        return replace(measured, loss=loss, control=control)

    def _losses(
        self, model: Model, task: Task, should_stop: Callable[[], bool]
    ) -> tuple[float, Control | None]:
        """Of all batches, and of a control: with the sources of other examples, or by frequency."""
        total, n_tokens, others = 0.0, 0, list[float]()
        counts: Counter[int] = Counter()
        reads_sources = isinstance(model, EncoderDecoder)
        for number, batch in enumerate(self.batches(next(model.parameters()).device)):
            if should_stop():
                raise Stopped
            loss, n = task(model, batch, 0.0)
            total, n_tokens = total + float(loss), n_tokens + n
            if not reads_sources:
                counts.update(self.predicted(batch).tolist())
            elif number % _CONTROLLED == 0 and len(batch.target) > 1:
                other = replace(batch, source=batch.source.roll(1, 0))
                others.append(float(task(model, other, 0.0)[0] - loss) / n)
        own = total / max(1, n_tokens)
        if others:
            return own, Control("other sources", own + sum(others) / len(others))
        return own, Control("frequency", _entropy(counts)) if counts else None

    def predicted(self, batch: Batch) -> Int[Tensor, "N"]:
        """Of a model without a source: the ids it has to find, or such as they are."""
        ids = batch.target[:, 1:] if batch.target.shape[1] else batch.source
        return ids[ids != PAD]

    def at_most(self, n_judged: int) -> "HeldOut":
        """This with no more outputs to judge than so many, where that is what takes long."""
        return self

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All of it, on a device."""
        raise NotImplementedError

    def examine(
        self, model: Model, should_stop: Callable[[], bool], decodes: bool, shows_samples: bool
    ) -> Measured:
        """All but the loss: how good what the model writes is, and samples of it."""
        quality = self.quality(model, should_stop) if decodes else None
        samples = self.samples(model) if shows_samples else ()
        return Measured(math.nan, quality, samples=samples)

    def quality(
        self, model: Model, should_stop: Callable[[], bool]
    ) -> Quality | LabelQuality | None:
        """How good what the model writes is, where there is something to compare it with."""
        return None

    def samples(self, model: Model) -> tuple[Sample, ...]:
        """What the model makes of a few examples, the same every time."""
        return ()

    def example(self) -> str | None:
        """A text that a user may try the model on."""
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
    source_tokenizer: Tokenizer | None = None

    def at_most(self, n_judged: int) -> "HeldOut":
        """This with the first references alone."""
        return replace(self, references=self.references[:n_judged])

    def examine(
        self, model: Model, should_stop: Callable[[], bool], decodes: bool, shows_samples: bool
    ) -> Measured:
        """How near greedy translations come to the references; two of them are shown."""
        assert isinstance(model, EncoderDecoder)
        shown = self._shown() if shows_samples else []
        rows = list(range(len(self.references))) if decodes else shown
        outputs = dict(zip(rows, self._outputs(model, rows, should_stop), strict=True))
        samples = tuple(
            Sample(self._source(row), outputs[row], self.references[row]) for row in shown
        )
        if not decodes:
            return Measured(math.nan, None, samples=samples)
        written = list(outputs.values())
        quality = judge(written, self.references)
        return Measured(math.nan, quality, _repeated(written, self.references), samples=samples)

    def example(self) -> str | None:
        """The source of the first sample."""
        return next((self._source(row) for row in self._shown()), None)

    def _shown(self) -> list[int]:
        """A shorter and a longer pair, a third and two thirds up the order of their lengths."""
        if self.source_tokenizer is None or not self.references:
            return []
        n = len(self.references)
        lengths = self.corpus.lengths()[0][:n]
        order = sorted(range(n), key=lambda row: (int(lengths[row]), row))
        return list(dict.fromkeys([order[n // 3], order[2 * n // 3]]))

    def _source(self, row: int) -> str:
        assert self.source_tokenizer is not None
        return self.source_tokenizer.decode(self.corpus[row][0].tolist())

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All pairs."""
        return (batch for _, batch in self._batches(device, len(self.corpus)))

    def _outputs(
        self, model: EncoderDecoder, rows: Sequence[int], should_stop: Callable[[], bool]
    ) -> list[str]:
        if not rows:
            return []
        sources = (self.corpus[i][0].tolist() for i in rows)
        lines = (SourceLine((*source, EOS)) for source in sources)
        device = next(model.parameters()).device
        found = search_many(
            [for_decoding(model)],
            lines,
            Search(width=1),
            batch_rows=_ROWS,
            device=device,
            should_stop=should_stop,
        )
        outputs = [self.tokenizer.decode(best.tokens) for (best,) in found]
        if len(outputs) < len(rows):
            raise Stopped
        return outputs

    def _batches(self, device: torch.device, n_pairs: int) -> list[tuple[list[int], Batch]]:
        """The first pairs, those of like length together so that little is padding."""
        sources, targets = self.corpus.lengths()
        order = sorted(range(n_pairs), key=lambda i: (sources[i], targets[i]))
        parts = [order[start : start + _ROWS] for start in range(0, n_pairs, _ROWS)]
        return [(rows, collate(self.corpus, rows).to(device)) for rows in parts]


def _entropy(counts: Counter[int]) -> float:
    whole = counts.total()
    return -sum(n / whole * math.log(n / whole) for n in counts.values())


def _repeated(outputs: Sequence[str], references: Sequence[str]) -> float | None:
    """The share of the most frequent output, where references are at least twice as varied."""
    if len(outputs) < _FEWEST_TO_COMPARE:
        return None
    ours, theirs = (max(Counter(side).values()) / len(side) for side in (outputs, references))
    return ours if ours > 2 * theirs else 0.0
