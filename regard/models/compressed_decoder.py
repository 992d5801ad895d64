"""A decoder for long sequences: T-DMCA, the Transformer decoder with memory-compressed attention.

Liu et al. (2018), "Generating Wikipedia by Summarizing Long Sequences". There is no encoder: source
and target are one sequence, the <BOS> of the target between them. A stack of two kinds of layers
reads it: local ones see a window of neighbours, others all that came before, compressed
(:class:`~regard.attention.CompressedAttention`). What a layer keeps in training grows linearly with
the sequence.

The paper cuts a sequence into blocks that do not see each other; here the window of a local layer
slides, so that no place is at the edge of a block.
"""

from dataclasses import dataclass, replace

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from regard.attention import Cache, CompressedAttention, ScaledDot, Site, WindowAttention
from regard.engine import linear_cross_entropy
from regard.errors import SizeError, UsageError
from regard.models.copying import Copyable, CopyHead
from regard.models.encoder import Sizes
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.model import Predicted
from regard.models.sublayers import Embedding, build_positions
from regard.models.tying import tied_output
from regard.shapes import Bool, Float, Int, Tensor

# Longer sequences are computed a second time for the gradient rather than kept, layer by layer.
_KEPT_WHOLE = 4096
# Places that pass the wide part of a layer together when nothing is learned.
_TOGETHER = 16384


@dataclass(frozen=True)
class Recent:
    """What a local layer remembers: keys and values of the last places of each row."""

    last: Cache

    def reorder(self, rows: Int[Tensor, "N"]) -> "Recent":
        """Take these rows, in this order."""
        return Recent(self.last.reorder(rows))


@dataclass(frozen=True)
class Compressed:
    """What a compressed layer remembers: blocks read, blocks written, and the one that is begun.

    What was read can be long and never changes: rows share it, and only ``source`` is reordered.
    """

    read: Cache
    written: Cache
    begun: Cache  # as many places as a block has

    def reorder(self, rows: Int[Tensor, "N"]) -> "Compressed":
        """Take these rows, in this order."""
        return replace(self, written=self.written.reorder(rows), begun=self.begun.reorder(rows))


@dataclass(frozen=True)
class CompressedState:
    """What decoding remembers: of every layer its places, and how long each row has become."""

    layers: tuple[Recent | Compressed, ...]
    source: Int[Tensor, "R"]  # which of the sequences read a row goes on from
    n_read: Int[Tensor, "R"]
    lengths: Int[Tensor, "R"]
    given: Copyable | None = None  # what can be copied

    def reorder(self, rows: Int[Tensor, "N"]) -> "CompressedState":
        """Take these rows, in this order."""
        layers = tuple(one.reorder(rows) for one in self.layers)
        own = self.source[rows], self.n_read[rows], self.lengths[rows]
        return CompressedState(layers, *own, self.given)


class LongAttention(nn.Module):
    """Projections of multi-head self-attention around an ``inner`` one that sees part of all."""

    def __init__(self, d_model: int, n_heads: int, inner: WindowAttention | CompressedAttention):
        super().__init__()
        self.n_heads, self.inner = n_heads, inner
        self.project = nn.Linear(d_model, 3 * d_model)
        self.output = nn.Linear(d_model, d_model)
        for linear in (self.project, self.output):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """Let every place gather from what it may see of those before it."""
        return self.read(value)[0]

    def read(self, value: Float[Tensor, "B L D"]) -> tuple[Float[Tensor, "B L D"], Cache]:
        """What each place gathers; and all keys and values, to go on from."""
        query, key, value = self.split(value)
        return self.merge(self.inner(query, key, value)), Cache(key, value)

    def split(self, value: Float[Tensor, "B L D"]) -> list[Float[Tensor, "B H L E"]]:
        """Query, key and value of each head."""
        parts = self.project(value).chunk(3, dim=-1)
        return [part.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for part in parts]

    def merge(self, context: Float[Tensor, "B H L E"]) -> Float[Tensor, "B L D"]:
        """Heads side by side, as one vector a place."""
        merged: Tensor = self.output(context.transpose(1, 2).flatten(2))
        return merged


class LocalAttention(LongAttention):
    """Each place sees itself and the ``reach`` places before it."""

    inner: WindowAttention

    def __init__(self, sizes: Sizes, reach: int) -> None:
        d_head = sizes.d_model // sizes.n_heads
        score = ScaledDot(d_head, d_head, sizes.n_heads)
        window = WindowAttention(score, reach=reach, is_causal=True, n_heads=sizes.n_heads)
        super().__init__(sizes.d_model, sizes.n_heads, window)

    def remember(self, read: Cache, lengths: Int[Tensor, "B"]) -> Recent:
        """The last places of each row, which come before the padding."""
        return Recent(_places(read, lengths - self.inner.reach, self.inner.reach))

    def step(
        self, value: Float[Tensor, "R 1 D"], recent: Recent, state: CompressedState
    ) -> tuple[Float[Tensor, "R 1 D"], Recent]:
        """One new place a row."""
        query, key, value = self.split(value)
        seen = recent.last.append(Cache(key, value))
        places = torch.arange(seen.length, device=query.device)
        is_there = places >= self.inner.reach - state.lengths[:, None]
        context = self.inner.attend(query, seen.key, seen.value, is_there[:, None, None]).context
        return self.merge(context), Recent(Cache(seen.key[:, :, 1:], seen.value[:, :, 1:]))


class GlobalAttention(LongAttention):
    """Each place sees the blocks of ``stride`` places that end at it or before it."""

    inner: CompressedAttention

    def __init__(self, sizes: Sizes, stride: int) -> None:
        inner = CompressedAttention(sizes.d_model, sizes.n_heads, stride=stride)
        super().__init__(sizes.d_model, sizes.n_heads, inner)

    def remember(self, read: Cache, lengths: Int[Tensor, "B"]) -> Compressed:
        """The blocks of each row, and the places of the one it has begun."""
        stride = self.inner.stride
        begun = _places(read, lengths // stride * stride, stride)
        nothing = Cache(begun.key[:, :, :0], begun.value[:, :, :0])
        return Compressed(self.inner.compress(read.key, read.value), nothing, begun)

    def step(
        self, value: Float[Tensor, "R 1 D"], memory: Compressed, state: CompressedState
    ) -> tuple[Float[Tensor, "R 1 D"], Compressed]:
        """One new place a row."""
        stride = self.inner.stride
        query, key, value = self.split(value)
        place = (state.lengths % stride)[:, None, None, None]
        is_here = torch.arange(stride, device=query.device)[:, None] == place
        begun = Cache(
            torch.where(is_here, key, memory.begun.key),
            torch.where(is_here, value, memory.begun.value),
        )
        n_read = state.n_read // stride
        written = _put(
            memory.written,
            self.inner.compress(begun.key, begun.value),
            state.lengths // stride - n_read,
        )
        n_written = (state.lengths + 1) // stride - n_read
        parts = [_of_rows(memory.read, state.source), written]
        is_seen = torch.cat([_first(parts[0], n_read), _first(written, n_written)], dim=-1)
        context = self.inner.look_up(query, parts, is_seen[:, None])
        return self.merge(context), Compressed(memory.read, written, begun)


class LongLayer(nn.Module):
    """Self-attention of one of the two kinds, then feed-forward, each with add & norm."""

    def __init__(self, attention: LocalAttention | GlobalAttention, sizes: Sizes) -> None:
        super().__init__()
        self.attention, self.around_attention = attention, sizes.residual()
        self.feedforward, self.around_feedforward = sizes.feedforward(), sizes.residual()

    def forward(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """The layer over whole sequences."""
        return self.apart(self.around_attention(value, self.attention))

    def read(
        self, value: Float[Tensor, "B L D"], lengths: Int[Tensor, "B"]
    ) -> tuple[Float[Tensor, "B L D"], Recent | Compressed]:
        """The layer over whole sequences, and what it remembers of them."""
        kept: list[Recent | Compressed] = []

        def attend(x: Tensor) -> Tensor:
            context, read = self.attention.read(x)
            kept.append(self.attention.remember(read, lengths))
            return context

        return self.apart(self.around_attention(value, attend)), kept[0]

    def step(
        self, value: Float[Tensor, "R 1 D"], memory: Recent | Compressed, state: CompressedState
    ) -> tuple[Float[Tensor, "R 1 D"], Recent | Compressed]:
        """One new place a row."""
        kept: list[Recent | Compressed] = []

        def attend(x: Tensor) -> Tensor:
            context, grown = self.attention.step(x, memory, state)  # type: ignore[arg-type]
            kept.append(grown)
            return context

        return self.apart(self.around_attention(value, attend)), kept[0]

    def apart(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B L D"]:
        """The half that thinks about each place by itself: when reading, some places at a time."""
        if torch.is_grad_enabled() or value.shape[1] <= _TOGETHER:
            return self.around_feedforward(value, self.feedforward)  # type: ignore[no-any-return]
        firsts = range(0, value.shape[1], _TOGETHER)
        pieces = (value[:, first : first + _TOGETHER] for first in firsts)
        return torch.cat([self.around_feedforward(one, self.feedforward) for one in pieces], dim=1)


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
        self.packs_rows = False
        self.source_loss = source_loss
        positions = build_positions("sinusoidal", sizes.d_model, 0)
        self.embedding = Embedding(
            n_tokens, sizes.d_model, positions, sizes.embedding_dropout, padding
        )
        self.layers = nn.ModuleList(
            LongLayer(
                LocalAttention(sizes, block - 1) if one == "L" else GlobalAttention(sizes, stride),
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
        loss = linear_cross_entropy(read, self.output.weight, next_words[is_read], 0.0)
        return Predicted(found, self.source_loss * loss / max(1, len(read)), copies=copies)

    def forward(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T V"]:
        """The logits of each next word; ``target`` is shifted right (begins with <BOS>)."""
        found = self.predict(source, target, target.new_ones(target.shape).bool())
        logits: Tensor = self.logits(self.scored(found).view(*target.shape, -1))
        return logits

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
        value, memories = self.embedding(source), []
        for layer in self.stack:
            value, memory = layer.read(value, lengths)
            memories.append(memory)
        rows = torch.arange(len(source), device=source.device)
        given = None if self.copying is None else self.copying.keys(self.norm(value), source)
        return CompressedState(tuple(memories), rows, lengths, lengths, given)

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


def _places(cache: Cache, first: Int[Tensor, "B"], n: int) -> Cache:
    """``n`` places of each row from ``first`` on; what lies beyond the ends is any other place."""
    at = first[:, None] + torch.arange(n, device=first.device)
    at = at.clamp(0, cache.length - 1)[:, None, :, None]

    def taken(value: Float[Tensor, "B H K E"]) -> Float[Tensor, "B H N E"]:
        return value.gather(2, at.expand(-1, value.shape[1], -1, value.shape[3]))

    return Cache(taken(cache.key), taken(cache.value))


def _put(cache: Cache, new: Cache, place: Int[Tensor, "R"]) -> Cache:
    """A cache whose rows have one new place each, at places that are at most its length."""
    room = int(place.max()) + 1 - cache.length
    at = place[:, None, None, None]
    is_here = torch.arange(cache.length + room, device=place.device)[:, None] == at

    def put(value: Float[Tensor, "R H K E"], one: Float[Tensor, "R H 1 E"]) -> Tensor:
        return torch.where(is_here, one, F.pad(value, (0, 0, 0, room)))

    return Cache(put(cache.key, new.key), put(cache.value, new.value))


def _of_rows(read: Cache, source: Int[Tensor, "R"]) -> Cache:
    """What each row's sequence was; one that all rows share is not copied."""
    if len(read.key) == 1 or source.tolist() == list(range(len(read.key))):
        return read
    return read.reorder(source)


def _first(cache: Cache, n: Int[Tensor, "R"]) -> Bool[Tensor, "R K"]:
    return torch.arange(cache.length, device=n.device) < n[:, None]
