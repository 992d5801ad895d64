"""The decoder alone and the encoder alone: networks that read one text, not two."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from regard.config.network import Activation, LayeredHeads
from regard.config.section import Layers, Places
from regard.counting import counted


class Alone(LayeredHeads):
    """One stack of layers over one text."""

    measures: ClassVar[tuple[str, ...]] = ()
    is_of_pairs: ClassVar[bool] = False
    attention: ClassVar[str] = "encoder"
    norm: Literal["pre", "post"] = "pre"
    activation: Activation = "gelu"
    norm_epsilon: Annotated[float, Field(gt=0.0)] = 1e-5  # added to the variance by each norm
    n_layers: Layers = 6
    context: Places = 256  # tokens it sees at once
    positions: Literal["learned", "sinusoidal", "none"] = "learned"
    tie: Literal["two-way", "none"] = "two-way"  # of embedding and output

    @property
    def stacks(self) -> Mapping[str, int]:
        """How many layers its attention has."""
        return {self.attention: self.n_layers}

    @property
    def n_places(self) -> int | None:
        """How long a text can be, where places are learned one by one."""
        return self.context if self.positions == "learned" else None

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        layers = counted(self.n_layers, "layer")
        return f"{layers} {super().shape}, which see {counted(self.context, 'token')}"

    @model_validator(mode="after")
    def _places_have_pairs(self) -> Self:
        if self.positions == "sinusoidal":
            self._require_even_width()
        return self


class GptSection(Alone):
    """GPT: each word is predicted from those before it (Radford et al. 2019)."""

    systems: ClassVar[Mapping[str, str]] = {"language": "writing"}
    attention: ClassVar[str] = "decoder"
    kind: Literal["gpt"] = "gpt"
    has_output_bias: bool = False  # a number a word, added to its logit


class BertSection(Alone):
    """BERT: words that were taken out are found from both sides (Devlin et al. 2018)."""

    systems: ClassVar[Mapping[str, str]] = {"masked": "filling"}
    can_be_taught: ClassVar[bool] = True
    kind: Literal["bert"] = "bert"
    norm: Literal["pre", "post"] = "post"
    n_types: Annotated[int, Field(ge=0, le=1_000)] = (
        0  # of segments a text may have, each with a vector
    )
    has_head: bool = True  # that finds words; what was made to compare sentences has none
    head_activation: Activation = "gelu"  # inside that head
    has_pooler: bool = False  # a layer over the first token, of models made elsewhere
    fixed_heads: tuple[str, ...] = ()  # that learn nothing: "encoder.0.3=previous"
    # How `regard embed` makes one vector of a sentence: the mean of its words or, with beginning
    # and end, of all tokens; the beginning's; the largest of each number.
    pooling: Literal["words", "mean", "first", "max"] = "words"
    is_normalised: bool = False  # whether that vector is made one long
    sentence_length: Annotated[int, Field(ge=3, le=1 << 20)] | None = (
        None  # tokens it reads; the rest is cut
    )

    @model_validator(mode="after")
    def _head_and_length_make_sense(self) -> Self:
        if not self.has_head and self.head_activation != "gelu":
            raise ValueError(
                f"head_activation = {self.head_activation} is inside a head, and has_head = false "
                "leaves it out: leave head_activation out too"
            )
        if self.sentence_length is not None and self.sentence_length > self.context:
            raise ValueError(
                f"sentence_length = {self.sentence_length} is more than context = {self.context}, "
                "all that the model sees: choose at most as much"
            )
        return self
