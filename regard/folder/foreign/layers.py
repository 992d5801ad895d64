"""The same weights under two names, and the two orders of sines and cosines.

The models of transformers that come from BART call the parts of a layer alike. Their positions
have all sines before all cosines where ours alternate: the numbers of every vector of the model
stand in another order. Turning all weights around once makes both compute the same.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from regard.config import TransformerSection
from regard.shapes import Int, Tensor

SHARED, BIAS, OUTPUT = "model.shared.weight", "final_logits_bias", "lm_head.weight"
WORDS = ("model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight")
PLACES = ("model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight")
OUR_WORDS = ("encoder.embedding.weight", "decoder.embedding.weight")
OUR_PLACES = ("encoder.embedding.positions.table", "decoder.embedding.positions.table")
ACTIVATIONS = {"relu": "relu", "gelu": "gelu", "gelu-tanh": "gelu_new", "silu": "swish"}

_ATTENTION = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}


@dataclass(frozen=True)
class Named:
    """A tensor: our name, theirs, and which axis holds the numbers of a vector of the model."""

    ours: str
    theirs: str
    axis: int | None


def layers(n_encoder: int, n_decoder: int, *, has_final_norm: bool) -> Iterator[Named]:
    """All tensors of both stacks, without the tables of words and places."""
    for stack, n_layers in (("encoder", n_encoder), ("decoder", n_decoder)):
        for i in range(n_layers):
            ours, theirs = f"{stack}.layers.{i}", f"model.{stack}.layers.{i}"
            yield from _attention(ours, "attention", theirs, "self_attn")
            if stack == "decoder":
                yield from _attention(ours, "cross", theirs, "encoder_attn")
            yield from _both(f"{ours}.feedforward.widen", f"{theirs}.fc1", 1, None)
            yield from _both(f"{ours}.feedforward.narrow", f"{theirs}.fc2", 0, 0)
            yield from _both(f"{ours}.around_feedforward.norm", f"{theirs}.final_layer_norm", 0, 0)
        if has_final_norm:
            yield from _both(f"{stack}.norm", f"model.{stack}.layer_norm", 0, 0)


def _attention(ours: str, name: str, theirs: str, their_name: str) -> Iterator[Named]:
    for part, their_part in _ATTENTION.items():
        axes = (0, 0) if part == "output" else (1, None)
        yield from _both(f"{ours}.{name}.{part}", f"{theirs}.{their_name}.{their_part}", *axes)
    yield from _both(f"{ours}.around_{name}.norm", f"{theirs}.{their_name}_layer_norm", 0, 0)


def _both(ours: str, theirs: str, weight: int | None, bias: int | None) -> Iterator[Named]:
    yield Named(f"{ours}.weight", f"{theirs}.weight", weight)
    yield Named(f"{ours}.bias", f"{theirs}.bias", bias)


def alternating(d_model: int) -> Int[Tensor, "D"]:
    """Which number of a vector with the sines first stands at each place of ours."""
    return torch.arange(d_model).view(2, -1).t().flatten()


def sines_first(d_model: int) -> Int[Tensor, "D"]:
    """The way back."""
    return alternating(d_model).argsort()


def turned(tensor: Tensor, axis: int | None, order: Int[Tensor, "D"]) -> Tensor:
    """The tensor with the numbers of its vectors in that order, in memory of its own."""
    whole = tensor.detach().float()
    return whole.clone() if axis is None else whole.index_select(axis, order)


def n_decoder_layers(model: TransformerSection) -> int:
    """As many as the encoder has, unless said."""
    return model.n_decoder_layers or model.n_layers
