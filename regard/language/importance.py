"""How much each head of a language model matters, over some texts."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from regard.inspection.importance import Importance, Losses, head_importance
from regard.language.finding import Finder
from regard.language.writing import Writer
from regard.models import Model
from regard.shapes import Float, Int, Tensor
from regard.special import BOS, EOS, PAD
from regard.text.given import checked_texts

_ROWS = 32

Row = tuple[list[int], list[int]]  # what is read, and what is to be predicted there; PAD is nothing


def importance(model: Writer | Finder, texts: Iterable[str]) -> Importance:
    """The mean of ``|∂L/∂ξ_h|``: of a text that is written, or of each word that is taken out.

    For a writer ``L = -log P(text)``, a row each. For a finder every word is taken out in turn and
    ``L = -log P(word | the others)``, a row each (Salazar et al. 2020). What is beyond the context
    is left out.
    """
    cut = _written if isinstance(model, Writer) else _taken_out
    rows = (row for text in checked_texts(texts, "texts") for row in cut(model, text))
    return head_importance(model.model, _batches(model.model, rows))


def _written(writer: Writer | Finder, text: str) -> Iterator[Row]:
    ids = writer.tokenizer.encode(text)[: writer.model.context]
    if ids:
        yield [BOS, *ids[:-1]], ids


def _taken_out(finder: Writer | Finder, text: str) -> Iterator[Row]:
    assert isinstance(finder, Finder)
    ids = [BOS, *finder.tokenizer.encode(text)[: finder.model.context - 2], EOS]
    for place in range(1, len(ids) - 1):
        read, wanted = list(ids), [PAD] * len(ids)
        read[place], wanted[place] = finder.model.mask, ids[place]
        yield read, wanted


def _batches(model: Model, rows: Iterable[Row]) -> Iterator[tuple[int, Losses]]:
    together: list[Row] = []
    for row in rows:
        together.append(row)
        if len(together) == _ROWS:
            yield len(together), partial(_losses, model, *_padded(model, together))
            together = []
    if together:
        yield len(together), partial(_losses, model, *_padded(model, together))


def _padded(model: Model, rows: Sequence[Row]) -> tuple[Int[Tensor, "B L"], Int[Tensor, "B L"]]:
    device = model.output.weight.device
    read = pad_sequence([torch.tensor(one) for one, _ in rows], True, PAD)
    wanted = pad_sequence([torch.tensor(one) for _, one in rows], True, PAD)
    return read.to(device), wanted.to(device)


def _losses(
    model: Model, read: Int[Tensor, "B L"], wanted: Int[Tensor, "B L"]
) -> Float[Tensor, "B"]:
    """``-log P`` of what is wanted in each row."""
    logits: Tensor = model(read).transpose(1, 2)
    return F.cross_entropy(logits, wanted, ignore_index=PAD, reduction="none").sum(1)
