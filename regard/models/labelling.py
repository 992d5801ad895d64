"""BERT fine-tuned: a label for a text, or a tag for each word (Devlin et al. 2018, section 4).

Both are the encoder of :class:`~regard.models.bert.Bert` under a layer of their own, so that a
pre-trained encoder fits in by name.
"""

from typing import Unpack

import torch
from torch import nn

from regard.errors import UsageError
from regard.models.bert import BertEncoder, Stack, Types
from regard.models.transformer import Sizes
from regard.shapes import Bool, Float, Int, Tensor
from regard.special import EOS

POOLINGS = ("first", "mean")
_DEVIATION = 0.02  # of first weights, as BERT's


class Labeller(BertEncoder):
    """An encoder whose vectors tell one of ``n_labels`` by ``output``."""

    def __init__(
        self, n_tokens: int, sizes: Sizes, *, n_labels: int, **stack: Unpack[Stack]
    ) -> None:
        super().__init__(n_tokens, sizes, **stack)
        self.dropout = nn.Dropout(sizes.dropout)
        self.output = _linear(sizes.d_model, n_labels)

    def label(self, ids: Int[Tensor, "B L"], chosen: Bool[Tensor, "B K"]) -> Float[Tensor, "N C"]:
        """The logits of all labels of a batch, row by row; ``chosen`` is where there is one."""
        raise NotImplementedError

    def segments(self, ids: Int[Tensor, "B L"]) -> Types:
        """What is of the second text: all after the first EOS; ``None`` if the model knows none."""
        if self.embedding.types is None:
            return None
        is_end = ids == EOS
        ended = is_end.long().cumsum(1) - is_end.long()
        return ended.clamp(max=len(self.embedding.types.weight) - 1)


class Classifier(Labeller):
    """The label of a text, or of a pair of texts: ``softmax(W dropout(tanh(P h)) + b)``.

    h is the vector of the text's beginning (``pooling`` first, as BERT's), or the mean of all.
    """

    def __init__(
        self,
        n_tokens: int,
        sizes: Sizes,
        *,
        n_labels: int,
        pooling: str = "first",
        **stack: Unpack[Stack],
    ) -> None:
        if pooling not in POOLINGS:
            raise UsageError(f"there is no pooling {pooling!r}: choose first or mean")
        super().__init__(n_tokens, sizes, n_labels=n_labels, **stack)
        self.pooling = pooling
        self.pooler = _linear(sizes.d_model, sizes.d_model)

    def pooled(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B D"]:
        """One vector a text."""
        words = self.words(ids, self.segments(ids))
        lengths = (ids != self.padding).sum(1)
        if self.pooling == "first":
            return words[lengths.cumsum(0) - lengths]
        rows = torch.arange(len(ids), device=ids.device).repeat_interleave(lengths)
        sums = words.new_zeros(len(ids), words.shape[1]).index_add(0, rows, words)
        return sums / lengths[:, None]

    def label(self, ids: Int[Tensor, "B L"], chosen: Bool[Tensor, "B K"]) -> Float[Tensor, "N C"]:
        """The logits of the label of each text, wherever it is said to stand."""
        logits: Tensor = self(ids)
        return logits

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B C"]:
        """The logits of the labels of each text, which stands between BOS and EOS."""
        pooled = self.dropout(torch.tanh(self.pooler(self.pooled(ids))))
        logits: Tensor = self.logits(self.output(pooled))
        return logits


class Tagger(Labeller):
    """The tag of a word, told by the vector of its first piece: ``softmax(W dropout(h) + b)``."""

    def label(self, ids: Int[Tensor, "B L"], chosen: Bool[Tensor, "B L"]) -> Float[Tensor, "N C"]:
        """The logits of the tags at the chosen places, row by row."""
        words = self.words(ids, self.segments(ids))
        logits: Tensor = self.logits(self.output(self.dropout(words[chosen[ids != self.padding]])))
        return logits

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B L C"]:
        """The logits of the tags at every place."""
        hidden = self.hidden(ids, self.segments(ids))
        logits: Tensor = self.logits(self.output(self.dropout(hidden)))
        return logits


def _linear(d_in: int, d_out: int) -> nn.Linear:
    layer = nn.Linear(d_in, d_out)
    nn.init.normal_(layer.weight, std=_DEVIATION)
    nn.init.zeros_(layer.bias)
    return layer
