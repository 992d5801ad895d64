"""The layers of a decoder for long sequences, and what each remembers of what it has read.

Liu et al. (2018), "Generating Wikipedia by Summarizing Long Sequences": local ones see a window of
neighbours, others all that came before, compressed. A sequence is read whole, or piece by piece, or
goes on word by word.
"""

from dataclasses import dataclass, replace

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

from regard.attention import Cache, CompressedAttention, ScaledDot, WindowAttention
from regard.models.copying import Copyable
from regard.models.transformer import Sizes
from regard.shapes import Bool, Float, Int, Tensor

# Places that pass the wide part of a layer together when nothing is learned.
_TOGETHER = 16384
_PARTS = ("read", "written", "begun")


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


Memory = Recent | Compressed


@dataclass(frozen=True)
class CompressedState:
    """What decoding remembers: of every layer its places, and how long each row has become."""

    layers: tuple[Memory, ...]
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

    def piece(
        self, value: Float[Tensor, "1 L D"], before: Recent | None
    ) -> tuple[Float[Tensor, "1 L D"], Recent]:
        """The next places of a sequence whose pieces are as long as the window at least."""
        query, key, value = self.split(value)
        seen, reach = Cache(key, value), 0
        if before is not None:
            seen, reach = before.last.append(seen), self.inner.reach
        context = self.inner(F.pad(query, (0, 0, reach, 0)), seen.key, seen.value)[:, :, reach:]
        n_seen = torch.full((1,), seen.length, device=key.device)
        return self.merge(context), self.remember(seen, n_seen)

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

    def __init__(self, sizes: Sizes, stride: int, *, averages: bool = False) -> None:
        inner = CompressedAttention(sizes.d_model, sizes.n_heads, stride=stride, averages=averages)
        super().__init__(sizes.d_model, sizes.n_heads, inner)

    def remember(self, read: Cache, lengths: Int[Tensor, "B"]) -> Compressed:
        """The blocks of each row, and the places of the one it has begun."""
        stride = self.inner.stride
        begun = _places(read, lengths // stride * stride, stride)
        nothing = Cache(begun.key[:, :, :0], begun.value[:, :, :0])
        return Compressed(self.inner.compress(read.key, read.value), nothing, begun)

    def piece(
        self, value: Float[Tensor, "1 L D"], before: Compressed | None
    ) -> tuple[Float[Tensor, "1 L D"], Compressed]:
        """The next places of a sequence; all pieces before have been of whole blocks."""
        query, key, value = self.split(value)
        kept = self.remember(Cache(key, value), torch.full((1,), key.shape[2], device=key.device))
        if before is None:
            return self.merge(self.inner(query, key, value)), kept
        blocks = before.read.append(kept.read)
        context = self.inner.after(query, blocks, before.read.length)
        return self.merge(context), replace(kept, read=blocks)

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
    ) -> tuple[Float[Tensor, "B L D"], Memory]:
        """The layer over whole sequences, and what it remembers of them."""
        kept: list[Memory] = []

        def attend(x: Tensor) -> Tensor:
            context, read = self.attention.read(x)
            kept.append(self.attention.remember(read, lengths))
            return context

        return self.apart(self.around_attention(value, attend)), kept[0]

    def piece(
        self, value: Float[Tensor, "1 L D"], before: Memory | None
    ) -> tuple[Float[Tensor, "1 L D"], Memory]:
        """The layer over the next places of a sequence, and what it remembers of all so far."""
        kept: list[Memory] = []

        def attend(x: Tensor) -> Tensor:
            context, grown = self.attention.piece(x, before)  # type: ignore[arg-type]
            kept.append(grown)
            return context

        return self.apart(self.around_attention(value, attend)), kept[0]

    def step(
        self, value: Float[Tensor, "R 1 D"], memory: Memory, state: CompressedState
    ) -> tuple[Float[Tensor, "R 1 D"], Memory]:
        """One new place a row."""
        kept: list[Memory] = []

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


def joined(states: list[CompressedState], padding: int) -> CompressedState:
    """States of sources read one by one, as those of a batch."""
    if len(states) == 1:
        return states[0]
    layers: list[Memory] = []
    for memories in zip(*(one.layers for one in states), strict=True):
        if isinstance(memories[0], Recent):
            layers.append(Recent(_stacked([one.last for one in memories])))
        else:
            parts = ([getattr(one, name) for one in memories] for name in _PARTS)
            layers.append(Compressed(*map(_stacked, parts)))
    lengths = torch.cat([one.lengths for one in states])
    rows = torch.arange(len(states), device=lengths.device)
    given = None
    if all(one.given is not None for one in states):
        copyable = [one.given for one in states if one.given is not None]
        keys = pad_sequence([one.key[0] for one in copyable], batch_first=True)
        sources = pad_sequence([one.source[0] for one in copyable], True, padding)
        given = Copyable(keys, sources, sources != padding)
    return CompressedState(tuple(layers), rows, lengths, lengths, given)


def _stacked(caches: list[Cache]) -> Cache:
    """Caches of one row each as one, the shorter filled up at their ends."""
    longest = max(one.length for one in caches)

    def stacked(name: str) -> Tensor:
        parts = (getattr(one, name) for one in caches)
        return torch.cat([F.pad(one, (0, 0, 0, longest - one.shape[2])) for one in parts])

    return Cache(stacked("key"), stacked("value"))


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
