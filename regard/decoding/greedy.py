"""Greedy search: always the most probable next token."""

import torch

from regard.decoding.hypothesis import Hypothesis, Limits
from regard.models.interface import State, Step
from regard.shapes import Int, Tensor
from regard.special import BOS, EOS, PAD


@torch.no_grad()
def greedy(
    model: Step[State], source: Int[Tensor, "B S"], limits: Limits | None = None
) -> list[Hypothesis]:
    """Decode every row of the source; rows that are done leave the batch."""
    limits = limits or Limits()
    n_rows = source.shape[0]
    longest = torch.tensor([limits.longest(int(n)) for n in (source != PAD).sum(1)])
    longest = longest.to(source.device)
    state = model.start(source)
    alive = torch.arange(n_rows, device=source.device)
    tokens = torch.full((n_rows,), BOS, device=source.device)
    totals = torch.zeros(n_rows, dtype=torch.float64, device=source.device)
    written: list[list[int]] = [[] for _ in range(n_rows)]
    for length in range(1, int(longest.max()) + 1):
        log_probabilities, state = model.step(state, tokens)
        forbid(log_probabilities, length, longest[alive], limits.least)
        best, tokens = log_probabilities.max(-1)
        totals[alive] += best.double()
        goes_on = tokens != EOS
        for row, token in zip(alive.tolist(), tokens.tolist(), strict=True):
            if token != EOS:
                written[row].append(token)
        if not bool(goes_on.all()):
            kept = goes_on.nonzero()[:, 0]
            if len(kept) == 0:
                break
            alive, tokens, state = alive[kept], tokens[kept], model.reorder(state, kept)
    return [
        Hypothesis(tuple(words), total, total)
        for words, total in zip(written, totals.tolist(), strict=True)
    ]


def forbid(log_probabilities: Tensor, length: int, longest: Int[Tensor, "R"], least: int) -> None:
    """Rule out, in place, tokens that cannot be the ``length``-th: rows at their limit must end.

    Where both cannot be had, the limit counts more than ``least``.
    """
    log_probabilities[:, [PAD, BOS]] = -torch.inf
    must_end = length >= longest
    if length <= least:
        log_probabilities[~must_end, EOS] = -torch.inf
    if bool(must_end.any()):
        end = log_probabilities[:, EOS].clone()
        log_probabilities[must_end] = -torch.inf
        log_probabilities[:, EOS] = end
