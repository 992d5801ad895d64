"""Restricted attention by blocks is attention under a band mask, at a linear cost."""

import jaxtyping
import pytest
import torch
from torch import Tensor

from regard.attention import (
    SCORES,
    Attention,
    Location,
    ScaledDot,
    WindowAttention,
    build_score,
    masks,
)
from regard.errors import SizeError

BATCH, HEADS, WIDTH, VALUE_WIDTH = 2, 3, 5, 4


def draw(length: int) -> tuple[Tensor, Tensor, Tensor]:
    query, key = torch.randn(2, BATCH, HEADS, length, WIDTH, dtype=torch.float64)
    value = torch.randn(BATCH, HEADS, length, VALUE_WIDTH, dtype=torch.float64)
    return query.requires_grad_(), key.requires_grad_(), value.requires_grad_()


def draw_real(length: int) -> Tensor:
    """Some keys of each row are padding; the second row has nothing but padding to the left."""
    is_real = torch.rand(BATCH, length) > 0.3
    is_real[0, 0] = True
    is_real[1, : length // 2] = False
    return is_real


def band(length: int, reach: int, is_causal: bool, is_real: Tensor | None) -> Tensor:
    mask = masks.window(length, reach=reach)
    if is_causal:
        mask = mask & masks.causal(length)
    return mask if is_real is None else mask & masks.keeping(is_real)


@pytest.mark.parametrize("is_padded", [False, True], ids=["whole", "padded"])
@pytest.mark.parametrize("is_causal", [False, True], ids=["both sides", "causal"])
@pytest.mark.parametrize(
    ("length", "reach"),
    [(37, 0), (37, 1), (37, 5), (48, 16), (53, 17), (53, 26), (53, 40), (7, 2), (7, 90), (1, 3)],
)
def test_equals_attention_under_a_band_mask(
    length: int, reach: int, is_causal: bool, is_padded: bool
) -> None:
    query, key, value = draw(length)
    is_real = draw_real(length) if is_padded else None
    window = WindowAttention(ScaledDot(WIDTH, WIDTH), reach=reach, is_causal=is_causal)
    mask = band(length, reach, is_causal, is_real)
    expected = Attention(ScaledDot(WIDTH, WIDTH))(query, key, value, mask).context

    context = window(query, key, value, is_real)

    torch.testing.assert_close(context, expected, rtol=1e-12, atol=1e-12)
    sees = mask.any(-1).expand(BATCH, HEADS, length)
    assert (context[~sees] == 0).all()
    direction = torch.randn_like(context)
    found = torch.autograd.grad(context, [query, key, value], direction)
    wanted = torch.autograd.grad(expected, [query, key, value], direction)
    for one, other in zip(found, wanted, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)
    assert (found[0][~sees] == 0).all()


@pytest.mark.parametrize("name", [name for name in SCORES if name != "location"])
def test_any_score_of_query_and_key_serves(name: str) -> None:
    query, key, value = draw(39)
    score = build_score(name, WIDTH, WIDTH, HEADS).double()
    expected = Attention(score)(query, key, value, masks.window(39, reach=4)).context
    torch.testing.assert_close(WindowAttention(score, reach=4)(query, key, value), expected)


@pytest.mark.parametrize(("length", "reach"), [(37, 3), (41, 18), (5, 9)])
@pytest.mark.parametrize("is_causal", [False, True], ids=["both sides", "causal"])
@pytest.mark.parametrize("probe", ["scores", "weights"])
def test_probes_hear_the_band(probe: str, length: int, reach: int, is_causal: bool) -> None:
    query, key, value = draw(length)
    window = WindowAttention(ScaledDot(WIDTH, WIDTH), reach=reach, is_causal=is_causal)
    unheard = window(query, key, value)
    heard: list[Tensor] = []

    def listen(passing: Tensor) -> Tensor:
        heard.append(passing.detach())
        return passing

    getattr(window, probe).attach(listen)
    torch.testing.assert_close(window(query, key, value), unheard)

    whole: list[Tensor] = []
    full = Attention(ScaledDot(WIDTH, WIDTH))
    getattr(full, probe).attach(lambda passing: whole.append(passing.detach()) or passing)
    full(query, key, value, band(length, reach, is_causal, None))
    left = min(reach, length - 1)
    right = 0 if is_causal else left
    assert heard[0].shape == (BATCH, HEADS, length, left + 1 + right)
    for i in range(length):
        for column in range(left + 1 + right):
            j = i - left + column
            if 0 <= j < length:
                torch.testing.assert_close(heard[0][:, :, i, column], whole[0][:, :, i, j])
            elif probe == "weights":
                assert (heard[0][:, :, i, column] == 0).all()


def test_what_a_listener_gives_back_goes_on() -> None:
    length, reach = 21, 2
    query, key, value = draw(length)
    window = WindowAttention(ScaledDot(WIDTH, WIDTH), reach=reach)
    only_before = torch.zeros(2 * reach + 1, dtype=torch.float64)
    only_before[reach - 1] = 1.0
    window.weights.attach(lambda weights: only_before.expand_as(weights))
    context = window(query, key, value)
    torch.testing.assert_close(context[:, :, 1:], value[:, :, :-1])
    assert (context[:, :, 0] == 0).all()


def test_dropout_falls_on_the_weights_while_training() -> None:
    query, key, value = (one.detach().float() for one in draw(23))
    window = WindowAttention(ScaledDot(WIDTH, WIDTH), reach=3, dropout=0.5)
    calm = window.eval()(query, key, value)
    torch.testing.assert_close(window(query, key, value), calm)
    assert not torch.allclose(window.train()(query, key, value), calm)


def test_nothing_gives_nothing() -> None:
    query, key, value = draw(0)
    window = WindowAttention(ScaledDot(WIDTH, WIDTH), reach=3)
    assert window(query, key, value).shape == (BATCH, HEADS, 0, VALUE_WIDTH)


def test_queries_and_keys_are_one_sequence() -> None:
    (query, _, _), (_, key, value) = draw(8), draw(9)
    with pytest.raises(jaxtyping.TypeCheckError):
        WindowAttention(ScaledDot(WIDTH, WIDTH), reach=3)(query, key, value)


def test_a_reach_below_zero_is_refused() -> None:
    with pytest.raises(SizeError) as refused:
        WindowAttention(ScaledDot(WIDTH, WIDTH), reach=-1)
    assert str(refused.value) == "a window's reach is 0 or more places, not -1"


def test_a_score_of_places_is_refused() -> None:
    with pytest.raises(SizeError) as refused:
        WindowAttention(Location(WIDTH, WIDTH), reach=1)
    assert str(refused.value) == (
        "location-based attention gives every place of a sequence its own weight, and a window "
        "knows no such places: choose a score that looks at the key"
    )
