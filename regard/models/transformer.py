"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017)."""

from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention import Cache, MultiHeadAttention, Probe, masks
from regard.errors import SizeError, UsageError
from regard.kernels import Spans
from regard.models.packing import Packed
from regard.models.sublayers import Embedding, FeedForward, Residual, Stream, build_positions
from regard.shapes import Bool, Float, Int, Tensor

TIES = ("three-way", "two-way", "none")


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
        return Residual(self.d_model, self.dropout, is_pre_norm=self.is_pre_norm)

    def final_norm(self) -> nn.Module:
        """Pre-norm leaves the last sum without a norm, so a stack ends with one."""
        return nn.LayerNorm(self.d_model) if self.is_pre_norm else nn.Identity()


class EncoderLayer(nn.Module):
    """Self-attention, then feed-forward, each with add & norm."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.attention, self.around_attention = sizes.attention(), sizes.residual()
        self.feedforward, self.around_feedforward = sizes.feedforward(), sizes.residual()

    def forward(
        self, value: Float[Tensor, "B S D"], mask: Bool[Tensor, "B 1 1 S"]
    ) -> Float[Tensor, "B S D"]:
        """Let each word gather from all words, then think by itself."""
        value = self.around_attention(value, lambda x: self.attention(x, x, x, mask))
        result: Tensor = self.around_feedforward(value, self.feedforward)
        return result

    def packed(self, stream: Stream, spans: Spans) -> Stream:
        """The same for packed rows."""
        stream = self.around_attention.packed(
            stream, lambda x: self.attention.packed(x, None, spans)
        )
        return self.around_feedforward.packed(stream, self.feedforward.packed)


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

    def packed(
        self, stream: Stream, spans: Spans, memory: Float[Tensor, "M D"], memory_spans: Spans
    ) -> Stream:
        """The same for packed rows."""
        stream = self.around_attention.packed(
            stream, lambda x: self.attention.packed(x, None, spans)
        )
        stream = self.around_cross.packed(
            stream, lambda x: self.cross.packed(x, memory, memory_spans)
        )
        return self.around_feedforward.packed(stream, self.feedforward.packed)

    def step(
        self,
        value: Float[Tensor, "R 1 D"],
        written: Cache | None,
        memory: Cache,
        memory_mask: Bool[Tensor, "R 1 1 S"],
    ) -> tuple[Float[Tensor, "R 1 D"], Cache]:
        """The same for one new word a row; what was written before comes from the cache."""
        grown: Cache | None = None

        def attend(x: Tensor) -> Tensor:
            nonlocal grown
            new = self.attention.project(x, x)
            grown = new if written is None else written.append(new)
            return self.attention.look_up(x, grown, first=grown.length - 1)

        value = self.around_attention(value, attend)
        value = self.around_cross(value, lambda x: self.cross.look_up(x, memory, memory_mask))
        value = self.around_feedforward(value, self.feedforward)
        assert grown is not None
        return value, grown


class Encoder(nn.Module):
    """A stack of encoder layers over embedded words."""

    def __init__(self, embedding: Embedding, n_layers: int, sizes: Sizes) -> None:
        super().__init__()
        self.embedding = embedding
        self.layers = nn.ModuleList(EncoderLayer(sizes) for _ in range(n_layers))
        self.norm = sizes.final_norm()

    def forward(
        self, source: Int[Tensor, "B S"], mask: Bool[Tensor, "B 1 1 S"]
    ) -> Float[Tensor, "B S D"]:
        """Turn ids into vectors that know their context."""
        value = self.embedding(source)
        for layer in self.layers:
            value = layer(value, mask)
        normed: Tensor = self.norm(value)
        return normed

    def packed(self, source: Packed) -> Float[Tensor, "M D"]:
        """The same for packed rows."""
        stream, spans = Stream(self.embedding.packed(source)), source.among_themselves
        for layer in self.layers:
            assert isinstance(layer, EncoderLayer)
            stream = layer.packed(stream, spans)
        return _finished(stream, self.norm)


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

    def packed(
        self, target: Packed, memory: Float[Tensor, "M D"], memory_spans: Spans
    ) -> Float[Tensor, "N D"]:
        """The same for packed rows."""
        stream = Stream(self.embedding.packed(target))
        for layer in self._layers():
            stream = layer.packed(stream, target.backwards, memory, memory_spans)
        return _finished(stream, self.norm)

    def start(
        self, memory: Float[Tensor, "B S D"], memory_mask: Bool[Tensor, "B 1 1 S"]
    ) -> "DecoderState":
        """Project the source's keys and values once for every layer."""
        projected = tuple(layer.cross.project(memory, memory) for layer in self._layers())
        return DecoderState((None,) * len(projected), projected, memory_mask, 0)

    def step(
        self, state: "DecoderState", tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R D"], "DecoderState"]:
        """Take one more token a row, and give the vector that predicts the next."""
        value = self.embedding(tokens[:, None], state.n_written)
        grown: list[Cache] = []
        for layer, written, memory in zip(self._layers(), state.written, state.memory, strict=True):
            value, cache = layer.step(value, written, memory, state.memory_mask)
            grown.append(cache)
        after = replace(state, written=tuple(grown), n_written=state.n_written + 1)
        return self.norm(value)[:, 0], after

    def _layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]


@dataclass(frozen=True)
class DecoderState:
    """What decoding remembers: written words and source, as keys and values of every layer."""

    written: tuple[Cache | None, ...]
    memory: tuple[Cache, ...]
    memory_mask: Bool[Tensor, "R 1 1 S"]
    n_written: int

    def reorder(self, rows: Int[Tensor, "N"]) -> "DecoderState":
        """Take these rows, in this order."""
        return DecoderState(
            tuple(cache and cache.reorder(rows) for cache in self.written),
            tuple(cache.reorder(rows) for cache in self.memory),
            self.memory_mask.index_select(0, rows),
            self.n_written,
        )


class Transformer(nn.Module):
    """Encoder and decoder; the word most like the decoder's last vector comes next.

    ``tie`` says which tables are one: source embedding, target embedding and output
    ("three-way", as in the paper), the latter two ("two-way"), or "none".
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
        padding: int = 0,
    ) -> None:
        super().__init__()
        _require_tie(tie, n_source_tokens, n_target_tokens)
        embed = partial(
            Embedding, d_model=sizes.d_model, dropout=sizes.embedding_dropout, padding=padding
        )
        place = partial(build_positions, positions, sizes.d_model, max_length)
        source = embed(n_source_tokens, positions=place())
        target = embed(n_target_tokens, positions=place())
        if tie == "three-way":
            target.weight = source.weight
        self.encoder = Encoder(source, n_layers, sizes)
        self.decoder = Decoder(target, n_decoder_layers or n_layers, sizes)
        self.output = nn.Linear(sizes.d_model, n_target_tokens, bias=False)
        if tie == "none":
            nn.init.normal_(self.output.weight, std=sizes.d_model**-0.5)
        else:
            self.output.weight = target.weight
        self.logits = Probe()
        self.padding = padding
        self.packs_rows = True

    def hidden(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted; ``target`` is shifted right."""
        mask = masks.keeping(source != self.padding)
        decoded: Tensor = self.decoder(target, self.encoder(source, mask), mask)
        return decoded

    def hidden_packed(self, source: Packed, target: Packed) -> Float[Tensor, "N D"]:
        """The same for packed rows: what training on a CPU computes."""
        memory = self.encoder.packed(source)
        return self.decoder.packed(target, memory, target.looking_at(source))

    def compile_hidden(self) -> None:
        """Let torch compile what training computes, for padded batches: made for GPUs."""
        self.packs_rows = False
        compiled = torch.compile(self.hidden, dynamic=True)
        self.hidden = compiled  # type: ignore[method-assign]

    @property
    def is_packable(self) -> bool:
        """Whether packed rows may be computed: on a CPU, by the paper's attention, unwatched."""
        modules = list(self.modules())
        return (
            self.packs_rows
            and self.output.weight.device.type == "cpu"
            and all(m.is_standard for m in modules if isinstance(m, MultiHeadAttention))
            and not any(m.is_watched for m in modules if isinstance(m, Probe))
        )

    def forward(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T V"]:
        """The logits of each next word; ``target`` is shifted right (begins with <BOS>)."""
        logits: Tensor = self.logits(self.output(self.hidden(source, target)))
        return logits

    def start(self, source: Int[Tensor, "B S"]) -> DecoderState:
        """Read the source."""
        mask = masks.keeping(source != self.padding)
        return self.decoder.start(self.encoder(source, mask), mask)

    def step(
        self, state: DecoderState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], DecoderState]:
        """Take one more token a row, and give the log-probabilities of the next."""
        hidden, after = self.decoder.step(state, tokens)
        return F.log_softmax(self.logits(self.output(hidden)), dim=-1), after

    def reorder(self, state: DecoderState, rows: Int[Tensor, "N"]) -> DecoderState:
        """Take these rows, in this order."""
        return state.reorder(rows)


def _finished(stream: Stream, norm: nn.Module) -> Float[Tensor, "N D"]:
    """What leaves a stack: with pre-norm the last change is added and the sum normalised."""
    return stream.normed(norm)[1] if isinstance(norm, nn.LayerNorm) else stream.value


def _require_tie(tie: str, n_source_tokens: int, n_target_tokens: int) -> None:
    if tie not in TIES:
        raise UsageError(f"there is no tie {tie!r}: choose one of {', '.join(TIES)}")
    if tie == "three-way" and n_source_tokens != n_target_tokens:
        raise SizeError(
            f"one table cannot serve {n_source_tokens} source tokens and {n_target_tokens} target "
            "tokens: share one vocabulary, or tie two-way"
        )
