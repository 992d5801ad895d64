"""Attention over packed sentences is attention over padded ones, padding left out."""

import pytest
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from regard import engine
from regard.attention import MultiHeadAttention, masks
from regard.engine import Spans, attend_packed
from regard.engine.packed import attended

LENGTHS = [
    ([1], [1]),
    ([1, 1, 1], [1, 2, 1]),
    ([3, 1, 7], [2, 5, 1]),
    ([16, 17, 33], [15, 16, 31]),
    ([2], [40]),
    ([40], [2]),
]
WIDTHS = [(32, 2), (48, 1), (16, 1)]  # heads of 16, 48 and 16

lengths = pytest.mark.parametrize(("queries", "keys"), LENGTHS)
widths = pytest.mark.parametrize(("width", "n_heads"), WIDTHS)


def starts(counts: list[int]) -> Tensor:
    return torch.tensor([0, *torch.tensor(counts).cumsum(0).tolist()], dtype=torch.int32)


def padded(rows: Tensor, counts: list[int]) -> Tensor:
    return pad_sequence(list(rows.split(counts)), batch_first=True)


def real(counts: list[int]) -> Tensor:
    return torch.arange(max(counts)) < torch.tensor(counts)[:, None]


def grads(result: Tensor, module: torch.nn.Module, *leaves: Tensor) -> list[Tensor]:
    weights = torch.randn(result.shape, generator=torch.Generator().manual_seed(3))
    wanted = [*leaves, *(p for n, p in module.named_parameters() if n != "key.bias")]
    return list(torch.autograd.grad((result * weights).sum(), wanted))


def assert_same(ours: list[Tensor], reference: list[Tensor]) -> None:
    for one, other in zip(ours, reference, strict=True):
        torch.testing.assert_close(one, other, rtol=2e-4, atol=2e-5)


@lengths
@widths
@pytest.mark.parametrize("is_causal", [False, True])
def test_self_attention(
    native: None, queries: list[int], keys: list[int], width: int, n_heads: int, is_causal: bool
) -> None:
    attention = MultiHeadAttention(width, n_heads)
    for parameter in attention.parameters():
        torch.nn.init.normal_(parameter, std=width**-0.5)
    rows = torch.randn(sum(queries), width).requires_grad_()
    where = starts(queries)
    ours = attended(attention, rows, None, Spans(where, where, is_causal))
    mask = masks.keeping(real(queries))
    if is_causal:
        mask = mask & masks.causal(max(queries))
    whole = padded(rows, queries)
    reference = attention(whole, whole, whole, mask)[real(queries)]
    assert_same([ours], [reference])
    assert_same(grads(ours, attention, rows), grads(reference, attention, rows))


@lengths
@widths
def test_attention_to_a_memory(
    native: None, queries: list[int], keys: list[int], width: int, n_heads: int
) -> None:
    attention = MultiHeadAttention(width, n_heads)
    for parameter in attention.parameters():
        torch.nn.init.normal_(parameter, std=width**-0.5)
    rows = torch.randn(sum(queries), width).requires_grad_()
    memory = torch.randn(sum(keys), width).requires_grad_()
    ours = attended(attention, rows, memory, Spans(starts(queries), starts(keys)))
    there = padded(memory, keys)
    reference = attention(padded(rows, queries), there, there, masks.keeping(real(keys)))
    reference = reference[real(queries)]
    assert_same([ours], [reference])
    assert_same(grads(ours, attention, rows, memory), grads(reference, attention, rows, memory))


def test_dropout_drops_the_same_backwards(native: None) -> None:
    """The context is linear in the values, so its gradient tells which weights were kept."""
    width, counts = 16, [3, 1, 5]
    spans = Spans(starts(counts), starts(counts))
    query, memory = torch.randn(9, width), torch.randn(9, 2 * width).requires_grad_()
    context = attend_packed(query, memory, spans, 1, 0.5)
    seen = []
    for row in range(9):
        (grad,) = torch.autograd.grad(context[row, 0], memory, retain_graph=True)
        seen.append(grad[:, width])  # of the first number of each value
    weights = torch.stack(seen)
    torch.testing.assert_close(weights @ memory[:, width:], context, rtol=1e-4, atol=1e-5)
    own = torch.block_diag(*(torch.ones(n, n) for n in counts)).bool()
    assert not weights[~own].any()
    assert 0 < int((weights[own] == 0).sum()) < int(own.sum())


def test_dropout_gradients_are_those_of_the_dropped_weights(native: None) -> None:
    width, counts = 16, [4]
    spans = Spans(starts(counts), starts(counts))
    projected = torch.randn(4, 3 * width).requires_grad_()
    context = attend_packed(projected, None, spans, 1, 0.5)
    query, key, value = projected.chunk(3, 1)
    kept = []
    for row in range(4):
        (grad,) = torch.autograd.grad(context[row, 0], projected, retain_graph=True)
        kept.append(grad[:, 2 * width] != 0)
    weights = (query @ key.t() / width**0.5).softmax(-1) * torch.stack(kept) * 2
    reference = weights @ value
    torch.testing.assert_close(context, reference, rtol=1e-4, atol=1e-5)
    up = torch.randn(4, width)
    torch.testing.assert_close(
        torch.autograd.grad(context, projected, up)[0],
        torch.autograd.grad(reference, projected, up)[0],
        rtol=1e-4,
        atol=1e-5,
    )


def test_large_scores_do_not_overflow(native: None) -> None:
    spans = Spans(starts([3]), starts([3]))
    context = attend_packed(torch.randn(3, 48) * 1e3, None, spans, 1, 0.0)
    assert context.isfinite().all()


def test_the_seed_decides(native: None) -> None:
    spans = Spans(starts([3, 4]), starts([3, 4]))
    projected = torch.randn(7, 96)
    drawn = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        drawn.append(engine.attend_packed(projected, None, spans, 2, 0.5))
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])


def test_threads_change_nothing(native: None) -> None:
    """Sentences are shared out among threads; what each computes is its own."""
    counts = [5, 1, 3] * 20
    spans = Spans(starts(counts), starts(counts), is_causal=True)
    projected = torch.randn(sum(counts), 96)
    results = []
    for n_threads in (1, 2):
        torch.set_num_threads(n_threads)
        try:
            torch.manual_seed(1)
            results.append(attend_packed(projected, None, spans, 2, 0.3))
        finally:
            torch.set_num_threads(1)
    assert torch.equal(*results)
