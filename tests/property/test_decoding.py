"""Searches, whatever the model: exhaustive search, one by one and teacher forcing agree."""

from dataclasses import dataclass
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from regard.decoding import Limits, beam_search, greedy, length_penalty
from regard.models import Sizes, Transformer

PAD, BOS, EOS = 0, 2, 3
ALPHAS = (0.0, 0.6, 1.0, 2.5)

SHORT = Limits(factor=1.0, extra=3)

few = settings(max_examples=15)  # for those that run a Transformer
seeds = st.integers(0, 10_000)
alphas = st.sampled_from(ALPHAS)


@dataclass(frozen=True)
class Written:
    """The prefix of every row, and the source it is for."""

    source: Tensor
    prefixes: tuple[tuple[int, ...], ...]


class Table:
    """Gives each prefix of each source its own next-token probabilities, always the same ones.

    PAD and BOS are made likely, so that a search that does not rule them out is caught.
    """

    def __init__(self, n_tokens: int, seed: int) -> None:
        self.n_tokens, self.seed = n_tokens, seed
        self.rows: list[int] = []  # of every step

    def start(self, source: Tensor) -> Written:
        return Written(source, ((),) * len(source))

    def step(self, state: Written, tokens: Tensor) -> tuple[Tensor, Written]:
        self.rows.append(len(tokens))
        pairs = zip(state.prefixes, tokens.tolist(), strict=True)
        prefixes = tuple((*prefix, token) for prefix, token in pairs)
        sources = state.source.tolist()
        rows = [self.next(*row) for row in zip(sources, prefixes, strict=True)]
        return torch.stack(rows), Written(state.source, prefixes)

    def reorder(self, state: Written, rows: Tensor) -> Written:
        prefixes = tuple(state.prefixes[row] for row in rows.tolist())
        return Written(state.source[rows], prefixes)

    def next(self, source: list[int], prefix: tuple[int, ...]) -> Tensor:
        words = tuple(word for word in source if word != PAD)
        key = hash((self.seed, words, prefix)) % 2**62  # whole numbers: the same in every run
        random = torch.Generator().manual_seed(key)
        logits = 2 * torch.randn(self.n_tokens, generator=random, dtype=torch.float64)
        logits[[PAD, BOS]] += 3
        return logits.log_softmax(-1).float()

    def log_probability(self, source: list[int], tokens: tuple[int, ...]) -> float:
        """Of these tokens and then <EOS>."""
        total, prefix = 0.0, (BOS,)
        for token in (*tokens, EOS):
            total += float(self.next(source, prefix)[token])
            prefix = (*prefix, token)
        return total

    def answers(
        self, source: list[int], limits: Limits, alpha: float
    ) -> list[tuple[float, tuple[int, ...]]]:
        """Every output the limits allow, the best first."""
        longest = limits.longest(sum(word != PAD for word in source))
        words = [token for token in range(self.n_tokens) if token not in (PAD, BOS, EOS)]
        return sorted(
            (
                (self.log_probability(source, tokens) / length_penalty(n + 1, alpha), tokens)
                for n in range(min(limits.least, longest - 1), longest)
                for tokens in product(words, repeat=n)
            ),
            reverse=True,
        )


def transformer(seed: int, is_pre_norm: bool = False) -> Transformer:
    """A small one with opinions: fresh weights, made larger, in float64."""
    torch.manual_seed(seed)
    sizes = Sizes(d_model=8, n_heads=2, d_feedforward=12, is_pre_norm=is_pre_norm)
    model = Transformer(9, 9, sizes, n_layers=1).double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return model


@st.composite
def sources(draw: st.DrawFn) -> Tensor:
    rows = draw(st.lists(st.lists(st.integers(4, 8), max_size=4), min_size=1, max_size=4))
    longest = 1 + max(map(len, rows))
    return torch.tensor([[*row, EOS, *[PAD] * (longest - 1 - len(row))] for row in rows])


@given(seeds, sources(), alphas, st.integers(0, 3))
def test_a_beam_wide_enough_finds_the_best_of_all(
    seed: int, source: Tensor, alpha: float, least: int
) -> None:
    """And the next best, in order: nothing is cut off, and stopping early loses nothing."""
    table, limits = Table(6, seed), Limits(factor=0.0, extra=4, least=least)
    found = beam_search(table, source, 90, alpha=alpha, n_best=3, limits=limits)
    for row, hypotheses in zip(source.tolist(), found, strict=True):
        best = table.answers(row, limits, alpha)[:3]
        assert [h.tokens for h in hypotheses] == [tokens for _, tokens in best]
        for hypothesis, (score, tokens) in zip(hypotheses, best, strict=True):
            assert hypothesis.score == pytest.approx(score, abs=1e-5)
            expected = table.log_probability(row, tokens)
            assert hypothesis.log_probability == pytest.approx(expected, abs=1e-5)


@given(seeds, sources(), alphas, st.integers(1, 4))
def test_stopping_early_gives_what_running_to_the_limit_gives(
    seed: int, source: Tensor, alpha: float, width: int
) -> None:
    """Asking for all W hypotheses keeps the search going longest; its best is the same."""
    table, limits = Table(7, seed), Limits(factor=1.0, extra=4)
    few = beam_search(table, source, width, alpha=alpha, limits=limits)
    n_early = sum(table.rows)
    table.rows.clear()
    many = beam_search(table, source, width, alpha=alpha, n_best=width, limits=limits)
    assert [h[0] for h in few] == [h[0] for h in many]
    assert n_early <= sum(table.rows)


@few
@given(seeds, sources(), st.booleans())
def test_a_beam_of_one_is_greedy(seed: int, source: Tensor, is_pre_norm: bool) -> None:
    model = transformer(seed, is_pre_norm)
    one = beam_search(model, source, 1, alpha=0.0, limits=SHORT)
    for (hypothesis,), plain in zip(one, greedy(model, source, SHORT), strict=True):
        assert hypothesis.tokens == plain.tokens
        assert hypothesis.log_probability == pytest.approx(plain.log_probability, abs=1e-5)


@few
@given(seeds, sources(), alphas, st.integers(1, 4))
def test_a_batch_is_its_rows_one_by_one(
    seed: int, source: Tensor, alpha: float, width: int
) -> None:
    """Neighbours, padding and rows that left early change nothing."""
    for model in (transformer(seed), Table(9, seed)):
        together = beam_search(model, source, width, alpha=alpha, n_best=width, limits=SHORT)
        plainly = greedy(model, source, SHORT)
        for i, row in enumerate(source):
            alone = row[row != PAD][None]
            (hypotheses,) = beam_search(
                model, alone, width, alpha=alpha, n_best=width, limits=SHORT
            )
            assert [h.tokens for h in together[i]] == [h.tokens for h in hypotheses]
            assert plainly[i].tokens == greedy(model, alone, SHORT)[0].tokens


@few
@given(seeds, sources(), alphas)
def test_scores_are_those_of_teacher_forcing(seed: int, source: Tensor, alpha: float) -> None:
    """Cached steps give the log-probabilities that one pass over the whole output gives."""
    model = transformer(seed)
    found = beam_search(model, source, 3, alpha=alpha, n_best=3, limits=SHORT)
    for row, hypotheses, plain in zip(source, found, greedy(model, source, SHORT), strict=True):
        for hypothesis in (*hypotheses, plain):
            target = torch.tensor([[BOS, *hypothesis.tokens, EOS]])
            logits = model(row[None], target[:, :-1])
            steps = F.log_softmax(logits, -1).gather(2, target[:, 1:, None])
            assert hypothesis.log_probability == pytest.approx(steps.sum().item(), abs=1e-5)
        for hypothesis in hypotheses:
            penalty = length_penalty(len(hypothesis.tokens) + 1, alpha)
            assert hypothesis.score == pytest.approx(hypothesis.log_probability / penalty, abs=1e-5)


@given(seeds, sources(), alphas, st.integers(1, 5), st.integers(1, 6), st.integers(0, 7))
def test_what_is_found_is_sorted_distinct_and_within_limits(
    seed: int, source: Tensor, alpha: float, width: int, extra: int, least: int
) -> None:
    table, limits = Table(7, seed), Limits(factor=0.5, extra=extra, most=6, least=least)
    found = beam_search(table, source, width, alpha=alpha, n_best=width, limits=limits)
    for row, hypotheses, plain in zip(source, found, greedy(table, source, limits), strict=True):
        longest = limits.longest(int((row != PAD).sum()))
        scores = [h.score for h in hypotheses]
        assert scores == sorted(scores, reverse=True)
        assert len({h.tokens for h in hypotheses}) == len(hypotheses) >= 1
        for hypothesis in (*hypotheses, plain):
            assert not {PAD, BOS, EOS} & set(hypothesis.tokens)
            assert min(least, longest - 1) <= len(hypothesis.tokens) <= longest - 1


@given(seeds, sources())
def test_rows_that_are_done_leave_the_batch(seed: int, source: Tensor) -> None:
    table = Table(6, seed)
    lengths = [len(h.tokens) + 1 for h in greedy(table, source)]
    assert sum(table.rows) == sum(lengths)
    assert len(table.rows) == max(lengths)
    assert table.rows == sorted(table.rows, reverse=True)
