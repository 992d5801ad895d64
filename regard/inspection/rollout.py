"""Attention rollout: which inputs a vector is made of, through all layers at once.

A layer adds what its heads gather to what was there, so it passes on ``½ A + ½ I`` with A the mean
of its heads, and the layers' products say how much of each input word arrives where (Abnar and
Zuidema 2020). A decoder has two such mixtures in every layer, and the second adds from the source:
with D the shares of the target's inputs and P those of the source's, self-attention gives
``D ← ½ A D + ½ D`` and ``P ← ½ A P + ½ P``, and attention to the source ``D ← ½ D`` and
``P ← ½ P + ½ C R`` with C its weights and R the encoder's rollout. D and P together sum to one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.errors import UsageError
from regard.inspection.trace import Kind, Trace
from regard.shapes import Float, Tensor


@dataclass(frozen=True, eq=False)
class Rollout:
    """Shares of the inputs after every layer; rows are as in the sites of a trace."""

    encoder: Float[Tensor, "N S S"]
    source: Float[Tensor, "M T S"]  # of the source's words in the decoder's vectors
    target: Float[Tensor, "M T T"]  # of the target's words, as they are read


def roll_out(layers: Sequence[Float[Tensor, "... H L L"]]) -> list[Float[Tensor, "... L L"]]:
    """``Rₙ = (½ Aₙ + ½ I) Rₙ₋₁`` after each layer, from its weights."""
    found: list[Tensor] = []
    for weights in layers:
        before = found[-1] if found else _identity(weights)
        found.append(0.5 * (weights.mean(-3) @ before + before))
    return found


def roll_out_decoder(
    decoder: Sequence[Float[Tensor, "... H T T"]],
    cross: Sequence[Float[Tensor, "... H T S"]],
    encoder: Float[Tensor, "... S S"],
) -> "list[tuple[Float[Tensor, '... T S'], Float[Tensor, '... T T']]]":
    """After each layer of a decoder, the shares of the source's inputs and of the target's."""
    found: list[tuple[Tensor, Tensor]] = []
    for own, other in zip(decoder, cross, strict=True):
        nothing = torch.zeros_like(other[..., 0, :, :])
        source, target = found[-1] if found else (nothing, _identity(own))
        mean = own.mean(-3)
        source, target = 0.5 * (mean @ source + source), 0.5 * (mean @ target + target)
        found.append((0.5 * (source + other.mean(-3) @ encoder), 0.5 * target))
    return found


def rollout(trace: Trace) -> Rollout:
    """The rollout of a trace, whose every layer must attend to its own side.

    An encoder alone has no rows of the target's, a decoder alone none of the encoder's and no
    columns of the source's.
    """
    encoder = roll_out(_weights(trace, "encoder"))
    decoder, cross = _weights(trace, "decoder"), _weights(trace, "cross")
    if not trace.way.is_across:
        source, target = _stacked(encoder), _stacked(roll_out(decoder))
        return Rollout(source, source.new_zeros(*target.shape[:2], source.shape[-1]), target)
    if not encoder or len(decoder) != len(cross) or not cross:
        raise UsageError(
            f"a rollout follows self-attention from layer to layer, and {trace.provenance.model} "
            f"({trace.provenance.kind}) has none on both sides: choose a Transformer"
        )
    both = roll_out_decoder(decoder, cross, encoder[-1])
    return Rollout(
        torch.stack(encoder),
        torch.stack([source for source, _ in both]),
        torch.stack([target for _, target in both]),
    )


def _weights(trace: Trace, kind: Kind) -> list[Tensor]:
    return [torch.from_numpy(site.weights).double() for site in trace.sites_of(kind)]


def _stacked(layers: Sequence[Float[Tensor, "L L"]]) -> Float[Tensor, "N L L"]:
    return torch.stack(list(layers)) if layers else torch.zeros(0, 0, 0, dtype=torch.double)


def _identity(weights: Float[Tensor, "... H L L"]) -> Float[Tensor, "... L L"]:
    one = torch.eye(weights.shape[-1], dtype=weights.dtype, device=weights.device)
    return one.expand(*weights.shape[:-3], *one.shape)
