"""What training, searching and looking inside need of a translator, whatever it is made of."""

from typing import Any

from regard.attention import Site
from regard.models.model import Model, Predicted
from regard.shapes import Bool, Float, Int, Source, Tensor


class EncoderDecoder(Model):
    """A translator: reads a source, and predicts each word of a target from those before it.

    ``hidden`` is all of it that learns, ``start``, ``step`` and ``reorder`` are for searching (see
    :class:`~regard.models.interface.Step`), ``sites`` says where one can look inside.
    """

    def hidden(self, source: Source, target: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted; ``target`` is shifted right."""
        raise NotImplementedError

    def predict(
        self,
        source: Source,
        target: Int[Tensor, "B T"],
        is_real: Bool[Tensor, "B T"],
    ) -> Predicted:
        """The vectors of the places that are real, with what else the loss needs."""
        return Predicted(self.hidden(source, target)[is_real])

    def forward(self, source: Source, target: Int[Tensor, "B T"]) -> Float[Tensor, "B T V"]:
        """The logits of each next word; ``target`` is shifted right (begins with <BOS>)."""
        logits: Tensor = self.logits(self.output(self.hidden(source, target)))
        return logits

    def scored(self, predicted: Predicted) -> Float[Tensor, "N V"]:
        """The logits of what is predicted, copying included; no probe hears them."""
        logits: Tensor = self.output(predicted.hidden)
        return logits if predicted.copies is None else predicted.copies.joined(logits)

    def start(self, source: Source) -> Any:
        """Read the source."""
        raise NotImplementedError

    def step(self, state: Any, tokens: Int[Tensor, "R"]) -> tuple[Float[Tensor, "R V"], Any]:
        """Take one more token a row, and give the logits of the next."""
        raise NotImplementedError

    @property
    def aligning(self) -> Site | None:
        """Of the places that look from target to source, the one that best tells which word
        came from which: the last but one (Garg et al. 2019), for the last prepares the output.
        """
        cross = [site for site in self.sites if site.kind == "cross"]
        return cross[max(0, len(cross) - 2)] if cross else None
