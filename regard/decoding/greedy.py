"""Greedy search: always the most probable next token."""

from collections.abc import Sequence

import torch

from regard.decoding.choices import Search
from regard.decoding.hypothesis import Hypothesis
from regard.decoding.rules import Rules
from regard.kernels import log_sum_exp, top
from regard.models.interface import State, Step
from regard.shapes import Int, Tensor
from regard.special import BOS, EOS, PAD


@torch.inference_mode()
def greedy(
    model: Step[State],
    source: Int[Tensor, "B S"],
    search: Search | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[Hypothesis]:
    """Decode every row of the source; rows that are done leave the batch."""
    search = search or Search(width=1)
    rules = Rules.of(search, source, prefixes)
    n_rows, most = len(source), int(rules.longest.max())
    alive = torch.arange(n_rows, device=source.device)
    written = torch.full((n_rows, most + 1), PAD, device=source.device)
    written[:, 0] = BOS
    totals = torch.zeros(n_rows, dtype=torch.float64, device=source.device)
    state = model.start(source)
    for length in range(1, most + 1):
        logits, state = model.step(state, written[alive, length - 1])
        sums = log_sum_exp(logits)
        rules.apply(logits, written[alive, :length], alive)
        best, tokens = top(logits, 1)
        totals[alive] += (best[:, 0] - sums).double()
        # A broken model may leave no token possible: then the output ends.
        tokens = tokens.masked_fill(best == -torch.inf, EOS)[:, 0]
        written[alive, length] = tokens
        kept = (tokens != EOS).nonzero()[:, 0]
        if not len(kept):
            break
        if len(kept) < len(alive):
            alive, state = alive[kept], model.reorder(state, kept)
    return [
        search.hypothesis(tokens, total)
        for tokens, total in zip(written.tolist(), totals.tolist(), strict=True)
    ]
