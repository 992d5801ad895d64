"""The tables of words and places of a model that reads one text, as BERT and GPT-2 keep them.

Theirs are added as they are. Where ours makes words larger by √d, the table is written so, and is
no longer the output's; sines become a table, and no places a table of zeros.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from regard.attention import Learned, Sinusoidal
from regard.config.alone import Alone
from regard.models.sublayers import Embedding
from regard.shapes import Float, Tensor


@dataclass(frozen=True)
class Tables:
    """Words and places, and whether the words' table is the output's too."""

    words: Float[Tensor, "V D"]
    places: Float[Tensor, "L D"]
    is_tied: bool

    @classmethod
    def of(cls, embedding: Embedding, order: Sequence[int], section: Alone) -> "Tables":
        """Those of an embedding, whose rows are written in that order."""
        words = embedding.weight.detach().float()[torch.tensor(order)] * embedding.scale
        positions = embedding.positions
        if isinstance(positions, Learned | Sinusoidal):
            places = positions.prepared(section.context)[: section.context].detach().float().clone()
        else:
            places = torch.zeros(section.context, section.d_model)
        return cls(words, places, section.tie == "two-way" and embedding.scale == 1.0)
