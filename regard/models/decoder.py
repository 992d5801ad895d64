"""The decoder of "Attention Is All You Need", whole sentences at once or word by word."""

from dataclasses import dataclass, replace
from functools import cached_property

from torch import nn

from regard.attention import Keeping, Probe, Store, longer_places, masks, taken_rows
from regard.engine import Spans
from regard.models.encoder import Sizes
from regard.models.packing import Packed
from regard.models.sublayers import Embedding, Stream
from regard.shapes import Bool, Float, Int, Tensor


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
        """The layer over packed rows."""
        stream = self.around_attention.packed(
            stream, lambda x: self.attention.packed(x, None, spans)
        )
        stream = self.around_cross.packed(
            stream, lambda x: self.cross.packed(x, memory, memory_spans)
        )
        return self.around_feedforward.packed(stream, self.feedforward.packed)

    def step(
        self, stream: Stream, written: Store, memory: Store, state: "DecoderState"
    ) -> tuple[Stream, Store]:
        """One new word a row; what was written before comes from the store."""
        grown = Keeping(lambda x: self.attention.extend(x, written, state.places))
        stream = self.around_attention.packed(stream, grown)
        stream = self.around_cross.packed(
            stream, lambda x: self.cross.recall(x, memory, state.memory_places)
        )
        return self.around_feedforward.packed(stream, self.feedforward.packed), grown.store

    def step_watched(
        self,
        value: Float[Tensor, "R 1 D"],
        written: Store,
        memory: Store,
        state: "DecoderState",
    ) -> tuple[Float[Tensor, "R 1 D"], Store]:
        """One new word a row, past every probe."""
        grown = Keeping(lambda x: self.attention.extend(x[:, 0], written, state.places))
        value = self.around_attention(value, lambda x: grown(x)[:, None])
        value = self.around_cross(
            value, lambda x: self.cross.recall(x[:, 0], memory, state.memory_places)[:, None]
        )
        return self.around_feedforward(value, self.feedforward), grown.store


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
        """The decoder over packed rows."""
        stream = Stream(self.embedding.packed(target))
        for layer in self._layers():
            stream = layer.packed(stream, target.backwards, memory, memory_spans)
        return stream.finished(self.norm)

    def start(
        self, memory: Float[Tensor, "M D"], memory_places: Int[Tensor, "B S"]
    ) -> "DecoderState":
        """Project the source's keys and values once for every layer."""
        remembered = tuple(layer.cross.remember(memory) for layer in self._layers())
        return self.start_with(remembered, memory_places)

    def start_with(
        self, memory: tuple[Store, ...], memory_places: Int[Tensor, "B S"]
    ) -> "DecoderState":
        """The state where each layer's keys and values are there already."""
        like = memory[0].memory
        widths = (2 * layer.attention.width for layer in self._layers())
        return DecoderState(
            written=tuple(Store.of(like.new_empty(0, width)) for width in widths),
            places=memory_places.new_empty(len(memory_places), 0),
            memory=memory,
            memory_places=memory_places,
            probes=self._probes,
        )

    @cached_property
    def _probes(self) -> tuple[Probe, ...]:
        return tuple(module for module in self.modules() if isinstance(module, Probe))

    def step(
        self, state: "DecoderState", tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R D"], "DecoderState"]:
        """Take one more token a row, and give the vector that predicts the next."""
        n_written, state = state.places.shape[1], state.with_new_places()
        per_layer = zip(self._layers(), state.written, state.memory, strict=True)
        grown: list[Store] = []
        if state.is_watched:
            value = self.embedding(tokens[:, None], n_written)
            for layer, written, memory in per_layer:
                value, store = layer.step_watched(value, written, memory, state)
                grown.append(store)
            return self.norm(value)[:, 0], replace(state, written=tuple(grown))
        stream = Stream(self.embedding.packed(Packed.column(tokens, n_written)))
        for layer, written, memory in per_layer:
            stream, store = layer.step(stream, written, memory, state)
            grown.append(store)
        return stream.finished(self.norm), replace(state, written=tuple(grown))

    def _layers(self) -> list[DecoderLayer]:
        return [layer for layer in self.layers if isinstance(layer, DecoderLayer)]


@dataclass(frozen=True)
class DecoderState:
    """What decoding remembers: written words and source, as keys and values of every layer.

    Rows of the stores are shared: ``places`` and ``memory_places`` say which belong to whom.
    """

    written: tuple[Store, ...]
    places: Int[Tensor, "R T"]
    memory: tuple[Store, ...]
    memory_places: Int[Tensor, "R S"]  # -1 where a source is shorter than the longest
    probes: tuple[Probe, ...]

    @property
    def is_watched(self) -> bool:
        """Whether anyone listens, so that no fused path must hide a tensor."""
        return any(probe.is_watched for probe in self.probes)

    def with_new_places(self) -> "DecoderState":
        """State with room for one more word a row, at the end of the stores."""
        return replace(self, places=longer_places(self.places, self.written[0].length))

    def reorder(self, rows: Int[Tensor, "N"]) -> "DecoderState":
        """Take these rows, in this order."""
        return replace(
            self,
            places=taken_rows(self.places, rows),
            memory_places=taken_rows(self.memory_places, rows),
        )
