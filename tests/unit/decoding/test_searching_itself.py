"""Searches that a frozen Transformer runs by itself, against the same model step by step."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from regard.decoding import Hypothesis, Limits, Search, beam_search, greedy
from regard.decoding.beam import searched_by_itself
from regard.decoding.rules import Rules
from regard.engine import Shortlist, for_decoding, is_native
from regard.engine.decoding import FrozenCopyingTransformer
from regard.errors import UsageError
from regard.inspection.recording import record
from regard.models import CopyingTransformer, Sizes, Transformer

EOS, N_TOKENS = 3, 40
SIZES = Sizes(d_model=32, n_heads=2, d_feedforward=48, dropout=0.0)
LAYERS = {
    "post-norm": {},
    "pre-norm": {"sizes": replace(SIZES, is_pre_norm=True, activation="gelu")},
    "learned positions": {"positions": "learned", "max_length": 30},
    "no positions": {"positions": "none", "scales_embeddings": False},
    "a bias": {"has_output_bias": True, "tie": "none"},
    "few words": {"n_target_tokens": 6, "tie": "none"},
    "uneven widths": {
        "n_target_tokens": 53,
        "tie": "none",
        "sizes": replace(SIZES, d_feedforward=45),
    },
}
SEARCHES = {
    "usual": Search(),
    "greedy": Search(width=1),
    "many": Search(width=9, n_best=7, alpha=0.4),
    "no repeats": Search(width=4, no_repeat=2),
    "no word twice": Search(width=3, no_repeat=1),
    "long": Search(width=3, limits=Limits(least=9), penalty="power"),
    "short": Search(width=3, limits=Limits(factor=0.5, extra=1)),
    "no penalty": Search(width=5, n_best=5, alpha=0.0),
}


class Stepping:
    """A model that hides all but its steps."""

    def __init__(self, model: Transformer) -> None:
        self.start, self.step, self.reorder = model.start, model.step, model.reorder


@pytest.fixture(autouse=True)
def _needs_kernels() -> None:
    if not is_native():
        pytest.skip("no C++ kernels: install g++ on Linux, for example with apt-get install g++")


def network(**options: Any) -> Transformer:
    torch.manual_seed(7)
    chosen = {"n_target_tokens": N_TOKENS, "sizes": SIZES, "n_layers": 2} | options
    model = Transformer(N_TOKENS, max_length=chosen.pop("max_length", 64), **chosen)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5).add_(0.05 * torch.randn_like(parameter))  # far from indifferent
    model.eval().requires_grad_(False)
    return model


def sources(n: int = 7) -> Tensor:
    source = torch.zeros(n, 9, dtype=torch.long)
    for row in source:
        length = int(torch.randint(1, 9, ()))
        row[:length], row[length] = torch.randint(4, N_TOKENS, (length,)), EOS
    return source


def goes_by_itself(model: Transformer, search: Search) -> bool:
    source = sources(1)
    return searched_by_itself(for_decoding(model), source, Rules.of(search, source)) is not None


def alike(found: list[list[Hypothesis]], expected: list[list[Hypothesis]]) -> None:
    assert [[one.tokens for one in of] for of in found] == [
        [one.tokens for one in of] for of in expected
    ]
    for of, other in zip(found, expected, strict=True):
        for one, two in zip(of, other, strict=True):
            assert one.score == pytest.approx(two.score, rel=2e-6, abs=1e-5)
            assert one.log_probability == pytest.approx(two.log_probability, rel=2e-6, abs=1e-4)


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
def test_the_same_outputs_as_step_by_step(options: dict[str, Any], search: Search) -> None:
    model, source = network(**options), sources()
    search = replace(search, limits=replace(search.limits, most=30))
    assert goes_by_itself(model, search)
    fast = for_decoding(model)
    alike(beam_search(fast, source, search), beam_search(Stepping(model), source, search))
    best, stepped = greedy(fast, source, search), greedy(Stepping(model), source, search)
    alike([best], [stepped])


class Limited(Stepping):
    """A model to which only some tokens are possible."""

    def __init__(self, model: Transformer, tokens: Tensor) -> None:
        super().__init__(model)
        self.whole, self.tokens = model, tokens
        self.step = self.limited  # type: ignore[method-assign,assignment]

    def limited(self, state: Any, tokens: Tensor) -> tuple[Tensor, Any]:
        logits, state = self.whole.step(state, tokens)
        left = torch.full_like(logits, -torch.inf)
        left[:, self.tokens] = logits[:, self.tokens]
        return left, state


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("options", [{}, {"has_output_bias": True, "tie": "none"}])
def test_a_shortlist_leaves_the_other_tokens_out(options: dict[str, Any], search: Search) -> None:
    model, source, prefixes = network(**options), sources(3), [(), (39,), ()]
    search = replace(search, limits=replace(search.limits, most=30))
    translations = np.array([[one % N_TOKENS, -1] for one in range(7, 7 + 3 * N_TOKENS, 3)])
    short = Shortlist(N_TOKENS, np.array([0, 2, EOS, 5, 6]), translations)
    tokens = short.tokens(source.numpy(), np.array([[39], [0], [0]]))
    assert 8 < len(tokens) < N_TOKENS - 8
    found = beam_search(for_decoding(model, shortlist=short), source, search, prefixes)
    alike(found, beam_search(Limited(model, torch.from_numpy(tokens)), source, search, prefixes))
    written = {token for of in found for one in of for token in one.tokens}
    assert written <= set(tokens.tolist())


def test_a_shortlist_needs_the_kernels() -> None:
    short = Shortlist(N_TOKENS, np.array([0, 2, EOS]), np.full((N_TOKENS, 1), -1))
    odd = network(sizes=replace(SIZES, n_heads=4))  # heads 8 wide
    with pytest.raises(UsageError, match="leave out the shortlist"):
        for_decoding(odd, shortlist=short)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 12, 40])
def test_who_else_is_in_a_batch_changes_no_bit(n: int) -> None:
    """Beams of 1 to 120 rows: every size of tile, and more rows than go together."""
    model, source, search = for_decoding(network()), sources(n), Search(width=3, n_best=3)
    together = beam_search(model, source, search)
    assert together == [beam_search(model, row[None], search)[0] for row in source]
    assert together == beam_search(model, source.flip(0), search)[::-1]


@pytest.mark.parametrize("width", [1, 4])
def test_outputs_begin_as_they_must(width: int) -> None:
    model, source = network(), sources(4)
    prefixes = [(5, 6, 7), (), (EOS,), (9,)]
    search = Search(width=width, n_best=1, limits=Limits(factor=0.0, extra=2), no_repeat=2)
    found = beam_search(for_decoding(model), source, search, prefixes)
    alike(found, beam_search(Stepping(model), source, search, prefixes))
    assert found[0][0].tokens[:3] == (5, 6, 7)
    assert found[2][0].tokens == ()


@pytest.mark.parametrize("options", [{}, LAYERS["pre-norm"], LAYERS["learned positions"]])
def test_who_copies_writes_the_same_by_the_kernels(options: dict[str, Any]) -> None:
    torch.manual_seed(5)
    chosen = {"sizes": SIZES, "n_layers": 2, "max_length": 64} | options
    model = CopyingTransformer(N_TOKENS, N_TOKENS, **chosen).eval().requires_grad_(False)
    model.copying.query.weight.mul_(4.0)
    fast, source = for_decoding(model), sources()
    assert type(fast) is FrozenCopyingTransformer
    limits = Limits(most=20)
    for search in (Search(width=4, n_best=3, limits=limits), Search(width=1, limits=limits)):
        found = beam_search(fast, source, search)
        alike(found, beam_search(Stepping(model), source, search))
    with record(model, "copying.weights") as recording:
        alike(beam_search(fast, source, search), found)
    assert recording.all("copying.weights")


def test_a_broken_model_ends() -> None:
    model = network(tie="none")
    with torch.no_grad():
        model.decoder.layers[0].feedforward.narrow.bias.fill_(torch.nan)
    model = for_decoding(model)
    found = beam_search(model, sources(2))
    assert found == [[Hypothesis((), -math.inf, -math.inf)]] * 2
    assert [one.tokens for one in greedy(model, sources(2))] == [(), ()]


def test_where_a_model_goes_step_by_step() -> None:
    learned, model = network(positions="learned", max_length=20), network()
    assert not goes_by_itself(learned, Search(limits=Limits(extra=21)))  # its positions end before
    assert goes_by_itself(learned, Search(limits=Limits(extra=21, most=20)))
    assert goes_by_itself(model, Search())
    assert not goes_by_itself(model, Search(width=100))
    model.decoder.layers[0].cross.weights.attach(lambda value: value)
    assert not goes_by_itself(model, Search())


@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
def test_a_frozen_model_steps_as_the_model(options: dict[str, Any]) -> None:
    model, source = network(**options), sources()
    fast = for_decoding(model)
    state, reference = fast.start(source), model.start(source)
    tokens = torch.full((7,), 2)
    for rows in (torch.tensor([6, 1, 1, 0, 5]), torch.tensor([4, 0]), torch.tensor([1, 1, 0])):
        found, state = fast.step(state, tokens)
        expected, reference = model.step(reference, tokens)
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)
        state, reference = fast.reorder(state, rows), model.reorder(reference, rows)
        tokens = expected[rows].argmax(-1)
