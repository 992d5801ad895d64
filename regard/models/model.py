"""What training, keeping and looking inside need of a model, whatever it is made of."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from torch import nn

from regard.attention import MultiHeadAttention, Probe, Site, SiteKind
from regard.models.copying import Copies
from regard.shapes import Float, Int, Tensor


class Predicted(NamedTuple):
    """What a model makes of a batch, for a task to judge: a vector a word, and what else counts.

    Some models draw lots on the way (hard attention): then the log-probability of what was drawn
    comes along, and, if they learn it, what log p(word) was expected to be whatever would be drawn.
    """

    hidden: Float[Tensor, "N D"]  # of the words to predict, row by row
    cost: Float[Tensor, ""] | None = None  # of computing, in nats a word: added to the loss
    log_choice: Float[Tensor, "N"] | None = None
    baseline: Float[Tensor, "N"] | None = None
    queries: Float[Tensor, "N H"] | None = None  # for which it was drawn
    copies: Copies | None = None  # how much each word of the source wants to be written

    def rows(self, part: slice) -> "Predicted":
        """Vectors and copies of some of the words, as much as giving their logits takes."""
        copies = self.copies
        chosen = None if copies is None else Copies(copies.scores[part], copies.source[part])
        return Predicted(self.hidden[part], copies=chosen)


class Model(nn.Module):
    """Turns ids into vectors, from which ``output`` predicts words; ``sites`` is where it attends.

    A translator (:class:`~regard.models.encoder_decoder.EncoderDecoder`), a decoder alone
    (:class:`~regard.models.gpt.Gpt`) or an encoder alone (:class:`~regard.models.bert.Bert`).
    """

    output: nn.Linear

    def __init__(self, padding: int) -> None:
        super().__init__()
        self.logits = Probe()
        self.padding = padding

    @property
    def n_parameters(self) -> int:
        """Numbers that were learned; those that two parts share count once."""
        return sum(one.numel() for one in self.parameters())

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every place where it attends, the encoder's first; none if it does not."""
        return ()

    def keep_heads(self, kept: Mapping[tuple[str, int], Sequence[int]]) -> None:
        """Do without all heads but these, for good, in the attentions and layers that are named."""
        sites: dict[tuple[str, int], Site] = {(one.kind, one.layer): one for one in self.sites}
        for place, heads in kept.items():
            attention = self.get_submodule(sites[place].probe.rpartition(".")[0])
            assert isinstance(attention, MultiHeadAttention)
            attention.keep(heads)

    def _attending(self, kind: SiteKind, stack: str, name: str = "attention") -> tuple[Site, ...]:
        """The layers of a stack whose attention of that name has heads."""
        layers = self.get_submodule(f"{stack}.layers")
        assert isinstance(layers, nn.ModuleList)
        numbers = [i for i, one in enumerate(layers) if getattr(one, name).n_heads]
        return tuple(Site(kind, i, f"{stack}.layers.{i}.{name}.weights") for i in numbers)

    def reorder(self, state: Any, rows: Int[Tensor, "N"]) -> Any:
        """Take these rows of what decoding remembers, in this order."""
        return state.reorder(rows)
