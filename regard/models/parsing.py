"""A biaffine parser over BERT: which word governs which, and by what relation.

After Dozat and Manning (2017). With h the vector of a word's first piece, and h₀ that of the
text's beginning standing for the root::

    arc(d, g) = D(h_d)ᵀ U G(h_g) + uᵀ G(h_g)
    relation(d, g) = D'(h_d)ᵀ V G'(h_g) + W [D'(h_d); G'(h_g)] + b

D, G, D' and G' are layers of their own with a ReLU, for a word as a dependent and as a governor.
"""

from typing import NamedTuple, Unpack

import torch
from torch import nn

from regard.models.bert import Stack
from regard.models.labelling import Labeller
from regard.models.transformer import Sizes
from regard.shapes import Bool, Float, Int, Tensor


class ParserScores(NamedTuple):
    """What a parser makes of a batch; place 0 of every row is the root, words follow."""

    arcs: Float[Tensor, "B M M"]  # dependent, governor; -inf where there is no word
    is_word: Bool[Tensor, "B M"]
    dependents: Float[Tensor, "B M R"]
    governors: Float[Tensor, "B M R"]


class BiaffineParser(Labeller):
    """Scores of arcs between words, and of the relation of each arc."""

    def __init__(
        self,
        n_tokens: int,
        sizes: Sizes,
        *,
        n_labels: int,
        d_arc: int,
        d_label: int,
        arc_dropout: float,
        **stack: Unpack[Stack],
    ) -> None:
        super().__init__(n_tokens, sizes, n_labels=n_labels, **stack)
        width = sizes.d_model
        self.arc_dropout = nn.Dropout(arc_dropout)
        self.arc_dependent, self.arc_governor = nn.Linear(width, d_arc), nn.Linear(width, d_arc)
        self.label_dependent = nn.Linear(width, d_label)
        self.label_governor = nn.Linear(width, d_label)
        self.arc = nn.Parameter(torch.zeros(d_arc, d_arc))
        self.arc_bias = nn.Parameter(torch.zeros(d_arc))
        self.relation = nn.Parameter(torch.zeros(n_labels, d_label, d_label))
        self.output = nn.Linear(2 * d_label, n_labels)

    def forward(self, ids: Int[Tensor, "B L"]) -> Float[Tensor, "B M M"]:
        """The scores of arcs, every place being a word."""
        return self.score(ids, ids != self.padding).arcs

    def score(self, ids: Int[Tensor, "B L"], chosen: Bool[Tensor, "B L"]) -> ParserScores:
        """The scores of texts between BOS and EOS; ``chosen`` is where their words begin."""
        vectors, is_word = self._by_words(ids, chosen)
        dependent, governor = (
            self._layer(layer, vectors) for layer in (self.arc_dependent, self.arc_governor)
        )
        arcs = dependent @ self.arc @ governor.transpose(1, 2)
        arcs = arcs + (governor @ self.arc_bias)[:, None]
        itself = torch.eye(arcs.shape[1], dtype=torch.bool, device=arcs.device)
        arcs = arcs.masked_fill(~is_word[:, None] | itself, -torch.inf)
        return ParserScores(
            arcs,
            is_word,
            self._layer(self.label_dependent, vectors),
            self._layer(self.label_governor, vectors),
        )

    def relations(
        self, dependents: Float[Tensor, "N R"], governors: Float[Tensor, "N R"]
    ) -> Float[Tensor, "N C"]:
        """The logits of the relation of each pair."""
        n_labels, width, _ = self.relation.shape
        left = dependents @ self.relation.permute(1, 0, 2).reshape(width, -1)
        products = left.view(-1, n_labels, width) @ governors[..., None]
        logits: Tensor = self.logits(self.output(torch.cat([dependents, governors], dim=1)))
        return logits + products[..., 0]

    def _layer(self, layer: nn.Linear, vectors: Float[Tensor, "B M D"]) -> Float[Tensor, "B M P"]:
        result: Tensor = self.arc_dropout(layer(vectors).relu())
        return result

    def _by_words(
        self, ids: Int[Tensor, "B L"], chosen: Bool[Tensor, "B L"]
    ) -> tuple[Float[Tensor, "B M D"], Bool[Tensor, "B M"]]:
        """The vectors of the root and of each word, a row a text."""
        begins = chosen.clone()
        begins[:, 0] = True
        words = self.words(ids, self.segments(ids))[begins[ids != self.padding]]
        lengths = begins.sum(1)
        is_word = torch.arange(int(lengths.max()), device=ids.device) < lengths[:, None]
        padded = words.new_zeros(*is_word.shape, words.shape[1])
        return self.dropout(padded.masked_scatter(is_word[..., None], words)), is_word
