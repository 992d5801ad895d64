"""Searches, whatever the model: exhaustive search, one by one and teacher forcing agree."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from regard.decoding import (
    Hypothesis,
    Limits,
    Search,
    SourceLine,
    beam_search,
    constrained_search,
    greedy,
    search_many,
)
from regard.models import Sizes, Transformer

PAD, BOS, EOS = 0, 2, 3
ALPHAS = (0.0, 0.6, 1.0, 2.5)

SHORT = Limits(factor=1.0, extra=3)
SHORTLY = Search(1, limits=SHORT)

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
                (
                    self.log_probability(source, tokens) / Search(alpha=alpha).penalised(n + 1),
                    tokens,
                )
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
    found = beam_search(table, source, Search(90, 3, alpha, limits=limits))
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
    few = beam_search(table, source, Search(width, 1, alpha, limits=limits))
    n_early = sum(table.rows)
    table.rows.clear()
    many = beam_search(table, source, Search(width, width, alpha, limits=limits))
    assert [h[0] for h in few] == [h[0] for h in many]
    assert n_early <= sum(table.rows)


@few
@given(seeds, sources(), st.booleans(), alphas)
def test_a_beam_of_one_is_greedy(
    seed: int, source: Tensor, is_pre_norm: bool, alpha: float
) -> None:
    model = transformer(seed, is_pre_norm)
    one = beam_search(model, source, Search(1, alpha=alpha, limits=SHORT))
    for (hypothesis,), plain in zip(one, greedy(model, source, SHORTLY), strict=True):
        assert hypothesis.tokens == plain.tokens
        assert hypothesis.log_probability == pytest.approx(plain.log_probability, abs=1e-5)


@few
@given(seeds, sources(), alphas, st.integers(1, 4))
def test_a_batch_is_its_rows_one_by_one(
    seed: int, source: Tensor, alpha: float, width: int
) -> None:
    """Neighbours, padding and rows that left early change nothing."""
    for model in (transformer(seed), Table(9, seed)):
        together = beam_search(model, source, Search(width, width, alpha, limits=SHORT))
        plainly = greedy(model, source, SHORTLY)
        for i, row in enumerate(source):
            alone = row[row != PAD][None]
            (hypotheses,) = beam_search(model, alone, Search(width, width, alpha, limits=SHORT))
            assert [h.tokens for h in together[i]] == [h.tokens for h in hypotheses]
            assert plainly[i].tokens == greedy(model, alone, SHORTLY)[0].tokens


@few
@given(seeds, sources(), alphas)
def test_scores_are_those_of_teacher_forcing(seed: int, source: Tensor, alpha: float) -> None:
    """Cached steps give the log-probabilities that one pass over the whole output gives."""
    model = transformer(seed)
    found = beam_search(model, source, Search(3, 3, alpha, limits=SHORT))
    for row, hypotheses, plain in zip(source, found, greedy(model, source, SHORTLY), strict=True):
        for hypothesis in (*hypotheses, plain):
            target = torch.tensor([[BOS, *hypothesis.tokens, EOS]])
            logits = model(row[None], target[:, :-1])
            steps = F.log_softmax(logits, -1).gather(2, target[:, 1:, None])
            assert hypothesis.log_probability == pytest.approx(steps.sum().item(), abs=1e-5)
        for hypothesis in hypotheses:
            penalty = Search(alpha=alpha).penalised(len(hypothesis.tokens) + 1)
            assert hypothesis.score == pytest.approx(hypothesis.log_probability / penalty, abs=1e-5)


@given(seeds, sources(), alphas, st.integers(1, 5), st.integers(1, 6), st.integers(0, 6))
def test_what_is_found_is_sorted_distinct_and_within_limits(
    seed: int, source: Tensor, alpha: float, width: int, extra: int, least: int
) -> None:
    table, limits = Table(7, seed), Limits(factor=0.5, extra=extra, most=6, least=least)
    found = beam_search(table, source, Search(width, width, alpha, limits=limits))
    for row, hypotheses, plain in zip(
        source, found, greedy(table, source, Search(1, limits=limits)), strict=True
    ):
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


def as_the_lecture_says(
    table: Table, source: list[int], search: Search, longest: int
) -> list[tuple[float, tuple[int, ...]]]:
    """Beam search word for word, run to the end: nothing is given up early."""
    beam, complete = [(0.0, (BOS,))], []
    for length in range(1, longest + 1):
        extended = []
        for total, prefix in beam:
            following = table.next(source, prefix)
            for token in range(table.n_tokens):
                is_limit = length == longest
                if token not in (PAD, BOS) and (token == EOS or not is_limit):
                    extended.append((total + float(following[token]), (*prefix, token)))
        best = sorted(extended, reverse=True)[: search.width]
        beam = [one for one in best if one[1][-1] != EOS]
        complete += [
            (total / search.penalised(length), prefix[1:-1])
            for total, prefix in best
            if prefix[-1] == EOS
        ]
    return sorted(complete, reverse=True)[: search.n_best]


@given(
    seeds, sources(), alphas, st.integers(1, 4), st.integers(1, 4), st.sampled_from(["wu", "power"])
)
def test_a_beam_is_as_the_lecture_says(
    seed: int, source: Tensor, alpha: float, width: int, n_best: int, penalty: str
) -> None:
    """Giving up hopeless prefixes changes nothing that is found."""
    table, limits = Table(7, seed), Limits(factor=1.0, extra=4)
    search = Search(width, min(n_best, width), alpha, penalty, limits)
    for row, hypotheses in zip(source.tolist(), beam_search(table, source, search), strict=True):
        longest = limits.longest(sum(word != PAD for word in row))
        expected = as_the_lecture_says(table, row, search, longest)
        assert [h.tokens for h in hypotheses] == [tokens for _, tokens in expected]
        scores = [h.score for h in hypotheses]
        assert scores == pytest.approx([score for score, _ in expected], abs=1e-5)


def contains(tokens: tuple[int, ...], phrase: tuple[int, ...]) -> bool:
    return any(tokens[i : i + len(phrase)] == phrase for i in range(len(tokens)))


phrases = st.lists(st.integers(4, 8), min_size=1, max_size=3).map(tuple)


@given(seeds, sources(), alphas, st.lists(phrases, max_size=2), phrases | st.just(()))
def test_phrases_that_must_appear_do(
    seed: int,
    source: Tensor,
    alpha: float,
    must: list[tuple[int, ...]],
    prefix: tuple[int, ...],
) -> None:
    table, search = Table(9, seed), Search(3, 2, alpha, limits=SHORT)
    words = tuple(word for word in source[0].tolist() if word != PAD)
    line = SourceLine(words, prefix, tuple((phrase,) for phrase in must))
    found = constrained_search(table, torch.tensor([words]), search, line)
    assert found
    for hypothesis in found:
        assert hypothesis.tokens[: len(prefix)] == prefix
        assert all(contains(hypothesis.tokens, phrase) for phrase in must)
        expected = table.log_probability(list(words), hypothesis.tokens)
        assert hypothesis.log_probability == pytest.approx(expected, abs=1e-5)


@given(seeds, sources(), phrases, st.lists(phrases, min_size=2, max_size=3))
def test_phrases_are_met_in_any_order(
    seed: int, source: Tensor, shared: tuple[int, ...], ends: list[tuple[int, ...]]
) -> None:
    """Phrases that begin alike too: which of them comes first is the model's choice."""
    table, search = Table(9, seed), Search(4, 2, limits=SHORT)
    words = tuple(word for word in source[0].tolist() if word != PAD)
    must = tuple(((*shared, *end),) for end in ends)
    there, back = (
        constrained_search(table, torch.tensor([words]), search, SourceLine(words, must=phrases))
        for phrases in (must, must[::-1])
    )
    assert [one.tokens for one in there] == [one.tokens for one in back]


@given(seeds, sources(), st.integers(4, 8), st.integers(4, 8))
def test_a_phrase_may_be_spelled_in_several_ways(
    seed: int, source: Tensor, first: int, second: int
) -> None:
    table, search = Table(9, seed), Search(3, limits=SHORT)
    words = tuple(word for word in source[0].tolist() if word != PAD)
    line = SourceLine(words, must=(((first, second), (second, second, first)),))
    (found,) = constrained_search(table, torch.tensor([words]), search, line)
    assert contains(found.tokens, (first, second)) or contains(
        found.tokens, (second, second, first)
    )


@given(seeds, sources(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
def test_many_at_once_are_each_by_itself(
    seed: int, source: Tensor, width: int, rows: int, n_workers: int
) -> None:
    """Sorted, cut into batches and spread over workers, and given back in order."""
    table, search = Table(7, seed), Search(width, limits=SHORT)
    lines = [SourceLine(tuple(word for word in row if word != PAD)) for row in source.tolist()]
    read: list[int] = []

    def reading() -> Iterator[SourceLine]:
        for number, line in enumerate(lines):
            read.append(number)
            yield line

    found = search_many(
        [table], reading(), search, batch_rows=rows, n_workers=n_workers, read_ahead=2
    )
    n_before = torch.get_num_threads()
    results: list[list[Hypothesis]] = []
    for number, hypotheses in enumerate(found):
        results.append(hypotheses)
        assert len(read) <= max(number + 1 + max(2, rows * n_workers), len(read[: number + 1]))
    assert torch.get_num_threads() == n_before
    for line, hypotheses in zip(lines, results, strict=True):
        (alone,) = beam_search(table, torch.tensor([line.tokens]), search)
        assert [h.tokens for h in hypotheses] == [h.tokens for h in alone]
