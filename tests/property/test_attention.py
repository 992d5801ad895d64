"""What attention must do whatever the numbers; every axis has a size of its own."""

from dataclasses import dataclass

import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import SCORES, Attention, MultiHeadAttention, build_score, masks
from regard.models import Sizes, Transformer

TIGHT = {"rtol": 1e-9, "atol": 1e-9}


@dataclass(frozen=True)
class Case:
    """Sizes, all different where they can be, and the seed of the numbers."""

    batch: int
    n_heads: int
    n_queries: int
    n_keys: int
    d_head: int
    seed: int

    @property
    def d_model(self) -> int:
        return self.n_heads * self.d_head

    def random(self, *shape: int, offset: int = 0) -> Tensor:
        generator = torch.Generator().manual_seed(self.seed + offset)
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    def chance(self, *shape: int, offset: int = 0) -> Tensor:
        generator = torch.Generator().manual_seed(self.seed + offset)
        return torch.rand(*shape, generator=generator) > 0.4

    def module(self) -> MultiHeadAttention:
        torch.manual_seed(self.seed)
        return MultiHeadAttention(self.d_model, self.n_heads).double()


@st.composite
def cases(draw: st.DrawFn) -> Case:
    sizes = draw(st.lists(st.integers(1, 7), min_size=5, max_size=5, unique=True))
    return Case(*sizes, seed=draw(st.integers(0, 2**20)))


@given(cases(), st.sampled_from(sorted(SCORES)))
def test_weights_sum_to_one_where_something_is_seen(case: Case, name: str) -> None:
    torch.manual_seed(case.seed)
    attention = Attention(build_score(name, case.d_head, case.d_head, case.n_heads)).double()
    query = case.random(case.batch, case.n_heads, case.n_queries, case.d_head)
    key = case.random(case.batch, case.n_heads, case.n_keys, case.d_head, offset=1)
    mask = case.chance(case.batch, 1, case.n_queries, case.n_keys)
    weights = attention(query, key, key, mask).weights
    assert (weights >= 0).all()
    assert (weights.masked_select(~mask) == 0).all()
    wanted = mask.any(-1).double().expand(case.batch, case.n_heads, case.n_queries)
    torch.testing.assert_close(weights.sum(-1), wanted, **TIGHT)


@given(cases(), st.floats(-50, 50))
def test_adding_the_same_to_every_score_changes_nothing(case: Case, constant: float) -> None:
    """The keys' bias is forgotten by the softmax: dot products with a shift along one query."""
    attention = Attention(build_score("dot", case.d_head, case.d_head)).double()
    query = case.random(case.batch, 1, case.d_head)
    key = case.random(case.batch, case.n_keys, case.d_head, offset=1)
    shifted = key + constant * query / query.pow(2).sum(-1, keepdim=True)
    plain = attention(query, key, key).weights
    torch.testing.assert_close(attention(query, shifted, shifted).weights, plain, **TIGHT)


@given(cases())
def test_a_context_lies_between_the_values(case: Case) -> None:
    attention = Attention(build_score("scaled-dot", case.d_head, case.d_head)).double()
    query = case.random(case.batch, case.n_queries, case.d_head)
    key = case.random(case.batch, case.n_keys, case.d_head, offset=1)
    value = case.random(case.batch, case.n_keys, case.n_heads, offset=2)
    context = attention(query, key, value).context
    assert (context <= value.amax(1, keepdim=True) + 1e-9).all()
    assert (context >= value.amin(1, keepdim=True) - 1e-9).all()


@given(cases())
def test_self_attention_follows_a_permutation(case: Case) -> None:
    """Without positions a sentence is a bag of words: shuffled in, shuffled out."""
    attention = case.module()
    value = case.random(case.batch, case.n_keys, case.d_model)
    generator = torch.Generator().manual_seed(case.seed)
    order = torch.randperm(case.n_keys, generator=generator)
    shuffled = value[:, order]
    torch.testing.assert_close(
        attention(shuffled, shuffled, shuffled), attention(value, value, value)[:, order], **TIGHT
    )


@given(cases())
def test_cross_attention_does_not_see_the_order_of_keys(case: Case) -> None:
    attention = case.module()
    query = case.random(case.batch, case.n_queries, case.d_model)
    memory = case.random(case.batch, case.n_keys, case.d_model, offset=1)
    is_real = case.chance(case.batch, case.n_keys)
    order = torch.randperm(case.n_keys, generator=torch.Generator().manual_seed(case.seed))
    plain = attention(query, memory, memory, masks.keeping(is_real))
    memory, is_real = memory[:, order], is_real[:, order]
    torch.testing.assert_close(
        attention(query, memory, memory, masks.keeping(is_real)), plain, **TIGHT
    )


@given(cases(), st.integers(1, 5))
def test_padding_changes_nothing(case: Case, n_more: int) -> None:
    attention = case.module()
    query = case.random(case.batch, case.n_queries, case.d_model)
    memory = case.random(case.batch, case.n_keys, case.d_model, offset=1)
    rubbish = 100 * case.random(case.batch, n_more, case.d_model, offset=2)
    padded = torch.cat([memory, rubbish], 1)
    mask = masks.padding(torch.full((case.batch,), case.n_keys), case.n_keys + n_more)
    torch.testing.assert_close(
        attention(query, padded, padded, mask), attention(query, memory, memory), **TIGHT
    )


@given(cases())
def test_batch_order_changes_nothing(case: Case) -> None:
    attention = case.module()
    query = case.random(case.batch, case.n_queries, case.d_model)
    memory = case.random(case.batch, case.n_keys, case.d_model, offset=1)
    mask = masks.given(case.chance(case.batch, case.n_queries, case.n_keys))
    rows = torch.randperm(case.batch, generator=torch.Generator().manual_seed(case.seed))
    torch.testing.assert_close(
        attention(query[rows], memory[rows], memory[rows], mask[rows]),
        attention(query, memory, memory, mask)[rows],
        **TIGHT,
    )


@given(cases(), st.data())
def test_the_future_is_invisible(case: Case, data: st.DataObject) -> None:
    attention = case.module()
    value = case.random(case.batch, case.n_keys, case.d_model)
    t = data.draw(st.integers(0, case.n_keys))
    changed = value.clone()
    changed[:, t:] += 10 * case.random(case.batch, case.n_keys - t, case.d_model, offset=1)
    mask = masks.causal(case.n_keys)
    torch.testing.assert_close(
        attention(changed, changed, changed, mask)[:, :t],
        attention(value, value, value, mask)[:, :t],
        **TIGHT,
    )


@given(cases())
def test_a_masked_key_might_as_well_not_be_there(case: Case) -> None:
    attention = case.module()
    query = case.random(1, case.n_queries, case.d_model)
    memory = case.random(1, case.n_keys, case.d_model, offset=1)
    is_real = case.chance(1, case.n_keys)
    is_real[0, 0] = True
    kept = memory[:, is_real[0]]
    torch.testing.assert_close(
        attention(query, memory, memory, masks.keeping(is_real)),
        attention(query, kept, kept),
        **TIGHT,
    )


@given(cases())
def test_the_fused_kernel_and_the_open_path_agree(case: Case) -> None:
    attention = case.module()
    query = case.random(case.batch, case.n_queries, case.d_model)
    memory = case.random(case.batch, case.n_keys, case.d_model, offset=1)
    mask = masks.given(case.chance(case.batch, case.n_queries, case.n_keys))
    fused = attention(query, memory, memory, mask)
    attention.weights.attach(lambda value: value)
    opened = attention(query, memory, memory, mask)
    torch.testing.assert_close(fused, opened, rtol=1e-10, atol=1e-10)


@given(cases(), st.integers(0, 4), st.integers(0, 3))
def test_masks_combine_place_by_place(case: Case, reach: int, first: int) -> None:
    lengths = torch.randint(
        0, case.n_keys + 1, (case.batch,), generator=torch.Generator().manual_seed(case.seed)
    )
    allowed = case.chance(case.batch, case.n_queries, case.n_keys)
    sizes = (case.n_queries, case.n_keys)
    combined = (
        masks.padding(lengths, case.n_keys)
        & masks.causal(*sizes, first=first)
        & masks.window(*sizes, reach=reach, first=first)
        & masks.given(allowed)
    )
    assert combined.shape == (case.batch, 1, *sizes)
    for b in range(case.batch):
        for q in range(case.n_queries):
            for k in range(case.n_keys):
                wanted = (
                    k < int(lengths[b])
                    and k <= first + q
                    and abs(k - first - q) <= reach
                    and bool(allowed[b, q, k])
                )
                assert bool(combined[b, 0, q, k]) == wanted


@given(cases(), st.booleans())
def test_a_cached_transformer_is_the_uncached_one(case: Case, is_pre_norm: bool) -> None:
    torch.manual_seed(case.seed)
    sizes = Sizes(
        d_model=2 * case.d_model, n_heads=case.n_heads, d_feedforward=5, is_pre_norm=is_pre_norm
    )
    model = Transformer(9, 9, sizes, n_layers=1).double().eval()
    generator = torch.Generator().manual_seed(case.seed)
    source = torch.randint(0, 9, (case.batch, case.n_keys), generator=generator)
    target = torch.randint(1, 9, (case.batch, case.n_queries), generator=generator)
    with torch.no_grad():
        whole = model(source, target).log_softmax(-1)
        state = model.start(source)
        for t in range(case.n_queries):
            stepped, state = model.step(state, target[:, t])
            torch.testing.assert_close(stepped.log_softmax(-1), whole[:, t], **TIGHT)
