"""Sampling: the next token is drawn by chance, as stories are written."""

import random
from collections.abc import Sequence

import torch

from regard.decoding.choices import Sampling, Search
from regard.decoding.hypothesis import Hypothesis
from regard.decoding.ranking import log_sum_exp
from regard.decoding.rules import Rules
from regard.models.interface import State, Step
from regard.shapes import Float, Int, Source, Tensor
from regard.special import BOS, EOS


@torch.inference_mode()
def sample(
    model: Step[State],
    source: Source,
    search: Search,
    prefixes: Sequence[Sequence[int]] | None = None,
    numbers: Sequence[int] | None = None,
) -> list[list[Hypothesis]]:
    """``n_best`` outputs drawn for each row of the source, most probable first.

    Each output has its own stream of chance, from the seed, the ``number`` of its source and its
    own: what is drawn does not depend on what else is in the batch.
    """
    sampling = search.sampling or Sampling()
    n, device = search.n_best, source.device
    numbers = range(len(source)) if numbers is None else numbers
    chances = [random.Random(f"{sampling.seed} {i} {j}") for i in numbers for j in range(n)]  # noqa: S311
    rules = Rules.of(search, source, prefixes)
    owners = torch.arange(len(source), device=device).repeat_interleave(n)
    alive = torch.arange(len(owners), device=device)
    written = torch.full((len(owners), int(rules.longest.max()) + 1), EOS, device=device)
    written[:, 0] = BOS
    totals = torch.zeros(len(owners), dtype=torch.float64, device=device)
    state = model.reorder(model.start(source), owners)
    for length in range(1, written.shape[1]):
        logits, state = model.step(state, written[alive, length - 1])
        sums = log_sum_exp(logits)
        rules.apply(logits, written[alive, :length], owners[alive])
        draws = [chances[row].random() for row in alive.tolist()]
        tokens = draw(logits, sampling, torch.tensor(draws, dtype=torch.float64, device=device))
        chosen = logits.gather(1, tokens[:, None])[:, 0]
        totals[alive] += (chosen - sums).double()
        written[alive, length] = tokens
        kept = (tokens != EOS).nonzero()[:, 0]
        if not len(kept):
            break
        if len(kept) < len(alive):
            alive, state = alive[kept], model.reorder(state, kept)
    drawn = [
        search.hypothesis(tokens, total)
        for tokens, total in zip(written.tolist(), totals.tolist(), strict=True)
    ]
    return [sorted(drawn[i : i + n], key=lambda one: -one.score) for i in range(0, len(drawn), n)]


def draw(
    logits: Float[Tensor, "R V"], sampling: Sampling, chance: Float[Tensor, "R"]
) -> Int[Tensor, "R"]:
    """The token at which the probabilities, summed from the most probable on, pass the chance."""
    n_kept = min(sampling.top_k or logits.shape[1], logits.shape[1])
    best, ids = (logits.double() / sampling.temperature).topk(n_kept, dim=-1)
    reached = best.softmax(-1).cumsum(-1)
    # The nucleus is the fewest tokens that reach top_p: those before which less is reached.
    before = torch.cat([torch.zeros_like(reached[:, :1]), reached[:, :-1]], dim=1)
    n_nucleus = (before < sampling.top_p).sum(1, keepdim=True)
    whole = reached.gather(1, n_nucleus - 1)
    place = torch.searchsorted(reached, chance[:, None] * whole, right=True)
    return ids.gather(1, torch.minimum(place, n_nucleus - 1))[:, 0]
