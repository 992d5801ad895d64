"""Multi-head attention: two paths with the same numbers, a cache, and any score inside."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import Tensor, nn

from regard.attention import (
    NORMALISERS,
    SCORES,
    Cache,
    Hard,
    LocalMonotonic,
    LocalPredictive,
    MultiHeadAttention,
    Normaliser,
    Score,
    Soft,
    build_score,
    masks,
)
from regard.errors import SizeError

BATCH, HEADS, QUERIES, KEYS, WIDTH = 2, 3, 4, 5, 12
TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-10}

MASKS = {
    "none": None,
    "padding": masks.padding(torch.tensor([2, 5])),
    "causal": masks.causal(QUERIES, KEYS),
    "window": masks.window(QUERIES, KEYS, reach=1),
    "given": masks.given(torch.arange(QUERIES * KEYS).view(QUERIES, KEYS) % 3 > 0),
    "padding and causal": masks.padding(torch.tensor([2, 5])) & masks.causal(QUERIES, KEYS),
    "heads": (torch.arange(HEADS * KEYS).view(1, HEADS, 1, KEYS) % 4 > 0),
    "nothing": masks.padding(torch.tensor([0, 3]), KEYS),
    "nothing for one query": masks.given(
        torch.tensor([[True] * KEYS, [False] * KEYS, [True] * KEYS, [False] * KEYS])
    ),
}


@contextmanager
def watched(attention: MultiHeadAttention) -> Iterator[list[Tensor]]:
    """Someone looks at the weights, so they are computed in the open."""
    seen: list[Tensor] = []

    def listen(value: Tensor) -> Tensor:
        seen.append(value)
        return value

    attention.weights.attach(listen)
    try:
        yield seen
    finally:
        attention.weights.detach(listen)


def inputs(dtype: torch.dtype = torch.float32) -> tuple[Tensor, Tensor]:
    query = torch.randn(BATCH, QUERIES, WIDTH, dtype=dtype, requires_grad=True)
    return query, torch.randn(BATCH, KEYS, WIDTH, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
@pytest.mark.parametrize("name", MASKS)
def test_both_paths_give_the_same_numbers_and_gradients(name: str, dtype: torch.dtype) -> None:
    attention, mask = MultiHeadAttention(WIDTH, HEADS).to(dtype), MASKS[name]
    nn.init.normal_(attention.output.bias)
    query, memory = inputs(dtype)
    direction = torch.randn(BATCH, QUERIES, WIDTH, dtype=dtype)
    leaves = [query, memory, *attention.parameters()]

    assert attention.is_fused
    fused = attention(query, memory, memory, mask)
    fused_gradients = torch.autograd.grad((fused * direction).sum(), leaves)
    with watched(attention) as seen:
        assert not attention.is_fused
        opened = attention(query, memory, memory, mask)
        gradients = torch.autograd.grad((opened * direction).sum(), leaves)
    assert attention.is_fused

    close = {"rtol": TOLERANCE[dtype], "atol": TOLERANCE[dtype]}
    torch.testing.assert_close(fused, opened, **close)
    for one, other in zip(fused_gradients, gradients, strict=True):
        assert torch.isfinite(one).all()
        # A gradient adds up many terms; rounding grows with its size.
        scale = max(1.0, float(other.abs().max()))
        torch.testing.assert_close(one / scale, other / scale, **close)
    assert len(seen) == 1
    assert seen[0].shape == (BATCH, HEADS, QUERIES, KEYS)
    if mask is not None:
        assert (seen[0].masked_select(~mask) == 0).all()


@pytest.mark.parametrize("is_watched", [False, True], ids=["fused", "open"])
@pytest.mark.parametrize("dtype", TOLERANCE, ids=str)
def test_a_query_that_sees_nothing_gets_only_the_bias(dtype: torch.dtype, is_watched: bool) -> None:
    attention = MultiHeadAttention(WIDTH, HEADS).to(dtype)
    nn.init.normal_(attention.output.bias)
    query, memory = inputs(dtype)
    allowed = torch.ones(BATCH, QUERIES, KEYS, dtype=torch.bool)
    allowed[0], allowed[1, 2] = False, False
    listener: list[Tensor] = []

    def listen(value: Tensor) -> Tensor:
        listener.append(value)
        return value

    if is_watched:
        attention.weights.attach(listen)
    output = attention(query, memory, memory, masks.given(allowed))
    for row in (*output[0], output[1, 2]):
        torch.testing.assert_close(row, attention.output.bias, rtol=0, atol=0)
    output.pow(2).sum().backward()
    for leaf in (query, memory, *attention.parameters()):
        assert leaf.grad is not None
        assert torch.isfinite(leaf.grad).all()
    assert query.grad is not None
    assert memory.grad is not None
    assert (query.grad[0] == 0).all()
    assert (query.grad[1, 2] == 0).all()
    assert (query.grad[1, 0] != 0).any()
    assert (memory.grad[0] == 0).all()


def test_zeros_do_not_depend_on_the_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some kernels give the mean of all values to a query that may see nothing."""
    kernel = nn.functional.scaled_dot_product_attention

    def other_kernel(
        query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor, **options: object
    ) -> Tensor:
        context: Tensor = kernel(query, key, value, attn_mask, **options)  # type: ignore[arg-type]
        mean = value.mean(-2, keepdim=True).expand_as(context)
        return context.where(attn_mask.any(-1, keepdim=True), mean)

    attention = MultiHeadAttention(WIDTH, HEADS)
    query, memory = inputs()
    mask = MASKS["nothing for one query"]
    wanted = attention(query, memory, memory, mask)
    monkeypatch.setattr(nn.functional, "scaled_dot_product_attention", other_kernel)
    torch.testing.assert_close(attention(query, memory, memory, mask), wanted)


def test_fused_only_where_it_computes_what_is_asked() -> None:
    assert MultiHeadAttention(WIDTH, HEADS).is_fused
    assert MultiHeadAttention(WIDTH, HEADS, score=build_score("scaled-dot", 4, 4)).is_fused
    assert not MultiHeadAttention(WIDTH, HEADS, score=build_score("dot", 4, 4)).is_fused
    assert not MultiHeadAttention(WIDTH, HEADS, normaliser=LocalMonotonic(1)).is_fused
    for name in ("scores", "weights"):
        attention = MultiHeadAttention(WIDTH, HEADS)
        attention.get_submodule(name).attach(lambda value: value)
        assert not attention.is_fused
    for name in ("queries", "keys", "values", "contexts"):
        attention = MultiHeadAttention(WIDTH, HEADS)
        attention.get_submodule(name).attach(lambda value: value)
        assert attention.is_fused, "the fused kernel hides none of these"


@pytest.mark.parametrize("probe", ["queries", "keys", "values", "contexts"])
def test_what_passes_a_probe_can_be_replaced_on_both_paths(probe: str) -> None:
    attention = MultiHeadAttention(WIDTH, HEADS)
    query, memory = inputs()
    plain = attention(query, memory, memory)
    attention.get_submodule(probe).attach(lambda value: 2 * value)
    fused = attention(query, memory, memory)
    with watched(attention):
        torch.testing.assert_close(attention(query, memory, memory), fused)
    assert not torch.allclose(plain, fused)


def test_dropout_acts_while_training_only_on_both_paths() -> None:
    attention = MultiHeadAttention(WIDTH, HEADS, dropout=0.5)
    query, memory = inputs()
    calm = attention.eval()(query, memory, memory)
    assert torch.equal(calm, attention(query, memory, memory))
    attention.train()
    assert not torch.allclose(attention(query, memory, memory), calm)
    with watched(attention) as seen:
        assert not torch.allclose(attention(query, memory, memory), calm)
    torch.testing.assert_close(seen[0].sum(-1), torch.ones(BATCH, HEADS, QUERIES))


@pytest.mark.parametrize("is_watched", [False, True], ids=["fused", "open"])
def test_dropout_keeps_the_mean(is_watched: bool) -> None:
    attention = MultiHeadAttention(WIDTH, HEADS, dropout=0.3).double()
    query = torch.randn(1, 1, WIDTH, dtype=torch.float64).expand(4000, -1, -1)
    memory = torch.randn(1, KEYS, WIDTH, dtype=torch.float64).expand(4000, -1, -1)
    with torch.no_grad():
        calm = attention.eval()(query, memory, memory)[0, 0]
        attention.train()
        if is_watched:
            attention.weights.attach(lambda value: value)
        rough = attention(query, memory, memory)[:, 0]
    error = rough.std(0) / 4000**0.5
    assert (error > 0).all()
    assert ((rough.mean(0) - calm).abs() < 5 * error).all()


def test_gradients() -> None:
    attention = MultiHeadAttention(6, 2).double()
    query = torch.randn(1, 2, 6, dtype=torch.float64, requires_grad=True)
    memory = torch.randn(1, 3, 6, dtype=torch.float64, requires_grad=True)
    parameters = tuple(attention.parameters())
    mask = masks.causal(2, 3)

    def attended(query: Tensor, memory: Tensor, *_parameters: Tensor) -> Tensor:
        result: Tensor = attention(query, memory, memory, mask)
        return result

    arguments = (query, memory, *parameters)
    assert torch.autograd.gradcheck(attended, arguments, fast_mode=True)
    with watched(attention):
        assert torch.autograd.gradcheck(attended, arguments, fast_mode=True)


@pytest.mark.parametrize("is_watched", [False, True], ids=["fused", "open"])
def test_cache_grown_word_by_word_is_the_whole_computation(is_watched: bool) -> None:
    attention = MultiHeadAttention(WIDTH, HEADS).double()
    if is_watched:
        attention.weights.attach(lambda value: value)
    value = torch.randn(BATCH, KEYS, WIDTH, dtype=torch.float64)
    whole = attention(value, value, value, masks.causal(KEYS))
    cache: Cache | None = None
    for t in range(KEYS):
        word = value[:, t : t + 1]
        new = attention.project(word, word)
        cache = new if cache is None else cache.append(new)
        assert cache.length == t + 1
        step = attention.look_up(word, cache, first=t)
        torch.testing.assert_close(step, whole[:, t : t + 1], rtol=1e-12, atol=1e-12)


def test_cache_grown_in_parts_of_several_words() -> None:
    attention = MultiHeadAttention(WIDTH, HEADS).double()
    value = torch.randn(BATCH, KEYS, WIDTH, dtype=torch.float64)
    whole = attention(value, value, value, masks.causal(KEYS))
    cache = attention.project(value[:, :2], value[:, :2])
    old = cache.key.clone()
    cache = cache.append(attention.project(value[:, 2:], value[:, 2:]))
    late = attention.look_up(value[:, 2:], cache, masks.causal(KEYS - 2, first=2), first=2)
    torch.testing.assert_close(late, whole[:, 2:], rtol=1e-12, atol=1e-12)
    assert torch.equal(cache.key[:, :, :2], old)


def test_cache_rows_can_be_reordered_repeated_and_dropped() -> None:
    attention = MultiHeadAttention(WIDTH, HEADS)
    query, memory = inputs()
    rows = torch.tensor([1, 1, 0, 1])
    cache = attention.project(memory, memory)
    reordered = attention.look_up(query[rows], cache.reorder(rows))
    torch.testing.assert_close(reordered, attention(query, memory, memory)[rows])
    assert cache.key.shape[0] == BATCH, "a cache is a value: the old one stays"
    assert cache.reorder(torch.tensor([1])).key.shape == (1, HEADS, KEYS, WIDTH // HEADS)


@pytest.mark.parametrize(
    "score",
    [None, build_score("additive", WIDTH // HEADS, WIDTH // HEADS, HEADS)],
    ids=["fused", "open"],
)
def test_extended_word_by_word_it_is_the_whole_computation(score: Score | None) -> None:
    attention = MultiHeadAttention(WIDTH, HEADS, score=score).double()
    value = torch.randn(BATCH, KEYS, WIDTH, dtype=torch.float64)
    whole = attention(value, value, value, masks.causal(KEYS))
    past: Cache | None = None
    for t in range(KEYS):
        step, past = attention.extend(value[:, t : t + 1], past)
        torch.testing.assert_close(step[:, 0], whole[:, t], rtol=1e-12, atol=1e-12)
    assert past is not None
    assert past.length == KEYS


def build_normaliser(name: str) -> Normaliser:
    match name:
        case "soft":
            return Soft()
        case "hard":
            return Hard(torch.Generator().manual_seed(1))
        case "local-m":
            return LocalMonotonic(1)
    return LocalPredictive(WIDTH // HEADS, 2, HEADS)


@pytest.mark.parametrize("normaliser", NORMALISERS)
@pytest.mark.parametrize("score", SCORES)
def test_any_score_and_normaliser_inside(score: str, normaliser: str) -> None:
    d_head = WIDTH // HEADS
    attention = MultiHeadAttention(
        WIDTH,
        HEADS,
        score=build_score(score, d_head, d_head, HEADS),
        normaliser=build_normaliser(normaliser),
    )
    query, memory = inputs()
    mask = masks.padding(torch.tensor([0, 4]), KEYS)
    output = attention(query, memory, memory, mask)
    assert output.shape == (BATCH, QUERIES, WIDTH)
    torch.testing.assert_close(output[0], attention.output.bias.expand(QUERIES, -1))
    attended = attention.each_head(query, attention.project(memory, memory), mask)
    assert attended.weights.shape == (BATCH, HEADS, QUERIES, KEYS)
    assert attended.context.shape == (BATCH, HEADS, QUERIES, d_head)
    assert (attended.choice is not None) == (normaliser == "hard")
    output.pow(2).sum().backward()
    assert all(p.grad is None or torch.isfinite(p.grad).all() for p in attention.parameters())


def test_hard_heads_can_be_trained_by_reinforce() -> None:
    attention = MultiHeadAttention(WIDTH, HEADS, normaliser=build_normaliser("hard"))
    query, memory = inputs()
    attended = attention.each_head(query, attention.project(memory, memory))
    assert attended.choice is not None
    attended.choice.log_probability.sum().backward()
    for projection in (attention.query, attention.key):
        assert projection.weight.grad is not None
        assert projection.weight.grad.abs().sum() > 0


def test_local_attention_follows_the_place_of_the_first_query() -> None:
    attention = MultiHeadAttention(WIDTH, HEADS, normaliser=LocalMonotonic(1)).double()
    value = torch.randn(BATCH, KEYS, WIDTH, dtype=torch.float64)
    whole, cache = attention(value, value, value), attention.project(value, value)
    late = attention.look_up(value[:, 3:], cache, first=3)
    torch.testing.assert_close(late, whole[:, 3:])


def test_each_head_by_hand() -> None:
    """``headᵢ = Attention(QW_Qⁱ, KW_Kⁱ, VW_Vⁱ)``, laid end to end, times W_O."""
    attention = MultiHeadAttention(WIDTH, HEADS).double()
    for projection in (attention.query, attention.key, attention.value, attention.output):
        nn.init.normal_(projection.bias)
    query, memory = inputs(torch.float64)
    d_head, heads = WIDTH // HEADS, []
    for h in range(HEADS):
        part = slice(h * d_head, (h + 1) * d_head)
        q = query @ attention.query.weight[part].T + attention.query.bias[part]
        k = memory @ attention.key.weight[part].T + attention.key.bias[part]
        v = memory @ attention.value.weight[part].T + attention.value.bias[part]
        heads.append((q @ k.transpose(1, 2) / math.sqrt(d_head)).softmax(-1) @ v)
    wanted = torch.cat(heads, -1) @ attention.output.weight.T + attention.output.bias
    torch.testing.assert_close(attention(query, memory, memory), wanted)


@pytest.mark.parametrize(("d_model", "n_heads"), [(10, 3), (4, 8), (8, 0), (0, 1), (8, -2)])
def test_widths_that_heads_cannot_share_are_refused(d_model: int, n_heads: int) -> None:
    with pytest.raises(SizeError) as refusal:
        MultiHeadAttention(d_model, n_heads)
    assert str(refusal.value) == (
        f"d_model = {d_model} cannot be divided among n_heads = {n_heads}: "
        "choose a width that is a multiple of the number of heads"
    )


def test_it_starts_as_torchs_modules_do() -> None:
    d_model = 96
    ours, theirs = MultiHeadAttention(d_model, 4), nn.MultiheadAttention(d_model, 4)
    assert theirs.in_proj_weight is not None
    bound = math.sqrt(6 / (d_model + 3 * d_model))
    deviation = bound / math.sqrt(3)
    for given in (ours.query.weight, ours.key.weight, ours.value.weight, theirs.in_proj_weight):
        weight = given.detach()
        assert 0.98 * bound < weight.abs().max() <= bound
        assert float(weight.std()) == pytest.approx(deviation, rel=0.03)
        assert abs(float(weight.mean())) < 4 * deviation / d_model
    # nn.Transformer draws every matrix, the output's among them, from Glorot's distribution.
    bound = math.sqrt(6 / (2 * d_model))
    assert 0.98 * bound < ours.output.weight.abs().max() <= bound
    for projection in (ours.query, ours.key, ours.value, ours.output):
        assert (projection.bias == 0).all()


def test_names_in_the_state_dict_are_stable() -> None:
    names = {
        f"{p}.{kind}" for p in ("query", "key", "value", "output") for kind in ("weight", "bias")
    }
    assert set(MultiHeadAttention(WIDTH, HEADS).state_dict()) == names
