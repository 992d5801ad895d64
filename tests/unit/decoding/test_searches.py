"""Greedy and beam search over a model whose every probability is written down."""

import math
import threading
from typing import Any

import pytest
import torch
from torch import Tensor

from regard.decoding import (
    Ensemble,
    Hypothesis,
    Limits,
    Sampling,
    Search,
    SourceLine,
    beam_search,
    greedy,
    sample,
    search_as_found,
    search_many,
)
from regard.decoding.constrained import constrained_search
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
    (hypotheses,) = beam_search(Trie(TRIE), SOURCE, Search(2, alpha=0.0, n_best=2))
    assert found(hypotheses) == [((B,), 0.36), ((A,), 0.2)]


def test_the_penalty_prefers_longer_outputs() -> None:
    (hypotheses,) = beam_search(Trie(TRIE), SOURCE, Search(8, alpha=6.0))
    assert found(hypotheses) == [((A, B), 0.135)]


def test_scores_are_divided_by_the_penalty() -> None:
    ((hypothesis,),) = beam_search(Trie(TRIE), SOURCE, Search(2, alpha=1.0))
    assert hypothesis.tokens == (B,)
    assert hypothesis.log_probability == pytest.approx(math.log(0.36), abs=1e-6)
    assert hypothesis.score == pytest.approx(math.log(0.36) / (7 / 6), abs=1e-6)
    (plain,) = greedy(Trie(TRIE), SOURCE)
    assert plain.score == pytest.approx(plain.log_probability / (7 / 6))


@pytest.mark.parametrize(
    ("n", "alpha", "penalty", "divisor"),
    [(1, 0.6, "wu", 1.0), (7, 1.0, "wu", 2.0), (9, 0.0, "wu", 1.0), (9, 0.5, "power", 3.0)],
)
def test_the_penalty(n: int, alpha: float, penalty: str, divisor: float) -> None:
    assert Search(alpha=alpha, penalty=penalty).penalised(n) == pytest.approx(divisor)


@pytest.mark.parametrize(("n", "longest"), [(0, 3), (1, 4), (2, 6), (5, 8), (100, 8)])
def test_limits(n: int, longest: int) -> None:
    assert Limits(factor=1.5, extra=3, most=8).longest(n) == longest
    assert Limits(factor=0.0, extra=0).longest(n) == 1  # <EOS> must have room


@pytest.mark.parametrize(
    ("must", "written"),
    [
        ([(A, B), (A, A)], (A, A, B)),  # (A, A) comes first although it is asked for second
        ([(A, A), (A, B)], (A, A, B)),
        ([(A, A, B)], (A, A, A, B)),  # begun anew within itself
        ([(A,), (A, B)], (A, B)),  # one holds the other
    ],
)
def test_phrases_are_seen_wherever_they_stand(
    must: list[tuple[int, ...]], written: tuple[int, ...]
) -> None:
    """A model that can write one thing alone: what it holds is found, and nothing is added."""
    chain = {
        written[:i]: (0.0, float(token == A), float(token == B)) for i, token in enumerate(written)
    }
    line = SourceLine((A, EOS), must=tuple((phrase,) for phrase in must))
    (best,) = constrained_search(Trie(chain), SOURCE, Search(4), line)
    assert found([best]) == [(written, 1.0)]


class Waiting(Trie):
    """A model that goes on only when someone has asked whether to stop."""

    def __init__(self) -> None:
        super().__init__(TRIE)
        self.is_asked = threading.Event()
        self.n_started = 0

    def start(self, source: Tensor) -> list[tuple[int, ...]]:
        self.n_started += 1
        assert self.is_asked.wait(20)
        return super().start(source)

    def should_stop(self) -> bool:
        self.is_asked.set()
        return True


def test_many_sources_can_be_left_in_the_middle() -> None:
    """What is being searched for is waited for, and nothing else is begun."""
    model = Waiting()
    lines = [SourceLine((A, EOS))] * 40
    found = search_many(
        [model], lines, Search(1), n_workers=2, batch_rows=4, should_stop=model.should_stop
    )
    assert list(found) == []
    assert model.n_started <= 3
    assert len(list(search_many([Trie(TRIE)], lines, Search(1), n_workers=2, batch_rows=4))) == 40


@pytest.mark.parametrize(("width", "n_together"), [(5, 40), (64, 40), (200, 20), (1000, 4)])
def test_of_wide_beams_fewer_are_searched_together(width: int, n_together: int) -> None:
    sizes: list[int] = []

    class Sized(Trie):
        def start(self, source: Tensor) -> list[tuple[int, ...]]:
            sizes.append(len(source))
            return super().start(source)

    lines = [SourceLine((A, EOS))] * 40
    found = list(search_many([Sized(TRIE)], lines, Search(width), n_workers=1))
    assert len(found) == 40
    assert max(sizes) == n_together


def test_no_more_hypotheses_than_there_are() -> None:
    """All that has a probability is found once, the impossible never."""
    (hypotheses,) = beam_search(Trie({(): (0.5, 0.5, 0.0)}), SOURCE, Search(5, alpha=0.0, n_best=5))
    assert sorted(found(hypotheses)) == [((), 0.5), ((A,), 0.5)]


def test_at_the_limit_a_row_ends_and_its_score_counts_the_end() -> None:
    limits = Limits(factor=0.0, extra=2)
    assert found(greedy(Trie(TRIE), SOURCE, Search(1, limits=limits))) == [((A,), 0.2)]
    long = {(): (0.0, 1.0, 0.0), (A,): (0.25, 0.75, 0.0), (A, A): (0.5, 0.5, 0.0)}
    assert found(greedy(Trie(long), SOURCE, Search(1, limits=limits))) == [((A,), 0.25)]
    assert found(beam_search(Trie(long), SOURCE, Search(3, limits=limits))[0]) == [((A,), 0.25)]


@pytest.mark.parametrize("least", [0, 1, 2, 3, 9])
def test_the_least_length_yields_to_the_limit(least: int) -> None:
    """With room for two words and <EOS>, three cannot be asked for: no row is ever left empty."""
    limits = Limits(factor=0.0, extra=3, least=least)
    (plain,) = greedy(Trie(TRIE), SOURCE, Search(1, limits=limits))
    ((best,),) = beam_search(Trie(TRIE), SOURCE, Search(3, limits=limits))
    for hypothesis in (plain, best):
        assert min(least, 2) <= len(hypothesis.tokens) <= 2
        assert not {PAD, BOS, EOS} & set(hypothesis.tokens)
        assert math.isfinite(hypothesis.log_probability)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"width": 0},
            "a search of width = 0, n_best = 1 and alpha = 1 is not possible: width and n_best are "
            "1 or more, alpha is 0 or more",
        ),
        (
            {"n_best": 0},
            "a search of width = 5, n_best = 0 and alpha = 1 is not possible: width and n_best are "
            "1 or more, alpha is 0 or more",
        ),
        (
            {"alpha": -0.5},
            "a search of width = 5, n_best = 1 and alpha = -0.5 is not possible: width and n_best "
            "are 1 or more, alpha is 0 or more",
        ),
        (
            {"width": 1001},
            "a beam of 1,001 is too wide: choose a width of 1,000 or less",
        ),
        (
            {"width": 2, "n_best": 9},
            "a beam of 2 cannot give the 9 best outputs: make the beam 9 or wider",
        ),
        (
            {"penalty": "log"},
            "there is no length penalty 'log': choose wu or power",
        ),
        (
            {"no_repeat": -1},
            "no_repeat = -1 is not possible: give the size of the n-grams that must not come "
            "twice, or 0",
        ),
    ],
)
def test_a_search_that_cannot_be(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        Search(**options)
    assert str(refusal.value) == sentence


def test_limits_that_cannot_be() -> None:
    with pytest.raises(UsageError) as refusal:
        Limits(least=10, most=5)
    assert str(refusal.value) == (
        "outputs of least = 10 and most = 5 tokens are not possible: make least 5 or less, or most "
        "10 or more"
    )
    assert Limits(least=5, most=5).longest(3) == 5


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"temperature": 0.0},
            "a temperature of 0 is not possible: choose a number above 0, or search with a beam of "
            "1 for the most probable token",
        ),
        (
            {"top_p": 0.0},
            "sampling from top_k = 0 and top_p = 0 is not possible: top_k is 0 (all) or more, "
            "top_p is above 0 and at most 1",
        ),
    ],
)
def test_sampling_that_cannot_be(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        Sampling(**options)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("width", [1, 3])
def test_each_output_comes_when_its_own_search_is_over(width: int) -> None:
    steps: list[int] = []

    class Counted(Trie):
        def step(self, state: Any, tokens: Tensor) -> Any:
            steps.append(len(tokens))
            assert torch.is_inference_mode_enabled()
            return super().step(state, tokens)

    lines = [
        SourceLine((A, EOS), prefix=(A, A, A)),
        SourceLine((A, EOS)),
        SourceLine((A, EOS), must=(((B,),),)),
        SourceLine((A, EOS), prefix=(A, B)),
    ]
    search = Search(width, alpha=0.0)
    expected = list(search_many([Trie(TRIE)], lines, search))
    order = []
    for place, hypotheses in search_as_found([Counted(TRIE)], lines, search):
        order.append((place, len(steps)))
        assert not torch.is_inference_mode_enabled()  # that is for the search alone
        assert hypotheses == expected[place]
    phrased, *others = order
    assert phrased[0] == 2  # those with phrases to write are searched for apart, and first
    assert [place for place, _ in others] == [1, 3, 0]
    assert len({n_steps for _, n_steps in others}) == 3
    assert list(search_as_found([Trie(TRIE)], [])) == []


def test_a_model_without_any_next_token_ends() -> None:
    """Of a broken model there is nothing to be had, and no search hangs or falls over."""
    broken = Trie({(): (math.nan, math.nan, math.nan)})
    assert greedy(broken, SOURCE)[0].tokens == ()
    ((only,),) = beam_search(broken, SOURCE)
    assert (only.tokens, only.score) == ((), -math.inf)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float64])
def test_a_model_may_compute_with_other_numbers(dtype: torch.dtype) -> None:
    class Other(Trie):
        def step(self, *given: Any) -> Any:
            logits, state = super().step(*given)
            return logits.to(dtype), state

    for search in (beam_search, lambda *given: [greedy(*given)]):
        ((best, *_),) = search(Other(TRIE), SOURCE)
        ((exact, *_),) = search(Trie(TRIE), SOURCE)
        assert best.tokens == exact.tokens
        assert best.log_probability == pytest.approx(exact.log_probability, abs=0.05)


def test_no_n_gram_comes_twice() -> None:
    again = {(): (0.1, 0.9, 0.0), (A,): (0.1, 0.9, 0.0), (A, A): (0.1, 0.8, 0.1)}
    assert found(greedy(Trie(again), SOURCE, Search(1, no_repeat=2))) == [((A, A), 0.081)]
    assert found(greedy(Trie(again), SOURCE, Search(1, no_repeat=1))) == [((A,), 0.09)]
    ((best,),) = beam_search(Trie(again), SOURCE, Search(3, alpha=0.0, no_repeat=1))
    assert best.tokens in {(), (A,)}


def test_a_prefix_is_kept_and_counted() -> None:
    for hypothesis in (
        greedy(Trie(TRIE), SOURCE, prefixes=[(B, A)])[0],
        beam_search(Trie(TRIE), SOURCE, Search(3), prefixes=[(B, A)])[0][0],
    ):
        assert found([hypothesis]) == [((B, A), 0.02)]


def test_an_ensemble_averages_probabilities() -> None:
    other = {(): (0.1, 0.1, 0.8), (B,): (0.5, 0.5, 0.0), (B, A): (1.0, 0.0, 0.0)}
    both = Ensemble([Trie(TRIE), Trie(other)])
    # B after nothing: (0.4 + 0.8) / 2; <EOS> after B: (0.9 + 0.5) / 2
    assert found(greedy(both, SOURCE)) == [((B,), 0.42)]
    alone = Ensemble([Trie(TRIE)])
    assert found(greedy(alone, SOURCE)) == found(greedy(Trie(TRIE), SOURCE))
    with pytest.raises(UsageError, match="at least one model"):
        Ensemble([])


def test_samples_follow_the_probabilities() -> None:
    search = Search(n_best=4000, sampling=Sampling(seed=5))
    (drawn,) = sample(Trie({(): (0.2, 0.5, 0.3)}), SOURCE, search)
    shares = [sum(one.tokens == tokens for one in drawn) / 4000 for tokens in ((), (A,), (B,))]
    assert shares == pytest.approx([0.2, 0.5, 0.3], abs=0.03)
    assert sample(Trie({(): (0.2, 0.5, 0.3)}), SOURCE, search) == [drawn]
    other = Search(n_best=4000, sampling=Sampling(seed=6))
    assert sample(Trie({(): (0.2, 0.5, 0.3)}), SOURCE, other) != [drawn]


@pytest.mark.parametrize(
    ("sampling", "possible"),
    [
        (Sampling(top_k=1), {(A,)}),
        (Sampling(top_k=2), {(A,), (B,)}),
        (Sampling(top_p=0.5), {(A,)}),
        (Sampling(top_p=0.51), {(A,), (B,)}),
        (Sampling(temperature=0.01), {(A,)}),
        (Sampling(temperature=100.0), {(), (A,), (B,)}),
    ],
)
def test_what_may_be_drawn(sampling: Sampling, possible: set[tuple[int, ...]]) -> None:
    search = Search(n_best=300, sampling=sampling)
    (drawn,) = sample(Trie({(): (0.2, 0.5, 0.3)}), SOURCE, search)
    assert {one.tokens for one in drawn} == possible
    for one in drawn:  # the probability of the model, not of the narrowed choice
        expected = {(): 0.2, (A,): 0.5, (B,): 0.3}[one.tokens]
        assert math.exp(one.log_probability) == pytest.approx(expected, abs=1e-6)


def test_what_is_drawn_does_not_depend_on_the_batch() -> None:
    search = Search(n_best=3, sampling=Sampling(seed=2))
    both = sample(Trie(TRIE), SOURCE.expand(2, -1), search, numbers=[7, 8])
    assert sample(Trie(TRIE), SOURCE, search, numbers=[8]) == [both[1]]
    assert both[0] != both[1]
