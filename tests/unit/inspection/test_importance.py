"""Importance: gradients against differences, and what is made of them."""

from copy import deepcopy

import pytest
import torch
from torch.nn import functional as F

from regard.attention import MultiHeadAttention
from regard.config.networks import UniversalSection
from regard.errors import DataError
from regard.inspection import Head, Importance, head_importance
from regard.inspection.importance import head_gradients
from regard.models import Sizes, Transformer
from regard.systems import build

SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0], [4, 4, 7, 3, 0]])
TARGET = torch.tensor([[2, 5, 6, 9, 3], [2, 7, 8, 3, 0], [2, 6, 3, 0, 0]])


def losses(model: Transformer) -> torch.Tensor:
    logits = model(SOURCE, TARGET[:, :-1])
    found = F.cross_entropy(logits.mT, TARGET[:, 1:], ignore_index=0, reduction="none")
    return found.sum(1)


@pytest.fixture
def model() -> Transformer:
    sizes = Sizes(d_model=12, n_heads=3, d_feedforward=16, is_pre_norm=True)
    return Transformer(11, 11, sizes, n_layers=2).double().eval().requires_grad_(False)


@pytest.mark.parametrize(
    ("head", "path"),
    [
        (Head("encoder", 0, 1), "encoder.layers.0.attention"),
        (Head("decoder", 1, 2), "decoder.layers.1.attention"),
        (Head("cross", 1, 0), "decoder.layers.1.cross"),
    ],
)
def test_gradients_are_what_differences_say(model: Transformer, head: Head, path: str) -> None:
    found = head_gradients(model, 3, lambda: losses(model))[head]
    step, moved = 1e-5, []
    for sign in (1, -1):
        other = deepcopy(model)
        attention = other.get_submodule(path)
        assert isinstance(attention, MultiHeadAttention)
        attention.output.weight[:, 4 * head.head : 4 * head.head + 4] *= 1 + sign * step
        moved.append(losses(other))
    expected = (moved[0] - moved[1]) / (2 * step)
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-6)
    assert expected.abs().min() > 1e-4


def test_importance_is_the_mean_of_sizes_over_sentences(model: Transformer) -> None:
    gradients = head_gradients(model, 3, lambda: losses(model))
    found = head_importance(model, [(3, lambda: losses(model))] * 2)
    assert found.n_sentences == 6
    assert len(found.of) == 18
    for head, gradient in gradients.items():
        assert found.of[head] == pytest.approx(float(gradient.abs().mean()), rel=1e-5)
    signs = torch.stack(list(gradients.values())).sign()
    assert (signs.min(1).values != signs.max(1).values).any()  # or the sizes would prove nothing
    values = [found.of[head] for head in found.ranked]
    assert values == sorted(values)


def test_models_that_are_frozen_or_read_without_gradients_are_measured_too(
    model: Transformer,
) -> None:
    expected = head_importance(model, [(3, lambda: losses(model))])
    model.eval().requires_grad_(False)
    with torch.inference_mode():
        found = head_importance(model, [(3, lambda: losses(model))])
    for head, value in expected.of.items():
        assert found.of[head] == pytest.approx(value, rel=1e-4)


def test_a_repetition_that_never_came_matters_to_none() -> None:
    section = UniversalSection(
        n_steps=6, n_decoder_steps=2, d_model=12, n_heads=3, d_feedforward=20, dropout=0.0
    )
    universal = build(section, 11, 11).eval()
    gradients = head_gradients(universal, 3, lambda: losses(universal))  # type: ignore[arg-type]
    assert gradients[Head("encoder", 0, 1)].abs().max() > 0
    assert gradients[Head("encoder", 5, 1)].abs().max() == 0


def test_layers_count_alike_when_asked() -> None:
    a, b, c = Head("encoder", 0, 0), Head("encoder", 0, 1), Head("cross", 0, 0)
    found = Importance({a: 3.0, b: 4.0, c: 0.5}, 1)
    assert found.ranked == (c, a, b)
    shared = found.per_layer()
    assert shared.of == pytest.approx({a: 0.6, b: 0.8, c: 1.0})
    assert shared.ranked == (a, b, c)
    assert Importance({a: 0.0}, 1).per_layer().of == {a: 0.0}


def test_without_sentences_nothing_is_measured(model: Transformer) -> None:
    with pytest.raises(DataError) as refused:
        head_importance(model, [])
    assert str(refused.value) == "no sentences were given: there is nothing to measure heads by"
