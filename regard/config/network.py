"""What all networks of a recipe have, and what all layers with several heads have."""

from collections.abc import Mapping
from typing import ClassVar, Literal, Self

from pydantic import model_validator

from regard.config.section import Auto, Section, Share, Width
from regard.counting import counted

Tie = Literal["three-way", "two-way", "none"]
Activation = Literal["relu", "gelu", "gelu-tanh", "silu"]


class Network(Section):
    """What all of them have: ties, dropout, and what the rules for other keys go by.

    ``systems`` names what may be made of the network: for each ``training.task`` its system, the
    first being the usual one. ``measures`` is what "best" may mean besides the loss, and
    ``compares`` what they compare. ``begins_from`` are the kinds whose weights it may begin from,
    and ``epochs`` how long it learns then and without; ``None``: by the size of the data.
    """

    systems: ClassVar[Mapping[str, str]] = {
        "translation": "translation",
        "dialogue": "dialogue",
        "sequences": "sequences",
        "summary": "summaries",
    }
    measures: ClassVar[tuple[str, ...]] = ("bleu", "chrf", "exact")
    compares: ClassVar[str] = "translations"
    begins_from: ClassVar[tuple[str, ...]] = ()
    epochs: ClassVar[tuple[float, float] | None] = None
    fine_tuning: ClassVar[float] = 0.04  # the learning rate times the width, where it begins so
    is_of_pairs: ClassVar[bool] = True  # a source and a target, which may share a vocabulary
    takes_features: ClassVar[bool] = False  # of pictures, computed before (data.features)
    can_be_split: ClassVar[bool] = False  # compiled, or sharded over processes
    can_be_taught: ClassVar[bool] = False  # where its heads should look
    # A command that has no file of its own: its name, what it does, and an example.
    verb: ClassVar[tuple[str, str, str] | None] = None

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
    def least_size(self) -> int:
        """Fewer weights than a network of these sizes has, so that no memory is asked for in vain.

        Every layer has a square matrix at least; how many layers there are, not every kind says.
        """
        n_layers = getattr(self, "n_layers", 1)
        assert isinstance(n_layers, int)
        return n_layers * self.width**2

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        raise NotImplementedError


class Heads(Network):
    """The sizes of layers with several heads, named as in "Attention Is All You Need"."""

    d_model: Width = 512
    n_heads: Width = 8
    d_feedforward: Width = 2048
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
    def least_size(self) -> int:
        """As above; a layer has four matrices of attention and two of feed-forward."""
        n_layers = super().least_size // self.width**2
        return n_layers * self.width * (4 * self.width + 2 * self.d_feedforward)

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        heads = counted(self.n_heads, "head")
        return f"of width {self.d_model}, {heads}, feed-forward {self.d_feedforward}"

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


class LayeredHeads(Heads):
    """Layers with several heads each, of which pruning may have taken some out."""

    heads_removed: tuple[str, ...] = ()  # as encoder.0.3: attention, layer and head, from 0

    @property
    def stacks(self) -> Mapping[str, int]:
        """How many layers each attention has."""
        raise NotImplementedError

    @property
    def heads_kept(self) -> dict[tuple[str, int], tuple[int, ...]]:
        """By attention and layer the heads that are left, where some were taken out."""
        removed = [name.split(".") for name in self.heads_removed]
        gone = {(kind, int(layer), int(head)) for kind, layer, head in removed}
        return {
            (kind, layer): tuple(h for h in range(self.n_heads) if (kind, layer, h) not in gone)
            for kind, layer in sorted({(kind, layer) for kind, layer, _ in gone})
        }

    @property
    def least_size(self) -> int:
        """As above; of a model that was pruned what is not attention."""
        if not self.heads_removed:
            return super().least_size
        n_layers = super().least_size // (self.width * (4 * self.width + 2 * self.d_feedforward))
        return n_layers * self.width * 2 * self.d_feedforward

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        if not self.heads_removed:
            return super().shape
        n = self.n_heads * sum(self.stacks.values())
        heads = f"{n - len(self.heads_removed)} of {n} heads"
        return f"of width {self.d_model}, {heads}, feed-forward {self.d_feedforward}"

    @model_validator(mode="after")
    def _removed_heads_were_there(self) -> Self:
        known = {
            f"{kind}.{layer}.{head}"
            for kind, n_layers in self.stacks.items()
            for layer in range(n_layers)
            for head in range(self.n_heads)
        }
        for name in self.heads_removed:
            if name not in known or self.heads_removed.count(name) > 1:
                layers = (f"{kind} has {counted(n, 'layer')}" for kind, n in self.stacks.items())
                raise ValueError(
                    f"heads_removed has {name}, which is no head, or is there twice: "
                    f"{', '.join(layers)} of {counted(self.n_heads, 'head')}, counted from 0"
                )
        return self
