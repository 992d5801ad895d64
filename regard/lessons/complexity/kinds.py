"""What the table states of each kind of layer, beside how such a layer is built."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial

from regard.lessons.complexity.layers import (
    Convolutional,
    DilatedConvolutional,
    Layer,
    Recurrent,
    RestrictedSelfAttention,
    SelfAttention,
)


@dataclass(frozen=True)
class Kind:
    """A row of Table 1: what is stated in signs, the same as numbers, and the layer itself."""

    name: str
    complexity: str
    sequential: str
    path: str
    memory: str  # not in the paper's table: what follows from the layer
    exponents: tuple[int, int]  # of n and d in the complexity
    operations: Callable[[int, int], int]  # of n and d, without constant factors
    most_floats: Callable[[int, int], int]  # how many numbers are alive at once, at most
    build: Callable[[int], Layer]  # of width d
    dilated_path: str = ""
    build_dilated: Callable[[int, int], Layer] | None = None  # of width d, at a depth from 0
    build_at: Callable[[int, int], Layer] | None = None  # of n and d, where a layer is of its n


@cache
def kinds(*, reach: int, kernel: int) -> tuple[Kind, ...]:
    """The rows of the table, for windows of this reach and convolutions of this width."""
    block = 3 * max(reach, 16)
    return (
        Kind(
            name="self-attention",
            complexity="O(n²·d)",
            sequential="O(1)",
            path="O(1)",
            memory="n² + n·d",
            exponents=(2, 1),
            operations=lambda n, d: n * n * d,
            most_floats=lambda n, d: 4 * n * n + 8 * n * d,
            build=SelfAttention,
        ),
        Kind(
            name="recurrent",
            complexity="O(n·d²)",
            sequential="O(n)",
            path="O(n)",
            memory="n·d + d²",
            exponents=(1, 2),
            operations=lambda n, d: n * d * d,
            most_floats=lambda n, d: 4 * n * d + 4 * d * d,
            build=Recurrent,
        ),
        Kind(
            name="convolutional",
            complexity="O(k·n·d²)",
            sequential="O(1)",
            path="O(n/k)",
            memory="n·d + k·d²",
            exponents=(1, 2),
            operations=lambda n, d: kernel * n * d * d,
            most_floats=lambda n, d: 4 * n * d + 2 * kernel * d * d,
            build=partial(Convolutional, kernel=kernel),
            dilated_path="O(logₖ n)",
            build_dilated=lambda d, depth: DilatedConvolutional(d, kernel, kernel**depth),
        ),
        Kind(
            name="restricted self-attention",
            complexity="O(r·n·d)",
            sequential="O(1)",
            path="O(n/r)",
            memory="r·n + n·d",
            exponents=(1, 1),
            operations=lambda n, d: min(reach, n) * n * d,
            most_floats=lambda n, d: 4 * n * min(block, 3 * n) + 16 * n * d,
            build=partial(RestrictedSelfAttention, reach=reach),
        ),
    )
