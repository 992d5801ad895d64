"""The encoder alone: BERT, "Pre-training of Deep Bidirectional Transformers" (Devlin et al. 2018).

Words are taken out of a text, and found again from what stands before and after them.
"""

from torch import nn
from torch.nn import functional as F

from regard import kernels
from regard.attention import Probe, Site, masks
from regard.errors import SizeError
from regard.models.encoder import Encoder, Sizes
from regard.models.model import Model, Predicted
from regard.models.packing import Packed, pack
from regard.models.sublayers import Embedding, build_positions
from regard.models.tying import tied_output
from regard.shapes import Bool, Float, Int, Tensor

Types = Int[Tensor, "B L"] | None


class BertEmbedding(nn.Module):
    """``dropout(norm(word + position + type))``: types tell the segments of a text apart."""

    def __init__(self, words: Embedding, n_types: int, dropout: float) -> None:
        super().__init__()
        width = words.weight.shape[1]
        self.words = words
        self.types = nn.Embedding(n_types, width) if n_types else None
        self.norm = nn.LayerNorm(width)
        self.dropout = kernels.Dropout(dropout)
        self.result = Probe()
        if self.types is not None:
            nn.init.normal_(self.types.weight, std=width**-0.5)

    def forward(self, ids: Int[Tensor, "B L"], types: Types = None) -> Float[Tensor, "B L D"]:
        """Embed ids; where no types are given, all are of the first."""
        value = self.words(ids)
        if self.types is not None:
            value = value + self.types(ids.new_zeros(ids.shape) if types is None else types)
        result: Tensor = self.dropout(self.result(self.norm(value)))
        return result

    def packed(self, rows: Packed, types: Int[Tensor, "N"] | None) -> Float[Tensor, "N D"]:
        """The same for packed rows."""
        value, change = self.words.packed(rows), None
        if self.types is not None:
            change = self.types(rows.ids.new_zeros(rows.ids.shape) if types is None else types)
        norm = self.norm
        _, normed = kernels.add_norm(value, change, norm.weight, norm.bias, epsilon=norm.eps)
        return kernels.dropout(normed, self.dropout.active_p)


class Bert(Model):
    """Every word's vector knows its whole text; those of words taken out tell which they were.

    The id after the last of the vocabulary, ``mask``, stands where a word was taken out: texts
    never hold it, and it is never predicted. ``n_types`` segments can be told apart; 0 is none.
    """

    def __init__(
        self,
        n_tokens: int,
        sizes: Sizes,
        *,
        n_layers: int,
        context: int,
        n_types: int = 0,
        positions: str = "learned",
        tie: str = "two-way",
        padding: int = 0,
    ) -> None:
        super().__init__(padding)
        self.mask = n_tokens
        self.context = context
        placed = build_positions(positions, sizes.d_model, context)
        scale = None if positions == "sinusoidal" else 1.0
        words = Embedding(n_tokens + 1, sizes.d_model, placed, 0.0, padding, scale=scale)
        self.encoder = Encoder(words, n_layers, sizes)
        self.embedding = BertEmbedding(words, n_types, sizes.embedding_dropout)
        self.transform = nn.Linear(sizes.d_model, sizes.d_model)
        self.transform_norm = nn.LayerNorm(sizes.d_model)
        self.output = tied_output(words, sizes.d_model, tie=tie)
        self.output.bias = nn.Parameter(self.output.weight.new_zeros(n_tokens + 1))

    def hidden(self, ids: Int[Tensor, "B L"], types: Types = None) -> Float[Tensor, "B L D"]:
        """The vectors of the words, each of which has seen all others."""
        self._check(types)
        value = self.embedding(ids, types)
        return self.encoder.through(value, masks.keeping(ids != self.padding))

    def words(self, ids: Int[Tensor, "B L"], types: Types = None) -> Float[Tensor, "N D"]:
        """The vectors of all words that are no padding, end to end."""
        self._check(types)
        is_real = ids != self.padding
        if not self.is_packable:
            return self.hidden(ids, types)[is_real]
        rows = pack(ids, is_real)
        value = self.embedding.packed(rows, None if types is None else types[is_real])
        return self.encoder.through_packed(value, rows.among_themselves)

    def predict(
        self, ids: Int[Tensor, "B L"], chosen: Bool[Tensor, "B L"], types: Types = None
    ) -> Predicted:
        """The vectors from which the words at the chosen places are predicted."""
        return Predicted(self.head(self.words(ids, types)[chosen[ids != self.padding]]))

    def head(self, hidden: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        """``norm(gelu(W h + b))``: from what a word means to which word it is."""
        result: Tensor = self.transform_norm(F.gelu(self.transform(hidden)))
        return result

    def forward(self, ids: Int[Tensor, "B L"], types: Types = None) -> Float[Tensor, "B L V"]:
        """The logits of the word at each place."""
        logits: Tensor = self.logits(self.output(self.head(self.hidden(ids, types))))
        return logits

    @property
    def sites(self) -> tuple[Site, ...]:
        """Its layers' self-attention."""
        layers = range(len(self.encoder.layers))
        return tuple(Site("encoder", i, f"encoder.layers.{i}.attention.weights") for i in layers)

    def _check(self, types: Types) -> None:
        if types is not None and self.embedding.types is None:
            raise SizeError(
                "this model knows no segments: leave the types out, or train with model.n_types = 2"
            )
