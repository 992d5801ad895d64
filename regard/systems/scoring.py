"""How probable a given translation is: the model reads it and bets on each next word."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

import torch

from regard.data import MemoryCorpus, collate
from regard.models import EncoderDecoder
from regard.shapes import Float, Tensor
from regard.special import PAD

Item = TypeVar("Item")
IdPair = tuple[Sequence[int], Sequence[int]]

READ_AHEAD = 1024  # pairs sorted by length together
_BATCH_TOKENS = 4096  # padded, on the longer side
_ROWS = 1024  # of the vocabulary-wide table that is computed at once


@dataclass(frozen=True)
class Scored:
    """A target, token by token with <EOS>, and the log-probability the model gives to each."""

    tokens: tuple[int, ...]
    pieces: tuple[str, ...]
    log_probabilities: tuple[float, ...]
    n_left_out: int = 0  # tokens beyond the limit, of source and target

    @property
    def log_probability(self) -> float:
        """``log P(target | source) = Σ log P(yᵢ | y₁ … yᵢ₋₁, source)``."""
        return math.fsum(self.log_probabilities)

    @property
    def per_token(self) -> float:
        """The mean over the tokens."""
        return self.log_probability / len(self.log_probabilities)


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
        hidden = [model.hidden(batch.source, batch.target[:, :-1])[is_real] for model in models]
        real = labels[is_real]
        found: list[float] = []
        for start in range(0, len(real), _ROWS):
            part = slice(start, start + _ROWS)
            table = _together([_next(m, h[part]) for m, h in zip(models, hidden, strict=True)])
            found += table.gather(1, real[part, None])[:, 0].double().tolist()
        for row, n in zip(rows, is_real.sum(1).tolist(), strict=True):
            results[row], found = found[:n], found[n:]
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


def _next(model: EncoderDecoder, hidden: Float[Tensor, "N D"]) -> Float[Tensor, "N V"]:
    return torch.log_softmax(model.logits(model.output(hidden)).float(), dim=-1)


def _together(tables: Sequence[Float[Tensor, "N V"]]) -> Float[Tensor, "N V"]:
    """The models of an ensemble vote: ``log mean_m P_m``."""
    if len(tables) == 1:
        return tables[0]
    return torch.logsumexp(torch.stack(list(tables)), dim=0) - math.log(len(tables))
