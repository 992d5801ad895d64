"""Add and norm: the residual connection, and the two ways to normalise a table of numbers.

Plain functions, for explaining; the models use torch's LayerNorm, and a test holds them equal.
"""

from collections.abc import Callable

from regard.shapes import Float, Tensor


def residual(
    value: Float[Tensor, "*shape"], layer: Callable[[Tensor], Tensor]
) -> Float[Tensor, "*shape"]:
    """``H(x) = F(x) + x`` (He et al. 2015): the layer learns only what to change."""
    return layer(value) + value


def layer_normalise(
    value: Float[Tensor, "*batch D"], epsilon: float = 1e-5
) -> Float[Tensor, "*batch D"]:
    """``(x - μ) / √(σ² + ε)`` over the features of each example (Ba et al. 2016)."""
    mean = value.mean(-1, keepdim=True)
    variance = value.var(-1, keepdim=True, correction=0)
    return (value - mean) / (variance + epsilon).sqrt()


def batch_normalise(value: Float[Tensor, "B D"], epsilon: float = 1e-5) -> Float[Tensor, "B D"]:
    """``(x - μ) / √(σ² + ε)`` over the examples, for each feature (Ioffe and Szegedy 2015)."""
    mean = value.mean(0, keepdim=True)
    variance = value.var(0, keepdim=True, correction=0)
    return (value - mean) / (variance + epsilon).sqrt()
