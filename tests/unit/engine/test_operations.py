"""Fused operations against torch's own, values and gradients, on both paths."""

import pytest
import torch
from torch import Tensor
from torch.autograd import gradcheck
from torch.nn import functional as F

from regard import engine
from regard.engine import without_native

SIZES = [(1, 1), (1, 16), (3, 7), (5, 33), (2, 128), (17, 129), (1, 300)]
SCALE = 65536 / (65536 - round(0.4 * 65536))  # of p = 0.4, in 16 bits
sizes = pytest.mark.parametrize(("n", "d"), SIZES)


def leaf(*shape: int) -> Tensor:
    return torch.randn(*shape).requires_grad_()


def gradients(results: list[Tensor], leaves: list[Tensor]) -> list[Tensor]:
    """Of the results under steady random weights."""
    random = torch.Generator().manual_seed(7)
    total = sum(
        ((r * torch.randn(r.shape, generator=random)).sum() for r in results), torch.zeros(())
    )
    return list(torch.autograd.grad(total, leaves, retain_graph=True))


def assert_same(ours: list[Tensor], reference: list[Tensor]) -> None:
    for one, other in zip(ours, reference, strict=True):
        torch.testing.assert_close(one, other, rtol=2e-4, atol=2e-5)


@sizes
@pytest.mark.parametrize("has_change", [True, False])
def test_add_norm(native: None, n: int, d: int, has_change: bool) -> None:
    value, change, weight, bias = leaf(n, d), leaf(n, d), leaf(d), leaf(d)
    leaves = [value, weight, bias, *([change] if has_change else [])]
    results = list(engine.add_norm(value, change if has_change else None, weight, bias))
    total = value + change if has_change else value
    reference = [total, F.layer_norm(total, (d,), weight, bias)]
    if d == 1:  # a single number has no spread: only rounding is left of the gradient
        torch.testing.assert_close(results[1], reference[1])
        return
    assert_same(results, reference)
    assert_same(gradients(results, leaves), gradients(reference, leaves))
    assert_same(gradients(results[1:], leaves), gradients(reference[1:], leaves))


def test_add_norm_when_only_the_sum_is_used(native: None) -> None:
    value, change = leaf(3, 5), leaf(3, 5)
    total, _ = engine.add_norm(value, change, torch.ones(5), torch.zeros(5))
    for grad in torch.autograd.grad(total.sum(), [value, change]):
        torch.testing.assert_close(grad, torch.ones(3, 5))


def test_add_norm_drops_only_the_change_and_the_same_backwards(native: None) -> None:
    n, d = 5, 33
    value, change, weight, bias = leaf(n, d), leaf(n, d), leaf(d), leaf(d)
    total, normed = engine.add_norm(value, change, weight, bias, p=0.4)
    factor = ((total - value) / change).detach()
    factor = torch.where(factor.abs() < 1e-3, 0.0, SCALE)
    again = value + change * factor
    reference = [again, F.layer_norm(again, (d,), weight, bias)]
    leaves = [value, change, weight, bias]
    assert 0 < (factor == 0).double().mean() < 1
    assert_same([total, normed], reference)
    assert_same(gradients([total, normed], leaves), gradients(reference, leaves))


def test_add_norm_uses_its_epsilon(native: None) -> None:
    value = torch.randn(3, 5) * 1e-3
    _, normed = engine.add_norm(value, None, torch.ones(5), torch.zeros(5), epsilon=0.1)
    torch.testing.assert_close(normed, F.layer_norm(value, (5,), eps=0.1), rtol=1e-4, atol=1e-6)


def test_add_norm_of_rows_that_lie_apart(native: None) -> None:
    value, change = torch.randn(6, 4).t(), torch.randn(6, 4).t()
    _, normed = engine.add_norm(value, change, torch.ones(6), torch.zeros(6))
    torch.testing.assert_close(normed, F.layer_norm(value + change, (6,)), rtol=1e-4, atol=1e-5)


@sizes
def test_bias_relu(native: None, n: int, d: int) -> None:
    inner, bias = leaf(n, d), leaf(d)
    result = engine.bias_relu_dropout(inner * 1.0, bias, 0.0)
    reference = F.relu(inner + bias)
    assert_same([result], [reference])
    assert_same(gradients([result], [inner, bias]), gradients([reference], [inner, bias]))


def test_bias_relu_dropout_drops_the_same_backwards(native: None) -> None:
    inner, bias = leaf(9, 33), leaf(33)
    result = engine.bias_relu_dropout(inner * 1.0, bias, 0.4)
    alive = F.relu(inner + bias)
    factor = torch.where((result == 0) & (alive > 0), 0.0, SCALE)
    assert 0.1 < (factor == 0).double().mean() < 0.4
    reference = alive * factor
    assert_same([result], [reference])
    assert_same(gradients([result], [inner, bias]), gradients([reference], [inner, bias]))


@sizes
def test_bias_gelu(native: None, n: int, d: int) -> None:
    inner, bias = leaf(n, d), leaf(d)
    result = engine.bias_gelu_dropout(inner * 3.0, bias, 0.0)
    reference = F.gelu(inner * 3.0 + bias)
    torch.testing.assert_close(result, reference, rtol=1e-6, atol=2e-6)
    assert_same(gradients([result], [inner, bias]), gradients([reference], [inner, bias]))
    with torch.no_grad():
        torch.testing.assert_close(engine.bias_gelu_dropout(inner * 3.0, bias, 0.0), result)


def test_bias_gelu_dropout_drops_the_same_backwards(native: None) -> None:
    inner, bias = leaf(17, 129), leaf(129)
    result = engine.bias_gelu_dropout(inner * 1.0, bias, 0.4)
    is_kept = result != 0
    assert 0.55 < float(is_kept.float().mean()) < 0.65
    reference = F.gelu(inner + bias) * is_kept * SCALE
    assert_same([result], [reference])
    assert_same(gradients([result], [inner, bias]), gradients([reference], [inner, bias]))


def test_gelu_far_from_zero(native: None) -> None:
    value = torch.tensor([[-200.0, -30.0, -9.0, 0.0, 9.0, 30.0, 200.0]])
    result = engine.bias_gelu_dropout(value.clone(), torch.zeros(7), 0.0)
    torch.testing.assert_close(result, F.gelu(value), rtol=1e-6, atol=1e-5)


@sizes
def test_linear(native: None, n: int, d: int) -> None:
    value, weight, bias = leaf(n, d), leaf(5, d), leaf(5)
    result, reference = engine.linear(value, weight, bias), F.linear(value, weight, bias)
    leaves = [value, weight, bias]
    assert_same([result], [reference])
    assert_same(gradients([result], leaves), gradients([reference], leaves))
    plain, leaves = engine.linear(value, weight), [value, weight]
    assert_same([plain], [F.linear(value, weight)])
    assert_same(gradients([plain], leaves), gradients([F.linear(value, weight)], leaves))


def test_linear_of_a_value_that_needs_no_gradient(native: None) -> None:
    weight, bias = leaf(3, 4), leaf(3)
    engine.linear(torch.ones(2, 4), weight, bias).sum().backward()
    assert weight.grad is not None
    torch.testing.assert_close(weight.grad, torch.full((3, 4), 2.0))


@sizes
def test_embed(native: None, n: int, d: int) -> None:
    table, ids, places = leaf(6, d), torch.randint(6, (n,)), torch.randint(9, (n,))
    positions = leaf(9, d)
    result = engine.embed(table, ids, positions, places, scale=2.5, p=0.0)
    reference = 2.5 * table[ids] + positions[places]
    assert_same([result], [reference])
    both = [table, positions]
    assert_same(gradients([result], both), gradients([reference], both))


def test_embed_drops_the_same_backwards(native: None) -> None:
    table, ids, places = leaf(3, 33), torch.randint(3, (20,)), torch.randint(9, (20,))
    positions = leaf(9, 33)
    result = engine.embed(table, ids, positions, places, scale=1.5, p=0.4)
    reference = (1.5 * table[ids] + positions[places]) * torch.where(result == 0, 0.0, SCALE)
    assert_same([result], [reference])
    both = [table, positions]
    assert_same(gradients([result], both), gradients([reference], both))


@pytest.mark.parametrize(("n", "width"), [(1, 6), (5, 6), (1, 16), (5, 48), (251, 32)])
@pytest.mark.parametrize("n_classes", [2, 7, 130, 1025])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.9])
def test_linear_cross_entropy(
    path: str, n: int, width: int, n_classes: int, smoothing: float
) -> None:
    hidden, weight = leaf(n, width), leaf(n_classes, width)
    targets = torch.randint(n_classes, (n,))
    loss = engine.linear_cross_entropy(hidden, weight, targets, smoothing)
    reference = F.cross_entropy(
        hidden @ weight.t(), targets, reduction="sum", label_smoothing=smoothing
    )
    assert_same([loss], [reference])
    assert_same(gradients([loss], [hidden, weight]), gradients([reference], [hidden, weight]))


@pytest.mark.parametrize(("n", "width"), [(11, 6), (11, 16), (300, 16)])
def test_linear_cross_entropy_with_a_bias(
    path: str, n: int, width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("regard.engine.cross_entropy._BLOCK_NUMBERS", 40)
    hidden, weight, bias = leaf(n, width), leaf(13, width), leaf(13)
    labels = torch.randint(13, (n,))
    loss = engine.linear_cross_entropy(hidden, weight, labels, 0.1, bias=bias)
    logits = F.linear(hidden, weight, bias)
    reference = F.cross_entropy(logits, labels, reduction="sum", label_smoothing=0.1)
    leaves = [hidden, weight, bias]
    assert_same([loss], [reference])
    assert_same(gradients([loss], leaves), gradients([reference], leaves))


def test_linear_cross_entropy_in_several_blocks(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.engine.cross_entropy._BLOCK_NUMBERS", 40)
    hidden, weight, targets = leaf(23, 6), leaf(11, 6), torch.randint(11, (23,))
    loss = engine.linear_cross_entropy(hidden, weight, targets, 0.1)
    reference = F.cross_entropy(hidden @ weight.t(), targets, reduction="sum", label_smoothing=0.1)
    assert_same([loss], [reference])
    assert_same(gradients([loss], [hidden, weight]), gradients([reference], [hidden, weight]))


def test_linear_cross_entropy_of_huge_logits(path: str) -> None:
    """The largest is taken off first; what is far below it counts nothing."""
    hidden, weight = torch.tensor([[300.0], [-300.0]]), torch.tensor([[1.0], [0.0], [-1.0]])
    loss = engine.linear_cross_entropy(hidden, weight, torch.tensor([0, 2]))
    torch.testing.assert_close(loss, torch.tensor(0.0), atol=1e-5, rtol=0)
    wrong = engine.linear_cross_entropy(hidden, weight, torch.tensor([2, 2]))
    torch.testing.assert_close(wrong, torch.tensor(600.0))


def test_linear_cross_entropy_shows_numbers_that_are_none(path: str) -> None:
    hidden = torch.tensor([[float("nan"), 1.0], [1.0, 1.0]])
    assert engine.linear_cross_entropy(hidden, torch.ones(3, 2), torch.tensor([0, 1])).isnan()


def test_linear_cross_entropy_of_a_column_and_of_columns(path: str) -> None:
    """What does not lie in one piece is read where it lies."""
    hidden, weight = leaf(16, 5), leaf(16, 7)
    targets = torch.randint(7, (5, 2))[:, 1]
    loss = engine.linear_cross_entropy(hidden.t(), weight.t(), targets, 0.1)
    reference = F.cross_entropy(hidden.t() @ weight, targets, reduction="sum", label_smoothing=0.1)
    assert_same([loss], [reference])
    assert_same(gradients([loss], [hidden, weight]), gradients([reference], [hidden, weight]))


def test_linear_cross_entropy_scales_its_gradient(path: str) -> None:
    hidden, weight = leaf(4, 6), leaf(5, 6)
    loss = engine.linear_cross_entropy(hidden, weight, torch.tensor([0, 1, 2, 4]), 0.1)
    once = torch.autograd.grad(loss, [hidden, weight], retain_graph=True)
    thrice = torch.autograd.grad(loss * 3, [hidden, weight])
    assert_same([3 * grad for grad in once], list(thrice))


@pytest.mark.parametrize("width", [6, 16])
def test_without_gradients_the_loss_is_the_same(path: str, width: int) -> None:
    hidden, weight, targets = leaf(4, width), leaf(5, width), torch.tensor([0, 1, 2, 4])
    with torch.inference_mode():
        silent = engine.linear_cross_entropy(hidden, weight, targets, 0.1)
    loud = engine.linear_cross_entropy(hidden, weight, targets, 0.1)
    assert float(silent) == float(loud.detach())


def test_gradients_that_are_not_in_one_piece(native: None) -> None:
    """A sum hands down one number for all places; the kernels want it written out."""
    value, change, weight, bias = leaf(40, 33), leaf(40, 33), leaf(33), leaf(33)
    ids = torch.randint(33, (40,))
    positions, places = torch.zeros(9, 33), torch.zeros_like(ids)
    starts = torch.tensor([0, 15, 40], dtype=torch.int32)
    projected, table = leaf(40, 48), leaf(33, 33)
    for ours, reference, leaves in (
        (engine.add_norm(value, change, weight, bias)[0], value + change, [value, change]),
        (engine.linear(value, table, bias), F.linear(value, table, bias), [value, table, bias]),
        (
            engine.bias_relu_dropout(value * 1.0, bias, 0.0),
            F.relu(value + bias),
            [value, bias],
        ),
        (
            engine.embed(table, ids, positions, places, scale=2.0, p=0.0),
            2.0 * table[ids],
            [table],
        ),
    ):
        assert_same(
            list(torch.autograd.grad(ours.sum(), leaves)),
            list(torch.autograd.grad(reference.sum(), leaves)),
        )
    context = engine.attend_packed(projected, None, engine.Spans(starts, starts), 1, 0.0)
    (whole,) = torch.autograd.grad(context.sum(), projected, retain_graph=True)
    (again,) = torch.autograd.grad(context, projected, torch.ones(40, 16))
    assert torch.equal(whole, again)


def test_float64_gradients_of_the_loss_are_exact() -> None:
    """The torch path, against numbers found by small steps."""
    hidden, weight = (torch.randn(n, 5, dtype=torch.float64).requires_grad_() for n in (3, 4))
    ids = torch.tensor([0, 2, 2])
    assert gradcheck(lambda h, w: engine.linear_cross_entropy(h, w, ids, 0.1), (hidden, weight))


def test_both_paths_are_float32_and_agree_closely() -> None:
    """Not only within a tolerance of training: to a few units in the last place."""
    hidden, weight, targets = torch.randn(50, 64), torch.randn(300, 64), torch.randint(300, (50,))
    fast = engine.linear_cross_entropy(hidden, weight, targets, 0.1)
    with without_native():
        slow = engine.linear_cross_entropy(hidden, weight, targets, 0.1)
    exact = engine.linear_cross_entropy(hidden.double(), weight.double(), targets, 0.1)
    for loss in (fast, slow):
        assert loss.dtype == torch.float32
        assert float(loss) == pytest.approx(float(exact), rel=2e-6)


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 3, 5, 7), (3, 1, 4, 33), (2, 2, 49, 64)])
def test_energies(native: None, sizes: tuple[int, int, int, int]) -> None:
    n_rows, n_queries, n_keys, width = sizes
    leaves = [leaf(n_rows, n_queries, width), leaf(n_rows, n_keys, width), leaf(width)]
    query, key, v = leaves
    scaled = 3 * query  # some of the tangents are all but 1
    ours = [engine.energies(scaled, key, v)]
    reference = [torch.tanh(scaled[:, :, None] + key[:, None]) @ v]
    assert_same(ours, reference)
    assert_same(gradients(ours, leaves), gradients(reference, leaves))
    half = engine.energies(scaled.bfloat16(), key.bfloat16(), v)
    assert half.dtype == torch.float32
    torch.testing.assert_close(half, reference[0], rtol=0.1, atol=0.1)
