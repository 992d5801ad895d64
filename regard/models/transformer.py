"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017), layer by layer."""

from dataclasses import dataclass, replace

import torch
from torch import nn

from regard.attention import Cache, MultiHeadAttention, Site, masks
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.sublayers import Embedding, FeedForward, Residual, build_positions
from regard.models.tying import tied_embeddings, tied_output
from regard.shapes import Bool, Float, Int, Tensor


@dataclass(frozen=True)
class Sizes:
    """The numbers that the layers of one Transformer share."""

    d_model: int
    n_heads: int
    d_feedforward: int
    is_pre_norm: bool = False
    activation: str = "relu"
    dropout: float = 0.1
    attention_dropout: float = 0.1
    feedforward_dropout: float = 0.1
    embedding_dropout: float = 0.1
    norm_epsilon: float = 1e-5  # added to the variance, so that nothing is divided by zero

    def attention(self) -> MultiHeadAttention:
        """Build a multi-head attention of these sizes."""
        return MultiHeadAttention(self.d_model, self.n_heads, dropout=self.attention_dropout)

    def feedforward(self) -> FeedForward:
        """Build a feed-forward network of these sizes."""
        return FeedForward(
            self.d_model, self.d_feedforward, self.activation, self.feedforward_dropout
        )

    def residual(self) -> Residual:
        """Build an add & norm of these sizes."""
        return Residual(
            self.d_model,
            self.dropout,
            is_pre_norm=self.is_pre_norm,
            norm_epsilon=self.norm_epsilon,
        )

    def norm(self) -> nn.LayerNorm:
        """Build a norm of these sizes."""
        return nn.LayerNorm(self.d_model, self.norm_epsilon)

    def final_norm(self) -> nn.Module:
        """Pre-norm leaves the last sum without a norm, so a stack ends with one."""
        return self.norm() if self.is_pre_norm else nn.Identity()


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with add & norm."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention, self.around_attention = sizes.attention(), sizes.residual()
        self.feedforward, self.around_feedforward = sizes.feedforward(), sizes.residual()

    def forward(
        self, value: Float[Tensor, "B S D"], mask: Bool[Tensor, "#B 1 #S S"]
    ) -> Float[Tensor, "B S D"]:
        """Let each word gather from all words it may see, then think by itself."""
        value = self.around_attention(value, lambda x: self.attention(x, x, x, mask))
        result: Tensor = self.around_feedforward(value, self.feedforward)
        return result

    def extend(
        self, value: Float[Tensor, "B L D"], past: Cache | None, mask: Bool[Tensor, "#B 1 #L K"]
    ) -> tuple[Float[Tensor, "B L D"], Cache]:
        """The layer over words that come after those of a cache, and the cache with them."""
        around = self.around_attention
        attended, seen = self.attention.extend(around.before(value), past, mask)
        value = around.after(value, attended)
        return self.around_feedforward(value, self.feedforward), seen


class Encoder(nn.Module):
    """A stack of encoder layers over embedded words."""

    def __init__(self, embedding: Embedding, n_layers: int, sizes: Sizes) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(EncoderLayer(sizes) for _ in range(n_layers))
        self.norm = sizes.final_norm()

    def forward(
        self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "#B 1 #S S"]
    ) -> Float[Tensor, "B S D"]:
        """Turn ids into vectors that know their context."""
        return self.through(self.embedding(source), mask)

    def through(
        self, value: Float[Tensor, "B S D"], mask: Bool[Tensor, "#B 1 #S S"]
    ) -> Float[Tensor, "B S D"]:
        """The layers alone, over words that are embedded."""
        for layer in self.layers:
            value = layer(value, mask)
        normed: Tensor = self.norm(value)
        return normed


class DecoderLayer(nn.Module):
    """Causal self-attention, attention to the source, then feed-forward, each with add & norm."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention, self.around_attention = sizes.attention(), sizes.residual()
        self.cross, self.around_cross = sizes.attention(), sizes.residual()
        self.feedforward, self.around_feedforward = sizes.feedforward(), sizes.residual()

    def forward(
        self,
        value: Float[Tensor, "B T D"],
        mask: Bool[Tensor, "1 1 T T"],
        memory: Float[Tensor, "B S D"],
        memory_mask: Bool[Tensor, "B 1 1 S"],
    ) -> Float[Tensor, "B T D"]:
        """Let each word gather from the words before it, then from the source, then think."""
        value = self.around_attention(value, lambda x: self.attention(x, x, x, mask))
        value = self.around_cross(value, lambda x: self.cross(x, memory, memory, memory_mask))
        result: Tensor = self.around_feedforward(value, self.feedforward)
        return result

    def step(
        self,
        value: Float[Tensor, "R 1 D"],
        past: Cache | None,
        memory: Cache,
        memory_mask: Bool[Tensor, "R 1 1 S"],
    ) -> tuple[Float[Tensor, "R 1 D"], Cache]:
        """One new word a row, and the cache with it."""
        around = self.around_attention
        attended, seen = self.attention.extend(around.before(value), past)
        value = around.after(value, attended)
        value = self.around_cross(value, lambda x: self.cross.look_up(x, memory, memory_mask))
        return self.around_feedforward(value, self.feedforward), seen


@dataclass(frozen=True)
class DecoderState:
    """What decoding remembers: written words and source, as keys and values of every layer."""

    written: tuple[Cache | None, ...]
    memory: tuple[Cache, ...]
    memory_mask: Bool[Tensor, "R 1 1 S"]
    n_written: int = 0

    def reorder(self, rows: Int[Tensor, "N"]) -> "DecoderState":
        """Take these rows, in this order."""
        return replace(
            self,
            written=tuple(one and one.reorder(rows) for one in self.written),
            memory=tuple(one.reorder(rows) for one in self.memory),
            memory_mask=self.memory_mask.index_select(0, rows),
        )


class Decoder(nn.Module):
    """A stack of decoder layers over the words written so far."""

    def __init__(self, embedding: Embedding, n_layers: int, sizes: Sizes) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(DecoderLayer(sizes) for _ in range(n_layers))
        self.norm = sizes.final_norm()

    def forward(
        self,
        target: Int[Tensor, "B T"],
        memory: Float[Tensor, "B S D"],
        memory_mask: Bool[Tensor, "B 1 1 S"],
    ) -> Float[Tensor, "B T D"]:
        """Turn each prefix of the target into the vector that predicts its next word."""
        value = self.embedding(target)
        mask = masks.causal(target.shape[1], device=target.device)
        for layer in self.layers:
            value = layer(value, mask, memory, memory_mask)
        normed: Tensor = self.norm(value)
        return normed

    def start(
        self, memory: Float[Tensor, "B S D"], memory_mask: Bool[Tensor, "B 1 1 S"]
    ) -> DecoderState:
        """Project the source's keys and values once for every layer."""
        crosses = [layer.cross for layer in self.layers if isinstance(layer, DecoderLayer)]
        remembered = tuple(cross.project(memory, memory) for cross in crosses)
        return DecoderState((None,) * len(crosses), remembered, memory_mask)

    def step(
        self, state: DecoderState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R D"], DecoderState]:
        """Take one more token a row, and give the vector that predicts the next."""
        value = self.embedding(tokens[:, None], state.n_written)
        written: list[Cache] = []
        for layer, past, memory in zip(self.layers, state.written, state.memory, strict=True):
            assert isinstance(layer, DecoderLayer)
            value, seen = layer.step(value, past, memory, state.memory_mask)
            written.append(seen)
        after = replace(state, written=tuple(written), n_written=state.n_written + 1)
        return self.norm(value)[:, 0], after


class Transformer(EncoderDecoder):
    """Encoder and decoder; the word most like the decoder's last vector comes next.

    ``tie`` says which tables are one: source embedding, target embedding and output
    ("three-way", as in the paper), the latter two ("two-way"), or "none". Models made elsewhere may
    leave embeddings as small as their table, or add a bias to the logits.
    """

    def __init__(
        self,
        n_source_tokens: int,
        n_target_tokens: int,
        sizes: Sizes,
        *,
        n_layers: int,
        n_decoder_layers: int | None = None,
        positions: str = "sinusoidal",
        max_length: int = 1024,
        tie: str = "three-way",
        scales_embeddings: bool = True,
        has_output_bias: bool = False,
        padding: int = 0,
    ) -> None:
        super().__init__(padding)

        def embed(n_tokens: int) -> Embedding:
            placed = build_positions(positions, sizes.d_model, max_length)
            dropout, scale = sizes.embedding_dropout, None if scales_embeddings else 1.0
            return Embedding(n_tokens, sizes.d_model, placed, dropout, padding, scale=scale)

        source, target = tied_embeddings(n_source_tokens, n_target_tokens, embed, tie=tie)
        self.encoder = Encoder(source, n_layers, sizes)
        self.decoder = Decoder(target, n_decoder_layers or n_layers, sizes)
        self.output = tied_output(target, sizes.d_model, tie=tie)
        if has_output_bias:
            self.output.bias = nn.Parameter(torch.zeros(n_target_tokens))

    def hidden(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted; ``target`` is shifted right."""
        mask = masks.keeping(source != self.padding)
        decoded: Tensor = self.decoder(target, self.encoder(source, mask), mask)
        return decoded

    def start(self, source: Int[Tensor, "B S"]) -> DecoderState:
        """Read the source."""
        mask = masks.keeping(source != self.padding)
        return self.decoder.start(self.encoder(source, mask), mask)

    def step(
        self, state: DecoderState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], DecoderState]:
        """Take one more token a row, and give the logits of the next."""
        hidden, after = self.decoder.step(state, tokens)
        return self.logits(self.output(hidden)), after

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every place where it attends, the encoder's first."""
        return (
            *self._attending("encoder", "encoder"),
            *self._attending("decoder", "decoder"),
            *self._attending("cross", "decoder", "cross"),
        )
