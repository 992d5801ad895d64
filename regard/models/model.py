"""What training, keeping and looking inside need of a model, whatever it is made of."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import torch
from torch import nn

from regard.attention import MultiHeadAttention, Probe, Site, SiteKind
from regard.engine import laid_out
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
        self.packs_rows = True
        self._n_copied = 0  # numbers that freezing wrote a second time

    @property
    def n_parameters(self) -> int:
        """Numbers that were learned; those that two parts share count once, also when frozen."""
        return sum(one.numel() for one in self.parameters()) - self._n_copied

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

    @property
    def is_packable(self) -> bool:
        """Whether packed rows may be computed: on a CPU, by the paper's attention, unwatched."""
        return (
            self.packs_rows
            and self.output.weight.device.type == "cpu"
            and not torch.is_autocast_enabled("cpu")
            and all(attention.is_standard for attention in self._attentions)
            and not any(probe.opens_all for probe in self._probes)
        )

    @cached_property
    def _attentions(self) -> tuple[MultiHeadAttention, ...]:
        """Asked at every update, and a model is put together once."""
        return tuple(part for part in self.modules() if isinstance(part, MultiHeadAttention))

    @cached_property
    def _probes(self) -> tuple[Probe, ...]:
        return tuple(part for part in self.modules() if isinstance(part, Probe))

    def reorder(self, state: Any, rows: Int[Tensor, "N"]) -> Any:
        """Take these rows of what decoding remembers, in this order."""
        return state.reorder(rows)

    def freeze(self) -> None:
        """Promise that the weights will not change."""
        self.eval().requires_grad_(False)

    def lay_out(self) -> None:
        """Let frozen weights lie as products with few rows read them fastest."""
        # The table of embeddings is read row by row: the output gets a copy of its own.
        n_before = self.n_parameters
        self.output.weight = nn.Parameter(laid_out(self.output.weight), requires_grad=False)
        self._n_copied += self.n_parameters - n_before
        for module in self.modules():
            if isinstance(module, MultiHeadAttention):
                module.freeze()
            if isinstance(module, nn.Linear) and module is not self.output:
                module.weight.data = laid_out(module.weight)
