"""Beam search for outputs that must contain given phrases (Post & Vilar 2018)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from regard.decoding.choices import Search
from regard.decoding.hypothesis import Hypothesis, Phrase, SourceLine
from regard.decoding.ranking import log_sum_exp, top
from regard.decoding.rules import Rules
from regard.models.interface import Step
from regard.shapes import Int, Tensor
from regard.special import BOS, EOS


@dataclass(frozen=True)
class _Begun:
    """The first tokens of a phrase, in one of its spellings."""

    phrase: Phrase
    spelling: tuple[int, ...]
    n_written: int

    @property
    def n_left(self) -> int:
        """The tokens that complete it."""
        return len(self.spelling) - self.n_written


@dataclass(frozen=True)
class _Progress:
    """Which phrases stand in a prefix, and all those that its last tokens may be the beginning of.

    Of phrases that begin alike ("in the house", "in the snow") any may be the one that is written.
    """

    unmet: tuple[Phrase, ...]
    n_met: int = 0  # tokens of the phrases that stand there
    begun: tuple[_Begun, ...] = ()

    @property
    def bank(self) -> int:
        """How many tokens of phrases are written: hypotheses compete with their like."""
        return self.n_met + max((one.n_written for one in self.begun), default=0)

    @property
    def n_left(self) -> int:
        """The fewest tokens that complete every phrase, one after the other."""
        anew = sum(map(_shortest, self.unmet))
        return min([anew, *(anew - _shortest(one.phrase) + one.n_left for one in self.begun)])

    def wanted(self) -> set[int]:
        """The tokens that bring a phrase forward, or begin one."""
        first = {spelling[0] for phrase in self.unmet for spelling in phrase}
        return first | {one.spelling[one.n_written] for one in self.begun}

    def taking(self, token: int) -> "_Progress":
        """After one more token; a phrase that is broken off must be begun anew."""
        anew = (_Begun(phrase, spelling, 0) for phrase in self.unmet for spelling in phrase)
        longer = [
            replace(one, n_written=one.n_written + 1)
            for one in dict.fromkeys((*self.begun, *anew))
            if one.spelling[one.n_written] == token
        ]
        unmet, n_met = list(self.unmet), self.n_met
        for one in longer:
            if not one.n_left and one.phrase in unmet:
                unmet.remove(one.phrase)
                n_met += len(one.spelling)
        begun = (one for one in longer if one.n_left and one.phrase in unmet)
        return _Progress(tuple(unmet), n_met, tuple(begun))


def _shortest(phrase: Phrase) -> int:
    return min(map(len, phrase))


@dataclass(frozen=True)
class _Prefix:
    tokens: tuple[int, ...]
    total: float
    progress: _Progress
    row: int  # of the model's state


@torch.inference_mode()
def constrained_search(
    model: Step[Any], source: Int[Tensor, "1 S"], search: Search, line: SourceLine
) -> list[Hypothesis]:
    """The best complete hypotheses that contain every phrase, best first.

    Prefixes that have written as many tokens of the phrases share a part of the beam, so that
    those which have begun improbable phrases are not driven out; <EOS> may come when every phrase
    stands there. Where the room left is just enough, only the phrases' own tokens may come.
    """
    rules = Rules.of(search, source, [line.prefix])
    wanted = _Progress(line.must)
    n_wanted = sum(max(len(spelling) for spelling in phrase) for phrase in line.must)
    longest = max(int(rules.longest[0]), len(line.prefix) + n_wanted + 1)
    rules = replace(rules, longest=rules.longest.clamp(min=longest))
    width = max(search.width, n_wanted + 1)
    owner = torch.zeros(1, dtype=torch.long, device=source.device)
    beam, state = [_Prefix((BOS,), 0.0, wanted, 0)], model.start(source)
    complete: list[Hypothesis] = []
    for length in range(1, longest + 1):
        written = torch.tensor([one.tokens for one in beam], device=source.device)
        logits, state = model.step(state, written[:, -1])
        sums = log_sum_exp(logits)
        plain = logits.clone()
        rules.apply(logits, written, owner.expand(len(beam)))
        best, ids = top(logits, min(width, logits.shape[1]))
        offered = zip(ids.tolist(), (best - sums[:, None]).double().tolist(), strict=True)
        is_free = length > len(line.prefix)
        grown: list[_Prefix] = []
        for row, (prefix, tokens) in enumerate(zip(beam, offered, strict=True)):
            own = (plain[row] - sums[row]).double() if is_free else None
            for token, gain in _extensions(prefix, tokens, own, longest - length):
                if gain == -torch.inf:
                    continue
                total = prefix.total + gain
                if token == EOS:
                    score = total / search.penalised(length)
                    complete.append(Hypothesis(prefix.tokens[1:], total, score))
                else:
                    progress = prefix.progress.taking(token)
                    grown.append(_Prefix((*prefix.tokens, token), total, progress, row))
        complete = sorted(complete, key=lambda one: -one.score)[: search.n_best]
        least = complete[-1].score if len(complete) == search.n_best else -torch.inf
        hopeful = [one for one in grown if one.total / search.penalised(longest) > least]
        beam = _share(hopeful, width)
        if not beam:
            break
        state = model.reorder(state, torch.tensor([one.row for one in beam], device=source.device))
    return complete


def _extensions(
    prefix: _Prefix,
    offered: tuple[Sequence[int], Sequence[float]],
    own: Tensor | None,
    n_after: int,
) -> Iterator[tuple[int, float]]:
    """Tokens that may follow: the most probable and those that phrases need, each once.

    ``n_after`` tokens may follow the new one, <EOS> among them.
    """
    progress, seen = prefix.progress, set()
    for token, gain in zip(*offered, strict=True):
        if token == EOS and progress.n_left:
            continue
        if token != EOS and progress.taking(token).n_left + 1 > n_after:
            continue
        seen.add(token)
        yield token, gain
    if own is not None:
        for token in sorted(progress.wanted() - seen):
            if progress.taking(token).n_left + 1 <= n_after:
                yield token, float(own[token])


def _share(grown: list[_Prefix], width: int) -> list[_Prefix]:
    """The beam to go on with: the best of each bank in turn until it is full."""
    banks: dict[int, list[_Prefix]] = {}
    for one in sorted(grown, key=lambda one: -one.total):
        banks.setdefault(one.progress.bank, []).append(one)
    kept: list[_Prefix] = []
    for rank in range(width):
        for bank in sorted(banks, reverse=True):
            if rank < len(banks[bank]) and len(kept) < width:
                kept.append(banks[bank][rank])
    return kept
