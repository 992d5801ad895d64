"""A decoder for long sequences: T-DMCA, the Transformer decoder with memory-compressed attention.

Liu et al. (2018), "Generating Wikipedia by Summarizing Long Sequences". There is no encoder: source
and target are one sequence, the <BOS> of the target between them. A stack of two kinds of layers
reads it: local ones see a window of neighbours, others all that came before, compressed
(:class:`~regard.attention.CompressedAttention`). What a layer keeps in training grows linearly with
the sequence.

The paper cuts a sequence into blocks that do not see each other; here the window of a local layer
slides, so that no place is at the edge of a block.
"""

import math
from dataclasses import replace

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from regard.attention import Probe, Site
from regard.errors import SizeError, UsageError
from regard.models.copying import Copyable, CopyHead
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.long_layers import (
    CompressedState,
    GlobalAttention,
    LocalAttention,
    LongLayer,
    Memory,
    joined,
)
from regard.models.model import Predicted
from regard.models.sublayers import Embedding, build_positions
from regard.models.transformer import Sizes
from regard.models.tying import tied_output
from regard.shapes import Bool, Float, Int, Tensor

# Longer sequences are computed a second time for the gradient rather than kept, layer by layer.
_KEPT_WHOLE = 4096
# Longer ones are read by so many places at a time when nothing is learned: what that takes is the
# memory of what was read, and no vector of every place.
_PIECE = 2048
# Rows whose logits are computed at once.
_LOGITS = 1024


class CompressedDecoder(EncoderDecoder):
    """Reads a source, however long, and goes on with a target.

    ``layers`` names the stack from below: L is a local layer, M a memory-compressed one. While it
    learns, the words of the source are predicted too: their loss counts ``source_loss`` times.
    """

    def __init__(
        self,
        n_tokens: int,
        sizes: Sizes,
        *,
        layers: str = "LMLML",
        block: int = 256,
        stride: int = 3,
        averages: bool = False,
        source_loss: float = 0.0,
        copies: bool = False,
        padding: int = 0,
    ) -> None:
        super().__init__(padding)
        if not layers or set(layers) - {"L", "M"} or block < 1:
            raise UsageError(
                f"layers {layers!r} of blocks of {block} cannot be: write one letter a layer, L "
                "for local and M for memory-compressed, and give a block of 1 or more"
            )
        self.source_loss = source_loss
        positions = build_positions("sinusoidal", sizes.d_model, 0)
        self.embedding = Embedding(
            n_tokens, sizes.d_model, positions, sizes.embedding_dropout, padding
        )
        self.layers = nn.ModuleList(
            LongLayer(
                LocalAttention(sizes, block - 1)
                if one == "L"
                else GlobalAttention(sizes, stride, averages=averages),
                sizes,
            )
            for one in layers
        )
        self.norm = sizes.final_norm()
        self.output = tied_output(self.embedding, sizes.d_model, tie="two-way")
        d_head = sizes.d_model // sizes.n_heads
        self.copying = CopyHead(sizes.d_model, d_head, padding) if copies else None

    def hidden(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words of the target are predicted."""
        joined, at = self._joined(source, target)
        return _taken(self.through(self.embedding(joined)), at)

    def predict(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"], is_real: Bool[Tensor, "B T"]
    ) -> Predicted:
        """The vectors of the target's places, and what it cost to read the source."""
        joined, at = self._joined(source, target)
        hidden = self.through(self.embedding(joined))
        wanted = _taken(hidden, at)
        found, copies = wanted[is_real], None
        if self.copying is not None:
            given = self.copying.keys(hidden[:, : source.shape[1]], source)
            copies = self.copying(wanted, given, is_real)
        if not self.training or not self.source_loss:
            return Predicted(found, copies=copies)
        next_words = source[:, 1:]
        is_read = next_words != self.padding
        read = hidden[:, : source.shape[1] - 1][is_read]
        loss = self._reading_loss(read, next_words[is_read])
        return Predicted(found, self.source_loss * loss / max(1, len(read)), copies=copies)

    def forward(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T V"]:
        """The logits of each next word; ``target`` is shifted right (begins with <BOS>)."""
        found = self.predict(source, target, target.new_ones(target.shape).bool())
        logits: Tensor = self.logits(self.scored(found).view(*target.shape, -1))
        return logits

    def _reading_loss(
        self, read: Float[Tensor, "N D"], words: Int[Tensor, "N"]
    ) -> Float[Tensor, ""]:
        """``-Σ log p(word)``, some rows at a time: all logits of a long source are never kept."""

        def loss(rows: Tensor, labels: Tensor) -> Tensor:
            return F.cross_entropy(F.linear(rows, self.output.weight), labels, reduction="sum")

        pieces = zip(torch.split(read, _LOGITS), torch.split(words, _LOGITS), strict=True)
        losses = [checkpoint(loss, *piece, use_reentrant=False) for piece in pieces]
        return torch.stack(losses).sum() if losses else read.sum() * 0.0

    def through(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """The layers, over words that are embedded."""
        is_long = torch.is_grad_enabled() and value.shape[1] > _KEPT_WHOLE
        for layer in self.layers:
            value = checkpoint(layer, value, use_reentrant=False) if is_long else layer(value)
        normed: Tensor = self.norm(value)
        return normed

    def _joined(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> tuple[Int[Tensor, "B L"], Int[Tensor, "B T"]]:
        """Each source with its target right behind it, and where the target's places are."""
        lengths = self._lengths(source)
        at = lengths[:, None] + torch.arange(target.shape[1], device=target.device)
        return F.pad(source, (0, target.shape[1]), value=self.padding).scatter(1, at, target), at

    def _lengths(self, source: Int[Tensor, "B S"]) -> Int[Tensor, "B"]:
        lengths = (source != self.padding).sum(1)
        if not bool((lengths > 0).all()):
            raise SizeError("a source has no words: give at least one, or its end")
        return lengths

    def start(self, source: Int[Tensor, "B S"]) -> CompressedState:
        """Read sources, padded on the right."""
        lengths = self._lengths(source)
        if source.shape[1] > _PIECE and not torch.is_grad_enabled() and not self._is_watched:
            each = zip(source, lengths.tolist(), strict=True)
            return joined([self._by_pieces(row[None, :n]) for row, n in each], self.padding)
        value, memories = self.embedding(source), []
        for layer in self.stack:
            value, memory = layer.read(value, lengths)
            memories.append(memory)
        rows = torch.arange(len(source), device=source.device)
        given = None if self.copying is None else self.copying.keys(self.norm(value), source)
        return CompressedState(tuple(memories), rows, lengths, lengths, given)

    def _by_pieces(self, source: Int[Tensor, "1 S"]) -> CompressedState:
        """Read one long source: a piece passes all layers before the next one comes."""
        stack = self.stack
        strides = [a.inner.stride for a in self._kinds if isinstance(a, GlobalAttention)]
        reaches = [a.inner.reach for a in self._kinds if isinstance(a, LocalAttention)]
        width = max([_PIECE, *strides, *reaches])
        width -= width % math.lcm(*strides)
        memories: list[Memory | None] = [None] * len(stack)
        keys: list[Tensor] = []
        last: Float[Tensor, "1 1 D"] | None = None
        for first in range(0, source.shape[1], width):
            value = self.embedding(source[:, first : first + width], first)
            for i, layer in enumerate(stack):
                value, memories[i] = layer.piece(value, memories[i])
            if self.copying is not None:
                value = self.norm(value)
                keys.append(self.copying.project(value, last))
                last = value[:, -1:]
        given = None
        if self.copying is not None:
            given = Copyable(torch.cat(keys, dim=1), source, source != self.padding)
        n = source.new_full((1,), source.shape[1])
        read = tuple(one for one in memories if one is not None)
        return CompressedState(read, n.new_zeros(1), n, n, given)

    @property
    def _kinds(self) -> list[LocalAttention | GlobalAttention]:
        return [layer.attention for layer in self.stack]

    @property
    def _is_watched(self) -> bool:
        return any(isinstance(part, Probe) and part.is_watched for part in self.modules())

    def step(
        self, state: CompressedState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], CompressedState]:
        """Take one more token a row, and give the logits of the next."""
        value, memories = self.embedding.at(tokens, state.lengths), []
        for layer, memory in zip(self.stack, state.layers, strict=True):
            value, grown = layer.step(value, memory, state)
            memories.append(grown)
        hidden = self.norm(value)
        logits = self.output(hidden[:, 0])
        if self.copying is not None and state.given is not None:
            is_real = tokens.new_ones(len(tokens), 1).bool()
            logits = self.copying(hidden, state.given.of(state.source), is_real).joined(logits)
        logits = self.logits(logits)
        return logits, replace(state, layers=tuple(memories), lengths=state.lengths + 1)

    @property
    def sites(self) -> tuple[Site, ...]:
        """How each layer looks back, at the source and at what was written."""
        return tuple(
            Site("cross", i, f"layers.{i}.attention.inner.weights") for i in range(len(self.layers))
        )

    @property
    def aligning(self) -> Site | None:
        """None: its weights are of windows and blocks, and do not tell word from word."""
        return None

    @property
    def stack(self) -> list[LongLayer]:
        """Its layers, from below."""
        return [layer for layer in self.layers if isinstance(layer, LongLayer)]


def _taken(value: Float[Tensor, "B L D"], at: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
    """The vectors at these places of each row."""
    return value.gather(1, at[..., None].expand(-1, -1, value.shape[2]))
