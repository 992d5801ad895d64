"""Path lengths and sequential operations, found from gradients, are those of the formulas."""

import math

import pytest
import torch
from torch import Tensor

from regard.lessons.complexity import (
    Convolutional,
    Dependency,
    Layer,
    Note,
    depend,
    find_structure,
    kinds,
    longest_chain,
    path_length,
)

LENGTHS = [2, 7, 18, 33]


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize(("reach", "kernel"), [(1, 3), (4, 5), (50, 7)])
def test_structure_is_as_stated(n: int, reach: int, kernel: int) -> None:
    attention, recurrent, convolution, restricted = (
        find_structure(kind, n) for kind in kinds(reach=reach, kernel=kernel)
    )
    assert [one.sequential for one in (attention, recurrent, convolution, restricted)] == [
        1,
        n,
        1,
        1,
    ]
    assert attention.path == 1
    assert recurrent.path == n
    assert convolution.path == math.ceil((n - 1) / (kernel // 2))
    assert convolution.dilated_path == math.ceil(round(math.log(n, kernel), 9))
    assert restricted.path == math.ceil((n - 1) / reach)
    assert {one.dilated_path for one in (attention, recurrent, restricted)} == {None}


def test_the_chain_of_operations_grows_in_recurrence_alone() -> None:
    for kind in kinds(reach=3, kernel=3):
        short, middle, long = (
            longest_chain(kind.build(2)(torch.zeros(1, n, 2, requires_grad=True)))
            for n in (32, 48, 64)
        )
        if kind.name == "recurrent":
            assert long - middle == middle - short >= 16
        else:
            assert short == middle == long


def test_every_pair_of_places_is_looked_at() -> None:
    attention, recurrent, convolution, restricted = (
        depend(kind.build(2), 6, width=2).steps for kind in kinds(reach=2, kernel=3)
    )
    distance = torch.arange(6)[:, None] - torch.arange(6)
    assert (attention == 1).all()
    assert torch.equal(recurrent.isfinite(), distance >= 0)
    assert torch.equal(recurrent[distance >= 0], (distance[distance >= 0] + 1).float())
    assert torch.equal(convolution == 1, distance.abs() <= 1)
    assert torch.equal(restricted == 1, distance.abs() <= 2)


class EverySecond(Layer):
    """Two steps, of which the second needs the first; odd places are given on as they are."""

    def forward(self, value: Tensor) -> Tensor:
        return self.walk(value, lambda result: result)

    def walk(self, value: Tensor, note: Note) -> Tensor:
        doubled = note(2 * value)
        even = note(doubled[:, ::2].cumsum(1))
        odd = value[:, 1::2]
        return torch.stack([even, odd], dim=2).flatten(1, 2)


def test_a_layer_of_several_steps() -> None:
    found = depend(EverySecond(), 4)
    never = math.inf
    assert found.sequential == 2
    assert found.steps.tolist() == [
        [2, never, never, never],
        [never, 0, never, never],
        [2, never, 2, never],
        [never, never, never, 0],
    ]


def test_what_no_stack_connects_has_no_path() -> None:
    alone = depend(Convolutional(3, kernel=1), 5)
    assert path_length(lambda _: alone) is None


def test_a_stack_may_differ_from_layer_to_layer() -> None:
    never = math.inf
    first = Dependency(torch.tensor([[1.0, never], [never, 1.0]]), 1)
    second = Dependency(torch.tensor([[1.0, never], [3.0, 1.0]]), 3)
    third = Dependency(torch.tensor([[1.0, 1.0], [1.0, 1.0]]), 1)
    assert path_length([second].__getitem__) == 3
    assert path_length([third, first].__getitem__) == 1
    dilated = next(kind for kind in kinds(reach=1, kernel=3) if kind.build_dilated)
    assert dilated.build_dilated is not None
    layers = [depend(dilated.build_dilated(3, depth), 10) for depth in range(3)]
    assert path_length(layers.__getitem__) == 3
    assert torch.equal(
        layers[1].steps[:, 0].isfinite().nonzero().flatten(), torch.tensor([0, 3, 6])
    )


def test_the_longest_chain_counts_operations() -> None:
    value = torch.randn(3, requires_grad=True)
    once = value * 2
    assert longest_chain(once) == 1
    assert longest_chain(once.exp() + value) == 3
