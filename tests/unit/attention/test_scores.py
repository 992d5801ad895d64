"""The eight scores against their equations, written out number by number."""

import math

import pytest
import torch
from torch import Tensor, nn

from regard.attention import SCORES, Attention, build_score, masks
from regard.errors import RegardError, SizeError

BATCH, HEADS, QUERIES, KEYS = 2, 3, 4, 5
BRIDGING = ("additive", "general", "concatenating", "perceptron", "location")


def multiply(matrix: Tensor, vector: list[float]) -> list[float]:
    return [sum(m * x for m, x in zip(row, vector, strict=True)) for row in matrix.tolist()]


def inner(left: list[float], right: list[float]) -> float:
    return sum(x * y for x, y in zip(left, right, strict=True))


def norm(vector: list[float]) -> float:
    return math.sqrt(inner(vector, vector))


def by_hand(
    name: str, parameters: dict[str, Tensor], q: list[float], k: list[float], i: int
) -> float:
    """The equation of the table for one query, one key and the key's place."""
    match name:
        case "dot":
            return inner(q, k)
        case "scaled-dot":
            return inner(q, k) / math.sqrt(len(q))
        case "additive":
            hidden = [math.tanh(x) for x in multiply(parameters["weight"], q + k)]
            return inner(parameters["v"].tolist(), hidden)
        case "general":
            return inner(q, multiply(parameters["weight"], k))
        case "concatenating":
            return multiply(parameters["weight"], q + k)[0]
        case "perceptron":
            from_query = multiply(parameters["weight_query"], q)
            from_key = multiply(parameters["weight_key"], k)
            hidden = [math.tanh(x + y) for x, y in zip(from_query, from_key, strict=True)]
            return inner(parameters["v"].tolist(), hidden)
        case "content":
            return inner(q, k) / (norm(q) * norm(k))
        case "location":
            return multiply(parameters["weight"], q)[i]
    raise AssertionError(name)


def expected(name: str, score: nn.Module, query: Tensor, key: Tensor) -> Tensor:
    """Every pair by hand; ``query`` and ``key`` have an axis of heads."""
    n_heads, n_queries, n_keys = query.shape[1], query.shape[2], key.shape[2]
    result = torch.empty(query.shape[0], n_heads, n_queries, n_keys, dtype=torch.float64)
    for b in range(query.shape[0]):
        for h in range(n_heads):
            own = {
                label: p.detach()[h if p.shape[0] > 1 else 0]
                for label, p in score.named_parameters()
            }
            for t in range(n_queries):
                for i in range(n_keys):
                    q, k = query[b, h, t].tolist(), key[b, h, i].tolist()
                    result[b, h, t, i] = by_hand(name, own, q, k, i)
    return result


def widths(name: str) -> list[tuple[int, int]]:
    return [(6, 6), (6, 7)] if name in BRIDGING else [(6, 6)]


CASES = [(name, *pair) for name in SCORES for pair in widths(name)]


@pytest.mark.parametrize(("name", "d_query", "d_key"), CASES)
@pytest.mark.parametrize("n_queries", [1, QUERIES])
class TestEquation:
    def test_without_heads(self, name: str, d_query: int, d_key: int, n_queries: int) -> None:
        score = build_score(name, d_query, d_key).double()
        query = torch.randn(BATCH, n_queries, d_query, dtype=torch.float64)
        key = torch.randn(BATCH, KEYS, d_key, dtype=torch.float64)
        wanted = expected(name, score, query[:, None], key[:, None])[:, 0]
        torch.testing.assert_close(score(query, key), wanted, rtol=1e-12, atol=1e-12)

    @pytest.mark.parametrize("n_parameter_sets", [1, HEADS])
    def test_with_heads(
        self, name: str, d_query: int, d_key: int, n_queries: int, n_parameter_sets: int
    ) -> None:
        score = build_score(name, d_query, d_key, n_parameter_sets).double()
        query = torch.randn(BATCH, HEADS, n_queries, d_query, dtype=torch.float64)
        key = torch.randn(BATCH, HEADS, KEYS, d_key, dtype=torch.float64)
        wanted = expected(name, score, query, key)
        torch.testing.assert_close(score(query, key), wanted, rtol=1e-12, atol=1e-12)


def test_lecture_numbers() -> None:
    """The worked example: 112 96 / 88 120, divided by √64, 0.88 0.12 / 0.02 0.98."""
    query = torch.zeros(1, 2, 64)
    key = torch.zeros(1, 2, 64)
    query[0, :, 0], query[0, :, 1] = torch.tensor([112.0, 88.0]), torch.tensor([96.0, 120.0])
    key[0, 0, 0], key[0, 1, 1] = 1.0, 1.0
    dot, scaled = build_score("dot", 64, 64), build_score("scaled-dot", 64, 64)
    assert dot(query, key)[0].tolist() == [[112, 96], [88, 120]]
    assert scaled(query, key)[0].tolist() == [[14, 12], [11, 15]]
    value = torch.tensor([[[1.0, 0.0, 2.0], [0.0, 1.0, 4.0]]])
    context, weights, _ = Attention(scaled)(query, key, value)
    assert [[round(w, 2) for w in row] for row in weights[0].tolist()] == [
        [0.88, 0.12],
        [0.02, 0.98],
    ]
    torch.testing.assert_close(context[0, :, :2], weights[0])
    torch.testing.assert_close(context[0, :, 2], 2 * weights[0, :, 0] + 4 * weights[0, :, 1])


@pytest.mark.parametrize("n_heads", [None, HEADS])
@pytest.mark.parametrize(("name", "d_query", "d_key"), CASES)
def test_gradients(name: str, d_query: int, d_key: int, n_heads: int | None) -> None:
    score = build_score(name, d_query, d_key, n_heads or 1).double()
    heads = () if n_heads is None else (n_heads,)
    query = torch.randn(1, *heads, 2, d_query, dtype=torch.float64, requires_grad=True)
    key = torch.randn(1, *heads, 3, d_key, dtype=torch.float64, requires_grad=True)
    parameters = tuple(score.parameters())

    def scored(query: Tensor, key: Tensor, *_parameters: Tensor) -> Tensor:
        result: Tensor = score(query, key)
        return result

    assert torch.autograd.gradcheck(scored, (query, key, *parameters), fast_mode=True)


def test_every_score_has_a_formula_of_its_own() -> None:
    assert len({kind.formula for kind in SCORES.values()}) == len(SCORES) == 8


@pytest.mark.parametrize("name", ["dot", "scaled-dot", "content"])
def test_unequal_widths_are_refused(name: str) -> None:
    with pytest.raises(SizeError) as refusal:
        build_score(name, 6, 7)
    assert str(refusal.value) == (
        f"{SCORES[name].__name__} multiplies query and key number by number, so their widths must "
        "be equal, not 6 and 7: choose general or additive to bridge them"
    )


def test_location_refuses_more_keys_than_it_has_places_for() -> None:
    score = build_score("location", 6, 7, max_length=4)
    assert score(torch.randn(2, 3, 6), torch.randn(2, 4, 7)).shape == (2, 3, 4)
    with pytest.raises(SizeError) as refusal:
        score(torch.randn(2, 3, 6), torch.randn(2, 5, 7))
    assert str(refusal.value) == (
        "location-based attention knows 4 places and was given 5 keys: "
        "shorten the input, or train with a larger model.max_length"
    )


def test_unknown_name_is_refused() -> None:
    with pytest.raises(RegardError) as refusal:
        build_score("cosine", 6, 6)
    assert str(refusal.value) == (
        "there is no score 'cosine': choose one of dot, scaled-dot, additive, general, "
        "concatenating, perceptron, content, location"
    )


@pytest.mark.parametrize("name", BRIDGING)
@pytest.mark.parametrize("shape", [(HEADS, 4, 6), (2, HEADS + 1, 4, 6)])
def test_heads_that_are_not_there_are_refused(name: str, shape: tuple[int, ...]) -> None:
    """A batch as large as the number of heads must not pass for the heads."""
    with pytest.raises(SizeError, match="built for 3 heads and was given a tensor of shape"):
        build_score(name, 6, 6, HEADS)(torch.randn(shape), torch.randn(shape))


def test_concatenating_sees_only_the_key_after_the_softmax() -> None:
    attention = Attention(build_score("concatenating", 6, 7))
    key = torch.randn(1, KEYS, 7)
    weights = [attention(torch.randn(1, 1, 6), key, key).weights for _ in range(2)]
    torch.testing.assert_close(weights[0], weights[1])


def test_location_never_looks_at_the_key() -> None:
    score, query = build_score("location", 6, 7), torch.randn(BATCH, QUERIES, 6)
    first, second = (score(query, torch.randn(BATCH, KEYS, 7)) for _ in range(2))
    assert torch.equal(first, second)


def test_content_ignores_lengths_and_strength_sharpens() -> None:
    query, key = torch.randn(BATCH, QUERIES, 6), torch.randn(BATCH, KEYS, 6)
    plain = build_score("content", 6, 6)(query, key)
    assert plain.abs().max() <= 1 + 1e-6
    torch.testing.assert_close(build_score("content", 6, 6)(7 * query, 0.1 * key), plain)
    sharper = build_score("content", 6, 6, strength=5.0)(query, key)
    torch.testing.assert_close(sharper, 5 * plain)
    assert torch.isfinite(build_score("content", 6, 6)(0 * query, key)).all()


@pytest.mark.parametrize("name", ["additive", "perceptron"])
def test_hidden_width_can_be_chosen(name: str) -> None:
    score = build_score(name, 6, 7, d_hidden=11)
    assert score(torch.randn(2, 3, 6), torch.randn(2, 5, 7)).shape == (2, 3, 5)
    assert {p.shape[1] for p in score.parameters()} == {11}


def test_additive_is_the_perceptron_with_its_matrices_side_by_side() -> None:
    additive, perceptron = build_score("additive", 6, 7), build_score("perceptron", 6, 7)
    parts = dict(perceptron.named_parameters())
    state = {
        "weight": torch.cat([parts["weight_query"], parts["weight_key"]], dim=-1).detach(),
        "v": parts["v"].detach(),
    }
    additive.load_state_dict(state)
    query, key = torch.randn(2, 3, 6), torch.randn(2, 5, 7)
    torch.testing.assert_close(additive(query, key), perceptron(query, key))


@pytest.mark.parametrize("name", SCORES)
def test_a_mask_of_four_axes_serves_scores_without_heads(name: str) -> None:
    attention = Attention(build_score(name, 6, 6))
    query, key = torch.randn(BATCH, QUERIES, 6), torch.randn(BATCH, KEYS, 6)
    mask = masks.padding(torch.tensor([2, 5])) & masks.causal(QUERIES, KEYS)
    weights = attention(query, key, key, mask).weights
    assert weights.shape == (BATCH, QUERIES, KEYS)
    assert (weights[~mask[:, 0]] == 0).all()
