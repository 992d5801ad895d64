"""Left-to-right beam search: the W best prefixes go on; one that takes <EOS> leaves the beam."""

import torch

from regard.decoding.greedy import forbid
from regard.decoding.hypothesis import Hypothesis, Limits, length_penalty
from regard.errors import UsageError
from regard.models.interface import State, Step
from regard.shapes import Float, Int, Tensor
from regard.special import BOS, EOS, PAD


@torch.no_grad()
def beam_search(
    model: Step[State],
    source: Int[Tensor, "B S"],
    width: int = 5,
    *,
    alpha: float = 1.0,
    n_best: int = 1,
    limits: Limits | None = None,
) -> list[list[Hypothesis]]:
    """The ``n_best`` best complete hypotheses found for each row of the source, best first.

    At every step each prefix in the beam is extended by every token and the best W go on; a
    prefix extended by <EOS> joins the complete ones. A row is done when no prefix still in its
    beam could, however it ends, come before its ``n_best``-th complete one: its log-probability
    can only fall, and no length penalty is larger than that of the longest allowed output.
    """
    if width < 1 or n_best < 1 or alpha < 0:
        raise UsageError(
            f"a search of width = {width}, n_best = {n_best} and alpha = {alpha:g} is not "
            "possible: width and n_best are 1 or more, alpha is 0 or more"
        )
    limits = limits or Limits()
    n_best = min(n_best, width)
    device = source.device
    longest = torch.tensor([limits.longest(int(n)) for n in (source != PAD).sum(1)], device=device)
    most = int(longest.max())
    largest_penalty = torch.tensor(
        [length_penalty(n, alpha) for n in longest.tolist()], device=device
    )
    results: list[list[Hypothesis]] = [[] for _ in range(source.shape[0])]

    alive = torch.arange(source.shape[0], device=device)  # which source each row of the beam is for
    state = model.reorder(model.start(source), alive.repeat_interleave(width))
    live = torch.full((len(alive), width), -torch.inf, device=device)
    live[:, 0] = 0.0  # all W prefixes start the same: only one of them counts
    prefixes = torch.full((len(alive), width, most + 1), PAD, device=device)
    prefixes[:, :, 0] = BOS
    done = torch.full((len(alive), width), -torch.inf, device=device)
    done_raw = done.clone()
    done_tokens = torch.full_like(prefixes, PAD)

    for length in range(1, most + 1):
        log_probabilities, state = model.step(state, prefixes[:, :, length - 1].reshape(-1))
        forbid(log_probabilities, length, longest[alive].repeat_interleave(width), limits.least)
        n_tokens = log_probabilities.shape[-1]
        totals = live[:, :, None] + log_probabilities.view(len(alive), width, n_tokens)
        # Of 2W candidates at most W end, one a prefix: W that go on are always among them.
        best, flat = totals.flatten(1).topk(min(2 * width, width * n_tokens), dim=-1)
        parent, token = flat // n_tokens, flat % n_tokens
        ends = token == EOS
        extended = _rows(prefixes, parent)
        extended[:, :, length] = token

        penalty = length_penalty(length, alpha)
        # Only an <EOS> among the W best extensions leaves the beam as a complete hypothesis.
        completes = ends & (torch.arange(ends.shape[1], device=device) < width)
        ranked = torch.where(completes, best / penalty, -torch.inf)
        done, chosen = torch.cat([done, ranked], 1).topk(width, dim=-1)
        done_raw = torch.cat([done_raw, best], 1).gather(1, chosen)
        done_tokens = _rows(torch.cat([done_tokens, extended], 1), chosen)

        live, chosen = best.masked_fill(ends, -torch.inf).topk(width, dim=-1)
        prefixes = _rows(extended, chosen)
        rows = parent.gather(1, chosen) + width * torch.arange(len(alive), device=device)[:, None]

        hope = live[:, 0] / largest_penalty[alive]
        is_done = (done[:, n_best - 1] >= hope) | (longest[alive] <= length) | (hope == -torch.inf)
        for row in is_done.nonzero()[:, 0].tolist():
            results[int(alive[row])] = _hypotheses(
                done_tokens[row], done_raw[row], done[row], n_best
            )
        if bool(is_done.all()):
            break
        if bool(is_done.any()):
            kept = (~is_done).nonzero()[:, 0]
            alive, live, prefixes, rows = alive[kept], live[kept], prefixes[kept], rows[kept]
            done, done_raw, done_tokens = done[kept], done_raw[kept], done_tokens[kept]
        state = model.reorder(state, rows.flatten())
    return results


def _rows(values: Int[Tensor, "B C L"], index: Int[Tensor, "B N"]) -> Int[Tensor, "B N L"]:
    return values.gather(1, index[:, :, None].expand(-1, -1, values.shape[-1]))


def _hypotheses(
    tokens: Int[Tensor, "W L"], raw: Float[Tensor, "W"], scores: Float[Tensor, "W"], n_best: int
) -> list[Hypothesis]:
    found: list[Hypothesis] = []
    for words, log_probability, score in zip(
        tokens.tolist(), raw.tolist(), scores.tolist(), strict=True
    ):
        if score > -torch.inf and len(found) < n_best:
            end = words.index(EOS)
            found.append(Hypothesis(tuple(words[1:end]), log_probability, score))
    return found
