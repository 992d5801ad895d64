"""How probable a given translation or text is: the model reads it and bets on each word."""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import torch
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from regard.data import Batch, MemoryCorpus, collate
from regard.models import Bert, EncoderDecoder, Gpt, Model, Predicted
from regard.shapes import Float, Int, Tensor
from regard.special import PAD

Item = TypeVar("Item")
IdPair = tuple[Sequence[int], Sequence[int]]

READ_AHEAD = 1024  # pairs sorted by length together
_BATCH_TOKENS = 4096  # padded, on the longer side
_ROWS = 1024  # of the vocabulary-wide table that is computed at once


@torch.inference_mode()
def token_log_probabilities(
    models: Sequence[EncoderDecoder], pairs: Sequence[IdPair]
) -> list[list[float]]:
    """Of each pair of ids (without <BOS> and <EOS>), what each target token and <EOS> gets."""
    results: list[list[float]] = [[] for _ in pairs]
    for rows in _batches([max(len(source), len(target)) for source, target in pairs]):
        device = next(models[0].parameters()).device
        batch = collate(MemoryCorpus(pairs), rows).to(device)
        labels = batch.target[:, 1:]
        is_real = labels != PAD
        read = batch.source, batch.target[:, :-1], is_real
        predicted = [model.predict(*read) for model in models]
        real = labels[is_real]
        found: list[float] = []
        for start in range(0, len(real), _ROWS):
            part = slice(start, start + _ROWS)
            pairs_ = zip(models, predicted, strict=True)
            table = _together([_next(model, one.rows(part)) for model, one in pairs_])
            found += table.gather(1, real[part, None])[:, 0].double().tolist()
        for row, n in zip(rows, is_real.sum(1).tolist(), strict=True):
            results[row], found = found[:n], found[n:]
    return results


@torch.inference_mode()
def read_log_probabilities(
    model: Gpt | Bert, rows: Sequence[IdPair], device: torch.device
) -> list[list[float]]:
    """Of each row of ids that is read, what the ids wanted in its places get; PAD is nothing."""
    results: list[list[float]] = [[] for _ in rows]
    for places in _batches([len(read) for read, _ in rows]):
        read, wanted = (padded([rows[place][side] for place in places], device) for side in (0, 1))
        is_wanted = wanted != PAD
        hidden, real = model.vectors(read, is_wanted), wanted[is_wanted]
        found: list[float] = []
        for start in range(0, len(real), _ROWS):
            part = slice(start, start + _ROWS)
            table = torch.log_softmax(model.logits(model.output(hidden[part])).float(), dim=-1)
            found += table.gather(1, real[part, None])[:, 0].double().tolist()
        for place, n in zip(places, is_wanted.sum(1).tolist(), strict=True):
            results[place], found = found[:n], found[n:]
    return results


def windows(items: Iterable[Item], size: int = READ_AHEAD) -> Iterator[list[Item]]:
    """The items in lists of that size, the last one shorter."""
    window: list[Item] = []
    for item in items:
        window.append(item)
        if len(window) == size:
            yield window
            window = []
    if window:
        yield window


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """All places, those of like length together, as many as the padded batch may hold."""
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda i: lengths[i]):
        if batch and (len(batch) + 1) * (lengths[place] + 2) > _BATCH_TOKENS:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def _next(model: EncoderDecoder, predicted: Predicted) -> Float[Tensor, "N V"]:
    return torch.log_softmax(model.logits(model.scored(predicted)).float(), dim=-1)


def _together(tables: Sequence[Float[Tensor, "N V"]]) -> Float[Tensor, "N V"]:
    """The models of an ensemble vote: ``log mean_m P_m``."""
    if len(tables) == 1:
        return tables[0]
    return torch.logsumexp(torch.stack(list(tables)), dim=0) - math.log(len(tables))


def padded(rows: Sequence[Sequence[int]], device: torch.device) -> Int[Tensor, "B L"]:
    """Rows of ids as one table, short ones filled up with PAD."""
    return pad_sequence([torch.tensor(row) for row in rows], True, PAD).to(device)


def row_losses(
    model: Model, read: Int[Tensor, "B L"], wanted: Int[Tensor, "B L"]
) -> Float[Tensor, "B"]:
    """``-log P`` of what is wanted in each row; PAD is nothing."""
    logits: Tensor = model(read).transpose(1, 2)
    return F.cross_entropy(logits, wanted, ignore_index=PAD, reduction="none").sum(1)


def pair_losses(model: EncoderDecoder, batch: Batch) -> Float[Tensor, "B"]:
    """``-log P(target | source)`` of each pair."""
    labels = batch.target[:, 1:]
    logits = model(batch.source, batch.target[:, :-1])
    losses = F.cross_entropy(logits.transpose(1, 2), labels, ignore_index=PAD, reduction="none")
    return losses.sum(1)
