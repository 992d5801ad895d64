"""What all networks of a recipe have, and what all layers with several heads have."""

from typing import Literal, Self

from pydantic import model_validator

from regard.recipes.section import Auto, Count, Section, Share

Tie = Literal["three-way", "two-way", "none"]
Activation = Literal["relu", "gelu", "gelu-tanh", "silu"]


class Network(Section):
    """What all of them have: ties, dropout, and what the rules for other keys go by."""

    kind: str
    tie: Tie = "none"  # of source embedding, target embedding and output
    dropout: Share | Auto = 0.1

    @property
    def width(self) -> int:
        """How wide the vectors are that layers pass on: the learning rate depends on it."""
        raise NotImplementedError

    @property
    def n_places(self) -> int | None:
        """How long a sentence can be, where places are learned one by one."""
        return None

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        raise NotImplementedError


class Heads(Network):
    """The sizes of layers with several heads, named as in "Attention Is All You Need"."""

    d_model: Count = 512
    n_heads: Count = 8
    d_feedforward: Count = 2048
    norm: Literal["pre", "post"] = "post"
    activation: Activation = "relu"
    attention_dropout: Share | None = None  # the next three: as `dropout` unless given
    feedforward_dropout: Share | None = None
    embedding_dropout: Share | None = None

    @property
    def width(self) -> int:
        """``d_model``."""
        return self.d_model

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        return f"of width {self.d_model}, {self.n_heads} heads, feed-forward {self.d_feedforward}"

    @model_validator(mode="after")
    def _heads_divide_the_width(self) -> Self:
        if self.d_model % self.n_heads:
            raise ValueError(
                f"d_model = {self.d_model} cannot be divided among n_heads = {self.n_heads}: "
                "choose a width that is a multiple of the number of heads"
            )
        return self

    def _require_even_width(self) -> None:
        if self.d_model % 2:
            raise ValueError(
                f"d_model = {self.d_model} is odd, and sinusoidal positions pair a sine with a "
                "cosine: choose an even width"
            )
