"""Left-to-right beam search: the W best prefixes go on; one that takes <EOS> leaves the beam."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import torch

from regard.decoding.choices import Search
from regard.decoding.hypothesis import Hypothesis
from regard.decoding.inferring import infer_each
from regard.decoding.ranking import log_sum_exp, top
from regard.decoding.rules import Rules
from regard.models.interface import Ended, SearchesItself, State, Step
from regard.shapes import Bool, Float, Int, Source, Tensor
from regard.special import BOS, EOS, PAD

_NOTHING = Hypothesis((), -math.inf, -math.inf)  # of a broken model, which leaves no token possible


def beam_search(
    model: Step[State],
    source: Source,
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


def greedy(
    model: Step[State],
    source: Source,
    search: Search | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[Hypothesis]:
    """Always the most probable next token: a beam of 1."""
    one_wide = replace(search or Search(), width=1, n_best=1)
    return [best for (best,) in beam_search(model, source, one_wide, prefixes)]


@infer_each
def beams_as_found(
    model: Step[State],
    source: Source,
    search: Search,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> Iterator[tuple[int, list[Hypothesis]]]:
    """Each row's hypotheses, with its number, as soon as its beam is empty."""
    rules = Rules.of(search, source, prefixes)
    own = searched_by_itself(model, source, rules)
    if own is not None:
        yield from own
        return
    state = model.start(source)
    beams = _Beams.of(rules)
    for length in range(1, beams.most + 1):
        logits, state = model.step(state, _on(source.device, beams.last_tokens(length)))
        sums = log_sum_exp(logits)
        written, sources = (_on(source.device, one) for one in beams.written(length))
        rules.apply(logits, written, sources)
        best, tokens = top(logits, min(search.width, logits.shape[1]))
        with np.errstate(invalid="ignore"):  # a broken model may leave no token possible
            found = _numbers(best) - _numbers(sums)[:, None]
        beams, rows = beams.extended(found, tokens.cpu().numpy(), length)
        yield from beams.ended
        if not len(rows):
            return
        state = model.reorder(state, _on(source.device, rows))


def searched_by_itself(
    model: Step[Any], source: Source, rules: Rules
) -> Iterator[tuple[int, list[Hypothesis]]] | None:
    """What the model finds by itself, if it can: the same, without a word from Python."""
    if not isinstance(model, SearchesItself) or source.device.type != "cpu":
        return None
    found = model.beams(source, rules.asked)
    return None if found is None else _hypotheses(found)


def _hypotheses(found: Iterator[Ended]) -> Iterator[tuple[int, list[Hypothesis]]]:
    for ended in found:
        for row, outputs in ended:
            yield row, [Hypothesis(*complete) for complete in outputs] or [_NOTHING]


def _numbers(tensor: Float[Tensor, "..."]) -> Float[np.ndarray, "..."]:
    # numpy knows no bfloat16, and every other operation of torch's gives the interpreter away
    exact = tensor.double() if tensor.dtype == torch.bfloat16 else tensor
    return exact.cpu().numpy().astype(np.float64)


def _on(device: torch.device, numbers: Int[np.ndarray, "..."]) -> Int[Tensor, "..."]:
    tensor = torch.from_numpy(numbers)
    return tensor if device.type == "cpu" else tensor.to(device)


@dataclass(frozen=True)
class _Beams:
    """The beams of the sources still searched for; a place of a beam may be empty (-inf).

    They are small, and changed at every step in many ways: numpy needs half of torch's time for
    that, and does not give the interpreter to another thread at each of them.
    """

    search: Search
    largest_penalty: Float[np.ndarray, "A"]
    sources: Int[np.ndarray, "A"]  # which source of the batch each beam is for
    live: Float[np.ndarray, "A W"]  # log-probabilities of the prefixes
    prefixes: Int[np.ndarray, "A W L"]
    done: Float[np.ndarray, "A n"]  # scores of the complete hypotheses, best first
    done_totals: Float[np.ndarray, "A n"]
    done_tokens: Int[np.ndarray, "A n L"]
    ended: tuple[tuple[int, list[Hypothesis]], ...] = ()  # sources whose last prefix went just now

    @classmethod
    def of(cls, rules: Rules) -> "_Beams":
        search, longest = rules.search, rules.longest.tolist()
        n, most = len(longest), max(longest)
        nothing = np.full((n, search.width), -np.inf)
        live = nothing.copy()
        live[:, 0] = 0.0  # every beam starts with one prefix: nothing but <BOS>
        prefixes = np.full((n, search.width, most + 1), PAD)
        prefixes[:, :, 0] = BOS
        return cls(
            search=search,
            largest_penalty=np.array([search.penalised(length) for length in longest]),
            sources=np.arange(n),
            live=live,
            prefixes=prefixes,
            done=nothing[:, : search.n_best],
            done_totals=nothing[:, : search.n_best],
            done_tokens=prefixes[:, : search.n_best],
        )

    @property
    def most(self) -> int:
        """Tokens of the longest output."""
        return int(self.prefixes.shape[2]) - 1

    @cached_property
    def _taken(self) -> Int[np.ndarray, "R"]:
        """The places of all beams, end to end, that hold a prefix: a row of the model each."""
        return np.flatnonzero(self.live > -np.inf)

    def last_tokens(self, length: int) -> Int[np.ndarray, "R"]:
        """The token each prefix ends with."""
        last: Int[np.ndarray, "R"] = self.prefixes[:, :, length - 1].ravel()[self._taken]
        return last

    def written(self, length: int) -> tuple[Int[np.ndarray, "R L"], Int[np.ndarray, "R"]]:
        """The prefixes, and the source of each."""
        beam, place = np.divmod(self._taken, self.search.width)
        return self.prefixes[beam, place, :length], self.sources[beam]

    def extended(
        self,
        log_probabilities: Float[np.ndarray, "R k"],
        tokens: Int[np.ndarray, "R k"],
        length: int,
    ) -> tuple["_Beams", Int[np.ndarray, "N"]]:
        """The beams after one more token, and the rows of the model that they go on from."""
        n, width, k, taken = len(self.live), self.search.width, tokens.shape[1], self._taken
        totals = np.full((n * width, k), -np.inf)
        totals[taken] = self.live.ravel()[taken, None] + log_probabilities
        candidates = np.zeros((n * width, k), dtype=np.int64)
        candidates[taken] = tokens
        best, chosen = _largest(totals.reshape(n, -1), width)
        parent, token = chosen // k, np.take_along_axis(candidates.reshape(n, -1), chosen, 1)
        extended = _taking(self.prefixes, parent)
        extended[:, :, length] = token

        is_end = token == EOS
        after = self._with_complete(is_end, best, extended, length) if is_end.any() else self
        hope = best / self.largest_penalty[:, None]
        live = np.where(is_end | (hope <= after.done[:, -1:]), -np.inf, best)
        row_of = np.zeros(n * width, dtype=np.int64)
        row_of[taken] = np.arange(len(taken))
        rows = np.take_along_axis(row_of.reshape(n, width), parent, 1)[live > -np.inf]
        after = replace(after, live=live, prefixes=extended, ended=())
        return after._without_finished(), rows

    def _with_complete(
        self,
        is_end: Bool[np.ndarray, "A W"],
        totals: Float[np.ndarray, "A W"],
        extended: Int[np.ndarray, "A W L"],
        length: int,
    ) -> "_Beams":
        """The best of those complete before and now."""
        scores = np.where(is_end, totals / self.search.penalised(length), -np.inf)
        done, kept = _largest(np.concatenate([self.done, scores], 1), self.search.n_best)
        all_totals = np.concatenate([self.done_totals, totals], 1)
        return replace(
            self,
            done=done,
            done_totals=np.take_along_axis(all_totals, kept, 1),
            done_tokens=_taking(np.concatenate([self.done_tokens, extended], 1), kept),
        )

    def _without_finished(self) -> "_Beams":
        is_live = (self.live > -np.inf).any(1)
        if is_live.all():
            return self
        gone = np.flatnonzero(~is_live).tolist()
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
            if score > -np.inf
        ] or [_NOTHING]


def _largest(
    values: Float[np.ndarray, "A C"], k: int
) -> tuple[Float[np.ndarray, "A k"], Int[np.ndarray, "A k"]]:
    """The k largest of each row, largest first, and where they stand."""
    places = np.argsort(-values, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(values, places, 1), places


def _taking(
    values: Int[np.ndarray, "A C L"], index: Int[np.ndarray, "A N"]
) -> Int[np.ndarray, "A N L"]:
    taken: Int[np.ndarray, "A N L"] = values[np.arange(len(values))[:, None], index]
    return taken
