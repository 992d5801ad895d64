"""The encoder alone: BERT, "Pre-training of Deep Bidirectional Transformers" (Devlin et al. 2018).

Words are taken out of a text, and found again from what stands before and after them.
"""

from typing import Required, TypedDict, Unpack

from torch import nn

from regard.attention import Probe, Site, masks
from regard.errors import SizeError, UsageError
from regard.models.model import Model, Predicted
from regard.models.sublayers import ACTIVATIONS, Embedding, build_positions
from regard.models.transformer import Encoder, Sizes
from regard.models.tying import tied_output
from regard.shapes import Bool, Float, Int, Tensor

Types = Int[Tensor, "B L"] | None


class BertEmbedding(nn.Module):
    """``dropout(norm(word + position + type))``: types tell the segments of a text apart."""

    def __init__(self, words: Embedding, n_types: int, norm: nn.LayerNorm, dropout: float) -> None:
        super().__init__()
        width = words.weight.shape[1]
        self.words = words
        self.types = nn.Embedding(n_types, width) if n_types else None
        self.norm = norm
        self.dropout = nn.Dropout(dropout)
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


class Stack(TypedDict, total=False):
    """What every encoder of texts is told, besides its sizes."""

    n_layers: Required[int]
    context: Required[int]
    n_types: int
    positions: str
    padding: int


class BertEncoder(Model):
    """Every word's vector knows its whole text; what is read off the vectors, subclasses say.

    The id after the last of the vocabulary, ``mask``, stands where a word was taken out: texts
    never hold it. ``n_types`` segments can be told apart; 0 is none.
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
        padding: int = 0,
    ) -> None:
        super().__init__(padding)
        self.mask = n_tokens
        self.context = context
        placed = build_positions(positions, sizes.d_model, context)
        scale = None if positions == "sinusoidal" else 1.0
        words = Embedding(n_tokens + 1, sizes.d_model, placed, 0.0, padding, scale=scale)
        self.encoder = Encoder(words, n_layers, sizes)
        self.embedding = BertEmbedding(words, n_types, sizes.norm(), sizes.embedding_dropout)

    def hidden(self, ids: Int[Tensor, "B L"], types: Types = None) -> Float[Tensor, "B L D"]:
        """The vectors of the words, each of which has seen all others."""
        self.check(types)
        value = self.embedding(ids, types)
        return self.encoder.through(value, masks.keeping(ids != self.padding))

    def words(self, ids: Int[Tensor, "B L"], types: Types = None) -> Float[Tensor, "N D"]:
        """The vectors of all words that are no padding, end to end."""
        return self.hidden(ids, types)[ids != self.padding]

    @property
    def sites(self) -> tuple[Site, ...]:
        """Its layers' self-attention."""
        return self._attending("encoder", "encoder")

    def check(self, types: Types) -> None:
        """Refuse types where the model knows no segments."""
        if types is not None and self.embedding.types is None:
            raise SizeError(
                "this model knows no segments: leave the types out, or train with model.n_types = 2"
            )


class Bert(BertEncoder):
    """The vectors of words that were taken out tell which they were; ``mask`` is none of them.

    Without a head (``head = None``) logits say how like a vector is to each word's own, which no
    model of that kind was taught. ``has_pooler`` keeps the layer that BERT puts over the first
    token to speak for the whole text.
    """

    def __init__(
        self,
        n_tokens: int,
        sizes: Sizes,
        *,
        tie: str = "two-way",
        head: str | None = "gelu",
        has_pooler: bool = False,
        **stack: Unpack[Stack],
    ) -> None:
        super().__init__(n_tokens, sizes, **stack)
        width = sizes.d_model
        self.activation = None if head is None else ACTIVATIONS[head]
        if head is not None:
            self.transform, self.transform_norm = nn.Linear(width, width), sizes.norm()
        self.output = tied_output(self.encoder.embedding, width, tie=tie)
        if head is not None:
            self.output.bias = nn.Parameter(self.output.weight.new_zeros(n_tokens + 1))
        self.pooler = nn.Linear(width, width) if has_pooler else None

    def predict(
        self, ids: Int[Tensor, "B L"], chosen: Bool[Tensor, "B L"], types: Types = None
    ) -> Predicted:
        """The vectors from which the words at the chosen places are predicted."""
        return Predicted(self.head(self.words(ids, types)[chosen[ids != self.padding]]))

    def vectors(self, ids: Int[Tensor, "B L"], chosen: Bool[Tensor, "B L"]) -> Float[Tensor, "N D"]:
        """The vectors of the chosen places, from which their words are predicted."""
        return self.predict(ids, chosen).hidden

    def head(self, hidden: Float[Tensor, "*B D"]) -> Float[Tensor, "*B D"]:
        """``norm(gelu(W h + b))``: from what a word means to which word it is; or h as it is."""
        if self.activation is None:
            return hidden
        result: Tensor = self.transform_norm(self.activation(self.transform(hidden)))
        return result

    def pooled(self, ids: Int[Tensor, "B L"], types: Types = None) -> Float[Tensor, "B D"]:
        """``tanh(W h₀ + b)``: one vector a text, of its first token."""
        if self.pooler is None:
            raise UsageError("this model has no pooler: take the vectors of its words")
        result: Tensor = self.pooler(self.hidden(ids, types)[:, 0]).tanh()
        return result

    def forward(self, ids: Int[Tensor, "B L"], types: Types = None) -> Float[Tensor, "B L V"]:
        """The logits of the word at each place."""
        logits: Tensor = self.logits(self.output(self.head(self.hidden(ids, types))))
        return logits
