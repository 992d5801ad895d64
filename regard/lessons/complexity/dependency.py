"""What waits for what: path length and sequential operations, found from gradients.

Nothing here knows the formulas. A layer walks over a small sequence step by step, and what each
step gives is cut from what went before. The gradient of a step then shows exactly which vectors it
read; one that is zero was not read. From these readings follow the longest chain of steps that wait
for each other, and the shortest chain by which a signal gets from one place to another.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.lessons.complexity.layers import Layer
from regard.shapes import Float

WIDTH = 3  # small, since only zero or not zero is asked

UNREACHED = float("inf")


@dataclass(frozen=True)
class Dependency:
    """Of one layer: steps from input j to output i (infinite: none), and the longest chain."""

    steps: Float[Tensor, "L L"]
    sequential: int


def depend(layer: Layer, length: int, width: int = WIDTH, seed: int = 0) -> Dependency:
    """Find what depends on what in one layer, for a sequence of that length."""
    generator = torch.Generator().manual_seed(seed)
    value = torch.randn(1, length, width, generator=generator, dtype=torch.float64)
    readings = _Readings(value.requires_grad_(), generator)
    output = layer.double().walk(value, readings.note)
    rows = [readings.nearest_and_longest(place) for place in _places(output)]
    return Dependency(
        steps=torch.stack([nearest for nearest, _ in rows]),
        sequential=max(longest for _, longest in rows),
    )


def path_length(layers: Callable[[int], Dependency]) -> int | None:
    """How many steps a signal takes from the first input to the last output.

    ``layers`` gives the layer at each depth; the stack is as deep as it must be to connect them.
    None: no stack connects them.
    """
    steps = layers(0).steps
    depth = 1
    while steps[-1, 0] == UNREACHED:
        added = layers(depth).steps
        # Over any place in between: input j to place m below, and from there to output i.
        deeper = torch.stack([(row[:, None] + steps).amin(0) for row in added])
        if torch.equal(deeper.isfinite(), steps.isfinite()):
            return None
        steps, depth = deeper, depth + 1
    return int(steps[-1, 0])


def longest_chain(output: Tensor) -> int:
    """How many operations on the longest chain of the graph that torch has recorded."""
    chain: dict[object, int] = {}
    waiting = [output.grad_fn]
    while waiting:
        node = waiting[-1]
        if node is None or node in chain:
            waiting.pop()
            continue
        before = [source for source, _ in node.next_functions if source is not None]
        unknown = [source for source in before if source not in chain]
        if unknown:
            waiting.extend(unknown)
            continue
        # Leaves, where gradients are gathered, are no operations.
        is_leaf = not before
        chain[node] = 0 if is_leaf else 1 + max(chain[source] for source in before)
        waiting.pop()
    return chain[output.grad_fn]


class _Readings:
    """Who read what: for each vector so far, the nearest way from every input, and the longest."""

    def __init__(self, value: Float[Tensor, "1 L D"], generator: torch.Generator) -> None:
        length = value.shape[1]
        self._generator = generator
        self._tensors: list[Tensor] = [value]
        nearest = torch.full((length, length), UNREACHED).fill_diagonal_(0.0)
        self._known: list[list[tuple[Tensor, int]]] = [[(row, 0) for row in nearest]]

    def note(self, result: Tensor) -> Tensor:
        """Take what a step gives, find what it read, and give it on without its history."""
        found = [self.nearest_and_longest(place) for place in _places(result)]
        self._known.append([(nearest + 1, longest + 1) for nearest, longest in found])
        self._tensors.append(result.detach().requires_grad_())
        return self._tensors[-1]

    def nearest_and_longest(self, place: Float[Tensor, "1 D"]) -> tuple[Float[Tensor, "L"], int]:
        """Over everything this vector reads: steps from each input, and the longest chain."""
        # In a random direction, so that no two parts of a gradient cancel.
        direction = torch.randn(place.shape, generator=self._generator, dtype=place.dtype)
        gradients = torch.autograd.grad(
            place, self._tensors, direction, retain_graph=True, allow_unused=True
        )
        read: list[tuple[Tensor, int]] = []
        for gradient, places in zip(gradients, self._known, strict=True):
            if gradient is not None:  # torch's types do not know that it may be
                parts = zip(_places(gradient), places, strict=True)
                read.extend(known for part, known in parts if part.any())
        nearest = torch.stack([nearest for nearest, _ in read]).amin(0)
        return nearest, max(longest for _, longest in read)


def _places(value: Tensor) -> tuple[Tensor, ...]:
    """The vectors of a sequence ``1 L D``; a single vector ``1 D`` is one place."""
    return value.unbind(1) if value.dim() == 3 else (value,)
