"""Masks are values: true = may attend, combined with ``&``."""

import pytest
import torch

from regard.attention import masks
from regard.errors import SizeError

T, F = True, False


def test_padding_allows_the_first_places_of_each_example() -> None:
    mask = masks.padding(torch.tensor([1, 3, 0]))
    assert mask.shape == (3, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[T, F, F], [T, T, T], [F, F, F]]
    assert masks.padding(torch.tensor([1, 3]), 4)[:, 0, 0].tolist() == [[T, F, F, F], [T, T, T, F]]
    assert masks.padding(torch.tensor([1, 3]), 2)[:, 0, 0].tolist() == [[T, F], [T, T]]


def test_keeping_allows_the_places_that_are_true() -> None:
    ids = torch.tensor([[5, 0, 6], [0, 0, 7]])
    mask = masks.keeping(ids != 0)
    assert mask.shape == (2, 1, 1, 3)
    assert mask[:, 0, 0].tolist() == [[T, F, T], [F, F, T]]


def test_causal_is_the_lower_triangle() -> None:
    mask = masks.causal(3)
    assert mask.shape == (1, 1, 3, 3)
    assert mask[0, 0].tolist() == [[T, F, F], [T, T, F], [T, T, T]]
    assert masks.causal(2, 4)[0, 0].tolist() == [[T, F, F, F], [T, T, F, F]]


@pytest.mark.parametrize("first", [0, 1, 3])
def test_causal_with_a_first_place_is_the_rows_below(first: int) -> None:
    whole = masks.causal(5)
    assert torch.equal(masks.causal(5 - first, first=first), whole[:, :, first:])
    assert torch.equal(masks.causal(1, first=first)[0, 0, 0], torch.ones(first + 1).bool())


def test_window_allows_what_is_near() -> None:
    assert masks.window(3, 4, reach=1)[0, 0].tolist() == [[T, T, F, F], [T, T, T, F], [F, T, T, T]]
    assert torch.equal(masks.window(4, reach=0)[0, 0], torch.eye(4).bool())
    assert masks.window(2, 3, reach=9).all()
    assert torch.equal(masks.window(2, 5, reach=1, first=3), masks.window(5, reach=1)[:, :, 3:])


def test_window_refuses_a_negative_reach() -> None:
    with pytest.raises(SizeError) as refusal:
        masks.window(3, reach=-1)
    assert str(refusal.value) == "a window's reach is 0 or more places, not -1"


def test_given_takes_one_matrix_or_one_for_each_example() -> None:
    one, many = torch.rand(3, 4) > 0.5, torch.rand(2, 3, 4) > 0.5
    assert torch.equal(masks.given(one), one[None, None])
    assert torch.equal(masks.given(many), many[:, None])


def test_masks_are_combined_with_and() -> None:
    allowed = torch.rand(2, 3, 4) > 0.3
    combined = (
        masks.padding(torch.tensor([2, 4]))
        & masks.causal(3, 4)
        & masks.window(3, 4, reach=1)
        & masks.given(allowed)
    )
    assert combined.shape == (2, 1, 3, 4)
    for b, length in enumerate((2, 4)):
        for q in range(3):
            for k in range(4):
                wanted = k < length and k <= q and abs(k - q) <= 1 and bool(allowed[b, q, k])
                assert bool(combined[b, 0, q, k]) == wanted


def test_masks_stand_where_they_are_asked_to() -> None:
    device = torch.device("meta")
    assert masks.causal(3, device=device).device == device
    assert masks.window(3, reach=1, device="meta").device == device
    assert masks.padding(torch.ones(2, dtype=torch.long, device=device), 3).device == device
