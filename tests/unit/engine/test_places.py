"""Tables of places are changed the same by numpy on a CPU as by torch elsewhere."""

import pytest
import torch

from regard.engine.places import longer_places, taken_rows


@pytest.mark.parametrize("shape", [(3, 4), (1, 1), (5, 0)])
def test_every_row_gets_a_place_of_its_own(shape: tuple[int, int]) -> None:
    places = torch.randint(-1, 90, shape, dtype=torch.int32)
    before = places.clone()
    grown = longer_places(places, 17)
    new = torch.arange(17, 17 + shape[0], dtype=torch.int32)
    assert torch.equal(grown, torch.cat([before, new[:, None]], 1))
    assert grown.dtype == torch.int32
    assert grown.is_contiguous()
    assert torch.equal(places, before)


def test_rows_are_taken_in_any_order_and_again() -> None:
    places, rows = torch.arange(12, dtype=torch.int32).view(4, 3), torch.tensor([2, 0, 2])
    chosen = taken_rows(places, rows)
    assert torch.equal(chosen, places.index_select(0, rows))
    chosen[0, 0] = -1
    assert places[2, 0] == 6
    assert torch.equal(taken_rows(torch.tensor([5, 6, 7]), rows), torch.tensor([7, 5, 7]))


def test_elsewhere_torch_does_it() -> None:
    places = torch.empty(4, 3, dtype=torch.int32, device="meta")
    assert longer_places(places, 2).shape == (4, 4)
    assert taken_rows(places, torch.empty(2, dtype=torch.long, device="meta")).shape == (2, 3)
