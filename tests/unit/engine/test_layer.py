"""A layer computed at once is the layer computed step by step: values, gradients and noise."""

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
import torch
from torch import Tensor

from regard.attention import masks
from regard.engine import LayerOptions, Spans, for_training, is_native, without_native
from regard.engine.packed import PackedEncoder, Parts
from regard.models import Gpt, Sizes
from regard.models.sublayers import Embedding, build_positions
from regard.models.transformer import Encoder, EncoderLayer
from regard.training import Updater

LENGTHS = [[1], [5, 40, 1, 33], [64, 64], [101]]
WIDTHS = [(32, 2, 48), (48, 1, 16), (64, 1, 80)]  # width, heads, inner width

kernel = pytest.mark.skipif(
    not is_native(),
    reason="no C++ kernels: install g++ on Linux, for example with apt-get install g++",
)
norms = pytest.mark.parametrize("is_pre_norm", [True, False], ids=["pre", "post"])
activations = pytest.mark.parametrize("activation", ["gelu", "relu"])
lengths = pytest.mark.parametrize("lengths", LENGTHS, ids=str)


def build(
    sizes: tuple[int, int, int] = (32, 2, 48), *, is_pre_norm: bool, activation: str, p: float = 0.0
) -> EncoderLayer:
    layer = EncoderLayer(Sizes(*sizes, is_pre_norm, activation, p, p, p))
    with torch.no_grad():  # biases and norms begin as zeros and ones, which would hide mistakes
        for parameter in layer.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return layer


def spans_of(lengths: list[int], *, is_causal: bool) -> Spans:
    starts = torch.tensor([0, *lengths]).cumsum(0).int()
    return Spans(starts, starts, is_causal)


@contextmanager
def step_by_step() -> Iterator[None]:
    with patch.object(LayerOptions, "serves", lambda options, parameters: False):
        yield


def packed(layer: EncoderLayer, value: Tensor, spans: Spans) -> Tensor:
    """What an encoder of this one layer makes of packed rows, without a norm at the end."""
    width = value.shape[1]
    embedding = Embedding(3, width, build_positions("none", width, 1), 0.0, 0)
    encoder = Encoder(embedding, 0, Sizes(width, 1, width))
    encoder.layers.append(layer)
    return PackedEncoder(encoder)(value, spans)


def serves(layer: EncoderLayer) -> bool:
    """Whether the kernel computes the whole layer."""
    parts = Parts.of(layer)
    return parts.options.serves(parts.parameters())


def learned(result: Tensor, value: Tensor, layer: EncoderLayer) -> dict[str, Tensor]:
    """The gradients of steady random weights; the key's bias has none but rounding."""
    weights = torch.randn(result.shape, generator=torch.Generator().manual_seed(5))
    named = {n: p for n, p in layer.named_parameters() if n != "attention.key.bias"}
    found = torch.autograd.grad((result * weights).sum(), [value, *named.values()])
    return dict(zip(["value", *named], found, strict=True))


def assert_same(ours: dict[str, Tensor], theirs: dict[str, Tensor]) -> None:
    for name, one in ours.items():
        torch.testing.assert_close(one, theirs[name], rtol=1e-4, atol=1e-4, msg=name)


@kernel
@norms
@activations
@lengths
@pytest.mark.parametrize("sizes", WIDTHS, ids=str)
@pytest.mark.parametrize("is_causal", [True, False], ids=["causal", "both sides"])
def test_it_is_the_layer_over_padded_rows(
    is_pre_norm: bool,
    activation: str,
    lengths: list[int],
    sizes: tuple[int, int, int],
    is_causal: bool,
) -> None:
    layer = build(sizes, is_pre_norm=is_pre_norm, activation=activation)
    value = torch.randn(sum(lengths), sizes[0]).requires_grad_()
    assert serves(layer)
    ours = packed(layer, value, spans_of(lengths, is_causal=is_causal))
    rows = []
    for sentence in value.split(lengths):
        n = len(sentence)
        mask = masks.causal(n) if is_causal else torch.ones(1, 1, n, n, dtype=torch.bool)
        rows.append(layer(sentence[None], mask)[0])
    reference = torch.cat(rows)
    torch.testing.assert_close(ours, reference, rtol=1e-4, atol=1e-5)
    assert_same(learned(ours, value, layer), learned(reference, value, layer))


@kernel
@norms
@activations
def test_its_noise_is_that_of_the_single_steps(is_pre_norm: bool, activation: str) -> None:
    layer = build((32, 2, 160), is_pre_norm=is_pre_norm, activation=activation, p=0.3)
    value = torch.randn(70, 32).requires_grad_()
    spans = spans_of([3, 50, 17], is_causal=True)
    torch.manual_seed(4)
    ours = packed(layer, value, spans)
    torch.manual_seed(4)
    with step_by_step():
        theirs = packed(layer, value, spans)
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)
    assert_same(learned(ours, value, layer), learned(theirs, value, layer))
    torch.manual_seed(5)
    assert not torch.allclose(packed(layer, value, spans), ours)


@kernel
@norms
@pytest.mark.parametrize(
    "lengths", [[60, 50], [40, 30, 40], [110], [37, 36, 37], [5] * 22, [1, 108, 1]], ids=str
)
def test_any_number_of_threads_computes_the_same(is_pre_norm: bool, lengths: list[int]) -> None:
    layer = build(is_pre_norm=is_pre_norm, activation="gelu", p=0.1)
    value = torch.randn(110, 32).requires_grad_()
    spans, before = spans_of(lengths, is_causal=True), torch.get_num_threads()
    found = []
    try:
        for n in (1, 2, 3):
            torch.set_num_threads(n)
            torch.manual_seed(6)
            result = packed(layer, value, spans)
            found.append((result, learned(result, value, layer)))
    finally:
        torch.set_num_threads(before)
    for result, gradients in found[1:]:
        torch.testing.assert_close(found[0][0], result)
        assert_same(found[0][1], gradients)


@kernel
@norms
def test_who_does_a_piece_changes_nothing(is_pre_norm: bool) -> None:
    """Threads that are done take pieces from others: of more threads than cores some always do."""
    layer = build((64, 2, 144), is_pre_norm=is_pre_norm, activation="gelu", p=0.1)
    lengths = [64] * 40
    value = torch.randn(sum(lengths), 64).requires_grad_()
    spans, before = spans_of(lengths, is_causal=True), torch.get_num_threads()
    found = []
    try:
        for n in (1, *[5] * 30):
            torch.set_num_threads(n)
            torch.manual_seed(6)
            result = packed(layer, value, spans)
            found.append({"result": result, **learned(result, value, layer)})
    finally:
        torch.set_num_threads(before)
    alone, first, *others = found
    assert_same(alone, first)
    for other in others:
        for name, one in first.items():
            assert torch.equal(one, other[name]), name


@kernel
def test_gradients_are_added_where_they_gather() -> None:
    layer = build(is_pre_norm=True, activation="gelu")
    value, spans = torch.randn(9, 32), spans_of([4, 5], is_causal=True)

    def learn() -> None:
        packed(layer, value, spans).square().sum().backward()  # type: ignore[no-untyped-call]

    learn()
    once = {name: p.grad.clone() for name, p in layer.named_parameters() if p.grad is not None}
    layer.zero_grad()
    updater = Updater(layer)
    for n in (1, 2):
        learn()
        for name, parameter in layer.named_parameters():
            assert parameter.grad is not None
            inside = parameter.grad.untyped_storage().data_ptr()
            assert inside == updater.gradient.untyped_storage().data_ptr(), name
            torch.testing.assert_close(
                parameter.grad, n * once[name], rtol=1e-4, atol=1e-4, msg=name
            )


@kernel
def test_a_gradient_that_was_put_aside_meanwhile_begins_anew() -> None:
    layer = build(is_pre_norm=True, activation="gelu")
    value, spans = torch.randn(9, 32).requires_grad_(), spans_of([4, 5], is_causal=True)
    packed(layer, value, spans).square().sum().backward()  # type: ignore[no-untyped-call]
    once = {name: p.grad.clone() for name, p in layer.named_parameters() if p.grad is not None}
    Updater(layer)
    result = packed(layer, value, spans)
    layer.zero_grad(set_to_none=True)
    result.square().sum().backward()  # type: ignore[no-untyped-call]
    for name, parameter in layer.named_parameters():
        torch.testing.assert_close(parameter.grad, once[name], rtol=1e-4, atol=1e-4, msg=name)


@kernel
@norms
def test_without_gradients_it_computes_the_same(is_pre_norm: bool) -> None:
    layer = build(is_pre_norm=is_pre_norm, activation="relu")
    value, spans = torch.randn(9, 32), spans_of([4, 5], is_causal=False)
    with torch.inference_mode():
        calm = packed(layer, value, spans)
    torch.testing.assert_close(calm, packed(layer, value, spans))


@kernel
@norms
def test_without_gradients_layers_follow_each_other_the_same(is_pre_norm: bool) -> None:
    sizes = Sizes(32, 2, 48, is_pre_norm, "gelu", 0.0, 0.0, 0.0, 0.0)
    model = for_training(Gpt(11, sizes, n_layers=3, context=9))
    ids = torch.tensor([[4, 5, 6, 7, 8, 9, 4], [5, 5, 6, 0, 0, 0, 0]])
    with torch.inference_mode():
        calm = model.predict(ids, ids != 0).hidden
    torch.testing.assert_close(calm, model.predict(ids, ids != 0).hidden)


@kernel
@pytest.mark.parametrize(
    ("sizes", "activation"),
    [((32, 2, 20), "gelu"), ((32, 2, 48), "silu")],
    ids=["odd inner width", "another activation"],
)
def test_what_the_kernel_does_not_serve_is_composed(
    sizes: tuple[int, int, int], activation: str
) -> None:
    layer = build(sizes, is_pre_norm=True, activation=activation)
    assert not serves(layer)
    value = torch.randn(5, sizes[0])
    ours = packed(layer, value, spans_of([5], is_causal=True))
    torch.testing.assert_close(ours, layer(value[None], masks.causal(5))[0], rtol=1e-4, atol=1e-5)


def test_other_numbers_and_other_layouts_are_composed() -> None:
    layer = build(is_pre_norm=True, activation="gelu")
    assert serves(layer) == is_native()
    with without_native():
        assert not serves(layer)
    assert not serves(layer.double())
    layer.float().feedforward.widen.weight.data = torch.randn(32, 48).t()
    assert not serves(layer)


@kernel
@norms
@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "none"])
def test_a_whole_gpt_learns_the_same_on_packed_rows(is_pre_norm: bool, positions: str) -> None:
    sizes = Sizes(32, 2, 48, is_pre_norm, "gelu", 0.0, 0.0, 0.0, 0.0)
    model = Gpt(11, sizes, n_layers=2, context=9, positions=positions)
    ids = torch.tensor([[4, 5, 6, 7, 8, 9, 4], [5, 5, 6, 0, 0, 0, 0], [9, 0, 0, 0, 0, 0, 0]])
    is_real = ids != 0
    weights = torch.randn(int(is_real.sum()), 32)
    gradients = []
    for one in (for_training(model), model):
        hidden = one.predict(ids, is_real).hidden
        model.zero_grad()
        (hidden * weights).sum().backward()  # type: ignore[no-untyped-call]
        gradients.append((hidden, {n: p.grad for n, p in model.named_parameters()}))
    (ours, mine), (reference, theirs) = gradients
    torch.testing.assert_close(ours, reference, rtol=1e-4, atol=1e-5)
    for name, one in mine.items():
        torch.testing.assert_close(one, theirs[name], rtol=1e-3, atol=1e-4, msg=name)
