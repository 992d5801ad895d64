"""What training, searching and looking inside need of a translator, whatever it is made of."""

from typing import Any, NamedTuple

from torch import nn

from regard.attention import Probe, Site
from regard.shapes import Bool, Float, Int, Tensor


class Predicted(NamedTuple):
    """What a model makes of a batch, for a task to judge: a vector a word, and what else counts.

    Some models draw lots on the way (hard attention): then the log-probability of what was drawn
    comes along, and what log p(word) was expected to be whatever would be drawn.
    """

    hidden: Float[Tensor, "N D"]  # of the words to predict, row by row
    cost: Float[Tensor, ""] | None = None  # of computing, in nats a word: added to the loss
    log_choice: Float[Tensor, "N"] | None = None
    baseline: Float[Tensor, "N"] | None = None


class EncoderDecoder(nn.Module):
    """A translator: reads a source, and predicts each word of a target from those before it.

    ``hidden`` is all of it that learns, ``start``, ``step`` and ``reorder`` are for searching (see
    :class:`~regard.models.interface.Step`), ``sites`` says where one can look inside.
    """

    output: nn.Linear

    def __init__(self, padding: int) -> None:
        super().__init__()
        self.logits = Probe()
        self.padding = padding

    def hidden(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted; ``target`` is shifted right."""
        raise NotImplementedError

    def predict(
        self,
        source: Int[Tensor, "B S"],
        target: Int[Tensor, "B T"],
        is_real: Bool[Tensor, "B T"],
    ) -> Predicted:
        """The vectors of the places that are real, with what else the loss needs."""
        return Predicted(self.hidden(source, target)[is_real])

    def forward(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T V"]:
        """The logits of each next word; ``target`` is shifted right (begins with <BOS>)."""
        logits: Tensor = self.logits(self.output(self.hidden(source, target)))
        return logits

    def start(self, source: Int[Tensor, "B S"]) -> Any:
        """Read the source."""
        raise NotImplementedError

    def step(self, state: Any, tokens: Int[Tensor, "R"]) -> tuple[Float[Tensor, "R V"], Any]:
        """Take one more token a row, and give the logits of the next."""
        raise NotImplementedError

    def reorder(self, state: Any, rows: Int[Tensor, "N"]) -> Any:
        """Take these rows, in this order."""
        return state.reorder(rows)

    def freeze(self) -> None:
        """Promise that the weights will not change."""
        self.eval().requires_grad_(False)

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every place where it attends, the encoder's first; none if it does not."""
        return ()

    @property
    def aligning(self) -> Site | None:
        """Of the places that look from target to source, the one that best tells which word
        came from which: the last but one (Garg et al. 2019), for the last prepares the output.
        """
        cross = [site for site in self.sites if site.kind == "cross"]
        return cross[max(0, len(cross) - 2)] if cross else None
