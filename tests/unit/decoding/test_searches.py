"""Greedy and beam search over a model whose every probability is written down."""

import math

import pytest
import torch
from torch import Tensor

from regard.decoding import Hypothesis, Limits, beam_search, greedy, length_penalty
from regard.errors import UsageError

PAD, BOS, EOS, A, B = 0, 2, 3, 4, 5
SOURCE = torch.tensor([[A, EOS]])

# After each prefix: probabilities of <EOS>, A and B. Greedy is led astray by A.
TRIE = {
    (): (0.1, 0.5, 0.4),
    (A,): (0.4, 0.3, 0.3),
    (B,): (0.9, 0.05, 0.05),
    (A, A): (0.8, 0.1, 0.1),
    (A, B): (0.9, 0.05, 0.05),
}


class Trie:
    """The table as a model; what is not in it ends."""

    def __init__(self, trie: dict[tuple[int, ...], tuple[float, float, float]]) -> None:
        self.trie = trie

    def start(self, source: Tensor) -> list[tuple[int, ...]]:
        return [()] * len(source)

    def step(
        self, state: list[tuple[int, ...]], tokens: Tensor
    ) -> tuple[Tensor, list[tuple[int, ...]]]:
        prefixes = [
            prefix if token == BOS else (*prefix, token)
            for prefix, token in zip(state, tokens.tolist(), strict=True)
        ]
        rows = torch.full((len(prefixes), 6), -torch.inf)
        for row, prefix in zip(rows, prefixes, strict=True):
            row[EOS:] = torch.tensor(self.trie.get(prefix, (1.0, 0.0, 0.0))).log()
        return rows, prefixes

    def reorder(self, state: list[tuple[int, ...]], rows: Tensor) -> list[tuple[int, ...]]:
        return [state[row] for row in rows.tolist()]


def found(hypotheses: list[Hypothesis]) -> list[tuple[tuple[int, ...], float]]:
    return [(h.tokens, round(math.exp(h.log_probability), 4)) for h in hypotheses]


def test_greedy_takes_the_best_token_each_time() -> None:
    assert found(greedy(Trie(TRIE), SOURCE)) == [((A,), 0.2)]


def test_a_beam_of_two_sees_past_it() -> None:
    (hypotheses,) = beam_search(Trie(TRIE), SOURCE, 2, alpha=0.0, n_best=2)
    assert found(hypotheses) == [((B,), 0.36), ((A,), 0.2)]


def test_the_penalty_prefers_longer_outputs() -> None:
    (hypotheses,) = beam_search(Trie(TRIE), SOURCE, 8, alpha=6.0)
    assert found(hypotheses) == [((A, B), 0.135)]


def test_scores_are_divided_by_the_penalty() -> None:
    ((hypothesis,),) = beam_search(Trie(TRIE), SOURCE, 2, alpha=1.0)
    assert hypothesis.tokens == (B,)
    assert hypothesis.log_probability == pytest.approx(math.log(0.36), abs=1e-6)
    assert hypothesis.score == pytest.approx(math.log(0.36) / (7 / 6), abs=1e-6)
    (plain,) = greedy(Trie(TRIE), SOURCE)
    assert plain.score == plain.log_probability


@pytest.mark.parametrize(("n", "alpha", "penalty"), [(1, 0.6, 1.0), (7, 1.0, 2.0), (9, 0.0, 1.0)])
def test_the_penalty(n: int, alpha: float, penalty: float) -> None:
    assert length_penalty(n, alpha) == pytest.approx(penalty)


@pytest.mark.parametrize(("n", "longest"), [(0, 3), (1, 4), (2, 6), (5, 8), (100, 8)])
def test_limits(n: int, longest: int) -> None:
    assert Limits(factor=1.5, extra=3, most=8).longest(n) == longest
    assert Limits(factor=0.0, extra=0).longest(n) == 1  # <EOS> must have room


def test_no_more_hypotheses_than_there_are() -> None:
    """All that has a probability is found once, the impossible never."""
    (hypotheses,) = beam_search(Trie({(): (0.5, 0.5, 0.0)}), SOURCE, 5, alpha=0.0, n_best=5)
    assert sorted(found(hypotheses)) == [((), 0.5), ((A,), 0.5)]


def test_at_the_limit_a_row_ends_and_its_score_counts_the_end() -> None:
    limits = Limits(factor=0.0, extra=2)
    assert found(greedy(Trie(TRIE), SOURCE, limits)) == [((A,), 0.2)]
    long = {(): (0.0, 1.0, 0.0), (A,): (0.25, 0.75, 0.0), (A, A): (0.5, 0.5, 0.0)}
    assert found(greedy(Trie(long), SOURCE, limits)) == [((A,), 0.25)]
    assert found(beam_search(Trie(long), SOURCE, 3, limits=limits)[0]) == [((A,), 0.25)]


@pytest.mark.parametrize("least", [0, 1, 2, 3, 9])
def test_the_least_length_yields_to_the_limit(least: int) -> None:
    """With room for two words and <EOS>, three cannot be asked for: no row is ever left empty."""
    limits = Limits(factor=0.0, extra=3, least=least)
    (plain,) = greedy(Trie(TRIE), SOURCE, limits)
    ((best,),) = beam_search(Trie(TRIE), SOURCE, 3, limits=limits)
    for hypothesis in (plain, best):
        assert min(least, 2) <= len(hypothesis.tokens) <= 2
        assert not {PAD, BOS, EOS} & set(hypothesis.tokens)
        assert math.isfinite(hypothesis.log_probability)


def test_n_best_is_at_most_the_width() -> None:
    (hypotheses,) = beam_search(Trie(TRIE), SOURCE, 2, n_best=9)
    assert len(hypotheses) == 2


@pytest.mark.parametrize(
    ("options", "given"),
    [
        ({"width": 0}, "width = 0, n_best = 1 and alpha = 1"),
        ({"n_best": 0}, "width = 5, n_best = 0 and alpha = 1"),
        ({"alpha": -0.5}, "width = 5, n_best = 1 and alpha = -0.5"),
    ],
)
def test_a_search_that_cannot_be(options: dict[str, float], given: str) -> None:
    with pytest.raises(UsageError) as refusal:
        beam_search(Trie(TRIE), SOURCE, **options)  # type: ignore[arg-type]
    assert str(refusal.value) == (
        f"a search of {given} is not possible: width and n_best are 1 or more, alpha is 0 or more"
    )
