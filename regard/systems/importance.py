"""How much each head matters, over some examples: pairs of a translator, texts of others."""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from regard.data import Batch, MemoryCorpus, collate
from regard.folder import LoadedModel
from regard.inspection.importance import Importance, Losses, head_importance
from regard.models import EncoderDecoder, Model
from regard.shapes import Float, Int, Tensor
from regard.special import BOS, EOS, PAD
from regard.systems.filling import Finder
from regard.systems.scoring import windows
from regard.systems.tracing import Opened, open_any
from regard.systems.translation import Translator
from regard.systems.writing import Writer
from regard.text.given import checked_pairs, checked_texts

_ROWS = 32

Row = tuple[list[int], list[int]]  # what is read, and what is to be predicted there; PAD is nothing


def importance(
    model: str | Path | LoadedModel | Opened, examples: Iterable[str] | Iterable[tuple[str, str]]
) -> Importance:
    """The mean of ``|∂L/∂ξ_h|`` over pairs or texts: how much each head matters.

    Of pairs ``L = -log P(target | source)``.
    """
    opened = open_any(model)
    if isinstance(opened, Translator):
        return _of_pairs(opened, examples)
    return _of_texts(opened, examples)


def _of_pairs(translator: Translator, pairs: Iterable[object]) -> Importance:
    network = translator.models[0]

    def batches() -> Iterator[tuple[int, Losses]]:
        for window in windows(checked_pairs(pairs, "pairs"), _ROWS):
            batch = _batch(translator, window)
            yield len(window), partial(_pair_losses, network, batch)

    return head_importance(network, batches())


def _of_texts(model: Writer | Finder, texts: Iterable[object]) -> Importance:
    """The mean of ``|∂L/∂ξ_h|``: of a text that is written, or of each word that is taken out.

    For a writer ``L = -log P(text)``, a row each. For a finder every word is taken out in turn and
    ``L = -log P(word | the others)``, a row each (Salazar et al. 2020). What is beyond the context
    is left out.
    """
    cut = _written if isinstance(model, Writer) else _taken_out
    rows = (row for text in checked_texts(texts, "texts") for row in cut(model, text))
    return head_importance(model.model, _text_batches(model.model, rows))


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


def _text_batches(model: Model, rows: Iterable[Row]) -> Iterator[tuple[int, Losses]]:
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


def _batch(translator: Translator, pairs: Sequence[tuple[str, str]]) -> Batch:
    limit = translator.limit
    sources = translator.source_tokenizer.encode_many([source for source, _ in pairs])
    targets = translator.target_tokenizer.encode_many([target for _, target in pairs])
    ids = [(s[:limit], t[:limit]) for s, t in zip(sources, targets, strict=True)]
    return collate(MemoryCorpus(ids), range(len(ids))).to(translator.device)


def _pair_losses(model: EncoderDecoder, batch: Batch) -> Float[Tensor, "B"]:
    """``-log P(target | source)`` of each pair."""
    labels = batch.target[:, 1:]
    logits = model(batch.source, batch.target[:, :-1])
    losses = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=PAD, reduction="none")
    return losses.sum(1)
