"""The decoder alone and the encoder alone: networks that read one text, not two."""

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from regard.recipes.network import Heads
from regard.recipes.section import Count


class Alone(Heads):
    """One stack of layers over one text."""

    norm: Literal["pre", "post"] = "pre"
    activation: Literal["relu", "gelu"] = "gelu"
    n_layers: Count = 6
    context: Count = 256  # tokens it sees at once
    positions: Literal["learned", "sinusoidal", "none"] = "learned"
    tie: Literal["two-way", "none"] = "two-way"  # of embedding and output

    @property
    def n_places(self) -> int | None:
        """How long a text can be, where places are learned one by one."""
        return self.context if self.positions == "learned" else None

    @property
    def shape(self) -> str:
        """Layers and widths, in words."""
        return f"{self.n_layers} layers {super().shape}, which see {self.context} tokens"

    @model_validator(mode="after")
    def _places_have_pairs(self) -> Self:
        if self.positions == "sinusoidal":
            self._require_even_width()
        return self


class GptSection(Alone):
    """GPT: each word is predicted from those before it (Radford et al. 2019)."""

    kind: Literal["gpt"] = "gpt"


class BertSection(Alone):
    """BERT: words that were taken out are found from both sides (Devlin et al. 2018)."""

    kind: Literal["bert"] = "bert"
    norm: Literal["pre", "post"] = "post"
    n_types: Annotated[int, Field(ge=0)] = 0  # of segments a text may have, each with a vector
