"""Left-to-right beam search: the W best prefixes go on; one that takes <EOS> leaves the beam."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import torch

from regard.decoding.choices import Search
from regard.decoding.hypothesis import Hypothesis
from regard.decoding.inferring import infer_each
from regard.decoding.rules import Rules
from regard.kernels import log_sum_exp, top
from regard.models.interface import State, Step
from regard.shapes import Float, Int, Tensor
from regard.special import BOS, EOS, PAD


def beam_search(
    model: Step[State],
    source: Int[Tensor, "B S"],
    search: Search | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[list[Hypothesis]]:
    """The best complete hypotheses found for each row of the source, best first.

    At every step each prefix in the beam is extended by every token and the W best extensions are
    kept; one that ends with <EOS> is complete and leaves the beam. A prefix is given up when it
    could not, however it goes on, come before the ``n_best``-th complete hypothesis: its
    log-probability can only fall, and no penalty is larger than that of the longest output.
    Nothing is lost by that, for every prefix it might have kept from the beam is less probable
    still and as hopeless. A beam of 1 is greedy search.
    """
    found = dict(beams_as_found(model, source, search or Search(), prefixes))
    return [found[i] for i in range(len(source))]


@infer_each
def beams_as_found(
    model: Step[State],
    source: Int[Tensor, "B S"],
    search: Search,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> Iterator[tuple[int, list[Hypothesis]]]:
    """The same, each with its row of the source, as soon as its beam is empty."""
    rules = Rules.of(search, source, prefixes)
    beams = _Beams.of(source, rules, search)
    state = model.start(source)
    for length in range(1, int(rules.longest.max()) + 1):
        logits, state = model.step(state, beams.last_tokens(length))
        sums = log_sum_exp(logits)
        written, sources = beams.written(length)
        rules.apply(logits, written, sources)
        best, tokens = top(logits, min(search.width, logits.shape[1]))
        beams, rows = beams.extended((best - sums[:, None]).double(), tokens, length)
        yield from beams.ended
        if not len(rows):
            return
        state = model.reorder(state, rows)


@dataclass(frozen=True)
class _Beams:
    """The beams of the sources still searched for; a place of a beam may be empty (-inf)."""

    search: Search
    largest_penalty: Float[Tensor, "A"]
    sources: Int[Tensor, "A"]  # which source of the batch each beam is for
    live: Float[Tensor, "A W"]  # log-probabilities of the prefixes
    prefixes: Int[Tensor, "A W L"]
    done: Float[Tensor, "A n"]  # scores of the complete hypotheses, best first
    done_totals: Float[Tensor, "A n"]
    done_tokens: Int[Tensor, "A n L"]
    ended: tuple[tuple[int, list[Hypothesis]], ...] = ()  # sources whose last prefix went just now

    @classmethod
    def of(cls, source: Int[Tensor, "B S"], rules: Rules, search: Search) -> "_Beams":
        n, device, most = len(source), source.device, int(rules.longest.max())
        penalties = [search.penalised(length) for length in rules.longest.tolist()]
        nothing = torch.full((n, search.width), -torch.inf, dtype=torch.float64, device=device)
        live = nothing.clone()
        live[:, 0] = 0.0  # every beam starts with one prefix: nothing but <BOS>
        prefixes = torch.full((n, search.width, most + 1), PAD, device=device)
        prefixes[:, :, 0] = BOS
        return cls(
            search=search,
            largest_penalty=torch.tensor(penalties, dtype=torch.float64, device=device),
            sources=torch.arange(n, device=device),
            live=live,
            prefixes=prefixes,
            done=nothing[:, : search.n_best],
            done_totals=nothing[:, : search.n_best],
            done_tokens=prefixes[:, : search.n_best],
        )

    @cached_property
    def _taken(self) -> Int[Tensor, "R"]:
        """The places of all beams, end to end, that hold a prefix: a row of the model each."""
        return (self.live.flatten() > -torch.inf).nonzero()[:, 0]

    def last_tokens(self, length: int) -> Int[Tensor, "R"]:
        """The token each prefix ends with."""
        return self.prefixes[:, :, length - 1].flatten()[self._taken]

    def written(self, length: int) -> tuple[Int[Tensor, "R L"], Int[Tensor, "R"]]:
        """The prefixes, and the source of each."""
        taken = self._taken
        prefixes = self.prefixes[:, :, :length].flatten(0, 1)[taken]
        return prefixes, self.sources[taken // self.search.width]

    def extended(
        self, log_probabilities: Float[Tensor, "R k"], tokens: Int[Tensor, "R k"], length: int
    ) -> tuple["_Beams", Int[Tensor, "N"]]:
        """The beams after one more token, and the rows of the model that they go on from."""
        n, width, k, taken = len(self.live), self.search.width, tokens.shape[1], self._taken
        totals = self.live.new_full((n * width, k), -torch.inf)
        totals[taken] = self.live.flatten()[taken, None] + log_probabilities
        candidates = tokens.new_zeros(n * width, k)
        candidates[taken] = tokens
        best, chosen = totals.view(n, -1).topk(min(width, width * k), dim=-1)
        parent, token = chosen // k, candidates.view(n, -1).gather(1, chosen)
        extended = _taking(self.prefixes, parent)
        extended[:, :, length] = token

        is_end = token == EOS
        scores = torch.where(is_end, best / self.search.penalised(length), -torch.inf)
        done, kept = torch.cat([self.done, scores], 1).topk(self.search.n_best, dim=-1)
        done_totals = torch.cat([self.done_totals, best], 1).gather(1, kept)
        done_tokens = _taking(torch.cat([self.done_tokens, extended], 1), kept)

        hope = best / self.largest_penalty[:, None]
        live = torch.where(is_end | (hope <= done[:, -1:]), -torch.inf, best)
        row_of = taken.new_zeros(n * width)
        row_of[taken] = torch.arange(len(taken), device=taken.device)
        rows = row_of.view(n, width).gather(1, parent)[live > -torch.inf]
        after = replace(
            self,
            live=live,
            prefixes=extended,
            done=done,
            done_totals=done_totals,
            done_tokens=done_tokens,
            ended=(),
        )
        return after._without_finished(), rows

    def _without_finished(self) -> "_Beams":
        is_live = (self.live > -torch.inf).any(1)
        if bool(is_live.all()):
            return self
        gone = (~is_live).nonzero()[:, 0].tolist()
        return replace(
            self,
            ended=tuple((int(self.sources[beam]), self._complete(beam)) for beam in gone),
            largest_penalty=self.largest_penalty[is_live],
            sources=self.sources[is_live],
            live=self.live[is_live],
            prefixes=self.prefixes[is_live],
            done=self.done[is_live],
            done_totals=self.done_totals[is_live],
            done_tokens=self.done_tokens[is_live],
        )

    def _complete(self, beam: int) -> list[Hypothesis]:
        found = zip(
            self.done_tokens[beam].tolist(),
            self.done_totals[beam].tolist(),
            self.done[beam].tolist(),
            strict=True,
        )
        return [
            Hypothesis(tuple(tokens[1 : tokens.index(EOS)]), total, score)
            for tokens, total, score in found
            if score > -torch.inf
        ]


def _taking(values: Int[Tensor, "A C L"], index: Int[Tensor, "A N"]) -> Int[Tensor, "A N L"]:
    return values.gather(1, index[:, :, None].expand(-1, -1, values.shape[-1]))
