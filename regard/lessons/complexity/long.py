"""Whole stacks over long sequences: what T-DMCA saves, beside full attention in the same run.

A stack is what a decoder trains with: projections, attention, feed-forward and norms of all layers
(Liu et al. 2018), from n vectors to n vectors, without the table of words.
"""

from dataclasses import dataclass
from functools import cache, partial

from torch import nn
from torch.utils.checkpoint import checkpoint

from regard.errors import SizeError
from regard.lessons.complexity.kinds import Kind
from regard.lessons.complexity.layers import Layer
from regard.lessons.complexity.study import StudyPlan
from regard.models import CompressedDecoder, Sizes
from regard.shapes import Float, Tensor

N_HEADS = 4
_MEMORY = 1024  # blocks of a memory of fixed size


class LongStack(Layer):
    """The layers of a decoder of local (L) and memory-compressed (M) attention, in training.

    With a stride of 1 the latter is full attention; where its weights are formed, all n × n are.
    """

    def __init__(
        self, width: int, layers: str, block: int, stride: int, *, is_formed: bool = False
    ) -> None:
        super().__init__()
        sizes = Sizes(width, N_HEADS, 4 * width, is_pre_norm=True, dropout=0.0)
        self.model = CompressedDecoder(2, sizes, layers=layers, block=block, stride=stride)
        self.model.embedding = nn.Identity()  # type: ignore[assignment]  # words are not counted
        self.model.output = nn.Identity()  # type: ignore[assignment]
        if is_formed:
            for layer in self.model.stack:
                layer.attention.inner.weights.attach(_passed_on)

    def forward(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """Every place, having seen some or all before it."""
        for layer in self.model.stack:
            value = checkpoint(layer, value, use_reentrant=False)  # whatever the length
        normed: Tensor = self.model.norm(value)
        return normed


def _passed_on(value: Tensor) -> Tensor:
    return value


@dataclass(frozen=True)
class LongPlan(StudyPlan):
    """What to measure of long sequences: lengths at one width."""

    layers: str = "LMLML"
    stride: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        if any(width % N_HEADS for width in self.widths):
            raise SizeError(
                f"stacks have {N_HEADS} heads: choose a width that is a multiple, not {self.width}"
            )

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """T-DMCA in two forms, and full attention in two."""
        return long_kinds(self.layers, self.reach, self.stride)

    @property
    def title(self) -> str:
        """What is measured."""
        return f"A forward and a backward pass of {len(self.layers)} layers"

    @property
    def about(self) -> str:
        """What the letters mean."""
        return (
            f"n: length, d: width, layers {self.layers}, b = {self.reach}: places of a local "
            f"layer, s = {self.stride}: places that are one of the memory; a memory of fixed size "
            f"has {_MEMORY:,} blocks."
        )


@cache
def long_kinds(layers: str, block: int, stride: int) -> tuple[Kind, ...]:
    """The stacks that are compared."""
    full = "M" * len(layers)

    def linear(n: int, d: int) -> int:  # projections, feed-forward and windows
        return len(layers) * n * (12 * d * d + 2 * block * d)

    def numbers(n: int, d: int) -> int:
        return (40 + 30 * len(layers)) * n * d

    return (
        Kind(
            name=f"T-DMCA, stride {stride}",
            complexity="O(n²·d/s + n·d²)",
            sequential="O(1)",
            path="O(1)",
            memory="n·d",
            exponents=(2, 1),
            operations=lambda n, d: linear(n, d) + layers.count("M") * n * n * d // stride,
            most_floats=numbers,
            build=partial(LongStack, layers=layers, block=block, stride=stride),
        ),
        Kind(
            name="T-DMCA, memory of fixed size",
            complexity="O(m·n·d + n·d²)",
            sequential="O(1)",
            path="O(1)",
            memory="n·d",
            exponents=(1, 1),
            operations=lambda n, d: linear(n, d) + layers.count("M") * n * min(n, _MEMORY) * d,
            most_floats=numbers,
            build=partial(LongStack, layers=layers, block=block, stride=stride),
            build_at=lambda n, d: LongStack(d, layers, block, max(1, n // _MEMORY)),
        ),
        Kind(
            name="full attention, fused",
            complexity="O(n²·d + n·d²)",
            sequential="O(1)",
            path="O(1)",
            memory="n·d",
            exponents=(2, 1),
            operations=lambda n, d: linear(n, d) + len(full) * n * n * d,
            most_floats=numbers,
            build=partial(LongStack, layers=full, block=block, stride=1),
        ),
        Kind(
            name="full attention, weights formed",
            complexity="O(n²·d + n·d²)",
            sequential="O(1)",
            path="O(1)",
            memory="n² + n·d",
            exponents=(2, 1),
            operations=lambda n, d: linear(n, d) + len(full) * n * n * (2 * d + 8 * N_HEADS),
            most_floats=lambda n, d: numbers(n, d) + 6 * N_HEADS * n * n * len(full),
            build=partial(LongStack, layers=full, block=block, stride=1, is_formed=True),
        ),
    )
