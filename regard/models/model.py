"""What training, keeping and looking inside need of a model, whatever it is made of."""

from typing import Any, NamedTuple

import torch
from torch import nn

from regard.attention import MultiHeadAttention, Probe, Site
from regard.kernels import laid_out
from regard.shapes import Float, Int, Tensor


class Predicted(NamedTuple):
    """What a model makes of a batch, for a task to judge: a vector a word, and what else counts.

    Some models draw lots on the way (hard attention): then the log-probability of what was drawn
    comes along, and what log p(word) was expected to be whatever would be drawn.
    """

    hidden: Float[Tensor, "N D"]  # of the words to predict, row by row
    cost: Float[Tensor, ""] | None = None  # of computing, in nats a word: added to the loss
    log_choice: Float[Tensor, "N"] | None = None
    baseline: Float[Tensor, "N"] | None = None


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

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every place where it attends, the encoder's first; none if it does not."""
        return ()

    @property
    def is_packable(self) -> bool:
        """Whether packed rows may be computed: on a CPU, by the paper's attention, unwatched."""
        return (
            self.packs_rows
            and self.output.weight.device.type == "cpu"
            and not torch.is_autocast_enabled("cpu")
            and not _has_hindrance(self)
        )

    def reorder(self, state: Any, rows: Int[Tensor, "N"]) -> Any:
        """Take these rows of what decoding remembers, in this order."""
        return state.reorder(rows)

    def freeze(self) -> None:
        """Promise that the weights will not change."""
        self.eval().requires_grad_(False)

    def lay_out(self) -> None:
        """Let frozen weights lie as products with few rows read them fastest."""
        # The table of embeddings is read row by row: the output gets a copy of its own.
        self.output.weight = nn.Parameter(laid_out(self.output.weight), requires_grad=False)
        for module in self.modules():
            if isinstance(module, MultiHeadAttention):
                module.freeze()
            if isinstance(module, nn.Linear) and module is not self.output:
                module.weight.data = laid_out(module.weight)


def _has_hindrance(model: nn.Module) -> bool:
    """Whether a part of it is watched, or attends otherwise than the paper's attention.

    Asked at every update: torch's own walk also names the modules, which takes ten times as long.
    """
    waiting: list[nn.Module | None] = [model]
    while waiting:
        module = waiting.pop()
        if module is None:
            continue
        if isinstance(module, Probe):
            if module.is_watched:
                return True
        elif isinstance(module, MultiHeadAttention) and not module.is_standard:
            return True
        elif module._modules:
            waiting.extend(module._modules.values())
    return False
