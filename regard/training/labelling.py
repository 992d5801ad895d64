"""What a classifier and a tagger learn from a batch, and how good they are on what is held out."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import torch
from torch.nn import functional as F

from regard.data import NOTHING, Batch, LabelledRows, labelled_batch
from regard.evaluation import (
    LabelQuality,
    accuracy,
    by_label,
    by_type,
    macro_f1,
    micro_f1,
    tells_spans,
)
from regard.models import Classifier, Model, Tagger
from regard.shapes import Float, Int, Tensor
from regard.training.validation import HeldOut, Stopped

_ROWS = 64


def labelling(model: Model, batch: Batch, smoothing: float) -> tuple[Float[Tensor, ""], int]:
    """Tell the label of each text, or the tag of each word."""
    labels = batch.target[batch.target != NOTHING]
    logits = _logits(model, batch)
    loss = F.cross_entropy(logits, labels, reduction="sum", label_smoothing=smoothing)
    return loss, len(labels)


def _logits(model: Model, batch: Batch) -> Float[Tensor, "N C"]:
    """Of all labels of a batch, row by row."""
    if isinstance(model, Tagger):
        return model.at(batch.source, batch.target != NOTHING)
    assert isinstance(model, Classifier)
    logits: Tensor = model(batch.source)
    return logits


@dataclass(frozen=True)
class LabelValidation(HeldOut):
    """Held-out rows; ``names`` says what the labels' numbers stand for."""

    rows: LabelledRows
    names: tuple[str, ...]

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All rows, those of like length together."""
        lengths, _ = self.rows.lengths()
        order = lengths.argsort(kind="stable").tolist()
        for start in range(0, len(order), _ROWS):
            yield labelled_batch([self.rows[i] for i in order[start : start + _ROWS]]).to(device)

    def quality(self, model: Model, should_stop: Callable[[], bool]) -> LabelQuality:
        """Accuracy and F1 of the likeliest labels."""
        given, gold = list[list[str]](), list[list[str]]()
        for batch in self.batches(next(model.parameters()).device):
            if should_stop():
                raise Stopped
            labels = torch.full_like(batch.target, NOTHING)
            labels[batch.target != NOTHING] = _logits(model, batch).argmax(-1)
            given += self._named(labels)
            gold += self._named(batch.target)
        return judge_labels(given, gold)

    def _named(self, labels: Int[Tensor, "B L"]) -> Iterator[list[str]]:
        return ([self.names[one] for one in row if one != NOTHING] for row in labels.tolist())


def judge_labels(given: list[list[str]], gold: list[list[str]]) -> LabelQuality:
    """Measure the labels of rows; where they are of spans, whole spans are counted too."""
    flat_given, flat_gold = ([one for row in side for one in row] for side in (given, gold))
    return LabelQuality(
        accuracy(flat_given, flat_gold),
        macro_f1(by_label(flat_given, flat_gold)),
        micro_f1(by_type(given, gold)) if tells_spans(flat_gold) else None,
    )
