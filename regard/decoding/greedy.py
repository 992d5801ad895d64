"""Greedy search: always the most probable next token."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch

from regard.decoding.beam import searched_by_itself
from regard.decoding.choices import Search
from regard.decoding.hypothesis import Hypothesis
from regard.decoding.inferring import infer_each
from regard.decoding.ranking import log_sum_exp, top
from regard.decoding.rules import Rules
from regard.models.interface import State, Step
from regard.shapes import Source
from regard.special import BOS, EOS, PAD

_NOTHING = Hypothesis((), -math.inf, -math.inf)  # of a broken model, which leaves no token possible


def greedy(
    model: Step[State],
    source: Source,
    search: Search | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[Hypothesis]:
    """Decode every row of the source; rows that are done leave the batch."""
    found = dict(greedy_as_found(model, source, search or Search(width=1), prefixes))
    return [found[i] for i in range(len(source))]


@infer_each
def greedy_as_found(
    model: Step[State],
    source: Source,
    search: Search,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> Iterator[tuple[int, Hypothesis]]:
    """Each row's output, with its number, as soon as it has ended."""
    rules = Rules.of(search, source, prefixes)
    one_wide = replace(rules, search=replace(search, width=1, n_best=1))
    own = searched_by_itself(model, source, one_wide)
    if own is not None:
        yield from ((row, found[0] if found else _NOTHING) for row, found in own)
        return
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
        totals[alive] += best[:, 0].double() - sums.double()
        # A broken model may leave no token possible: then the output ends.
        tokens = tokens.masked_fill(best == -torch.inf, EOS)[:, 0]
        written[alive, length] = tokens
        is_kept = tokens != EOS
        for row in alive[~is_kept].tolist():
            yield row, search.hypothesis(written[row].tolist(), float(totals[row]))
        kept = is_kept.nonzero()[:, 0]
        if not len(kept):
            return
        if len(kept) < len(alive):
            alive, state = alive[kept], model.reorder(state, kept)
