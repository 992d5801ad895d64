"""The Transformer of "Attention Is All You Need" (Vaswani et al. 2017)."""

from collections.abc import Iterator
from dataclasses import replace

import torch
from torch import nn

from regard.attention import Site, masks
from regard.engine import BeamQuestion, Ended, linear
from regard.models.decoder import Decoder, DecoderLayer, DecoderState
from regard.models.encoder import Encoder, Sizes
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.frozen import FrozenReader, FrozenStack
from regard.models.model import Predicted
from regard.models.packing import Packed, pack, packed_places
from regard.models.sublayers import Embedding, build_positions
from regard.models.tying import tied_embeddings, tied_output
from regard.shapes import Bool, Float, Int, Tensor


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
        self._frozen: FrozenStack | None = None
        self._reader: FrozenReader | None = None

    def hidden(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted; ``target`` is shifted right."""
        mask = masks.keeping(source != self.padding)
        decoded: Tensor = self.decoder(target, self.encoder(source, mask), mask)
        return decoded

    def hidden_packed(self, source: Packed, target: Packed) -> Float[Tensor, "N D"]:
        """Vectors of packed rows: what training on a CPU computes."""
        memory = self.encoder.packed(source)
        return self.decoder.packed(target, memory, target.looking_at(source))

    def predict(
        self,
        source: Int[Tensor, "B S"],
        target: Int[Tensor, "B T"],
        is_real: Bool[Tensor, "B T"],
    ) -> Predicted:
        """The vectors of the places that are real; padding costs nothing where it can."""
        if not self.is_packable:
            return super().predict(source, target, is_real)
        read = pack(source, source != self.padding)
        return Predicted(self.hidden_packed(read, pack(target, is_real)))

    @property
    def sites(self) -> tuple[Site, ...]:
        """Every place where it attends, the encoder's first."""
        return (
            *self._attending("encoder", "encoder"),
            *self._attending("decoder", "decoder"),
            *self._attending("cross", "decoder", "cross"),
        )

    def compile_hidden(self) -> None:
        """Let torch compile what training computes, for padded batches: made for GPUs."""
        self.packs_rows = False
        compiled = torch.compile(self.hidden, dynamic=True)
        self.hidden = compiled  # type: ignore[method-assign]

    def start(self, source: Int[Tensor, "B S"]) -> DecoderState:
        """Read the source."""
        is_packable = self.is_packable
        if is_packable and self._reader is not None:
            read = self._reader.read(source, self.padding)
            if read is not None:
                return self.decoder.start_with(*read)
        is_real = source != self.padding
        if is_packable:
            memory = self.encoder.packed(pack(source, is_real))
        else:
            memory = self.encoder(source, masks.keeping(is_real))[is_real]
        return self.decoder.start(memory, packed_places(is_real))

    def step(
        self, state: DecoderState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], DecoderState]:
        """Take one more token a row, and give the logits of the next."""
        if self._frozen is not None and not state.is_watched:
            return self._step_frozen(self._frozen, state, tokens)
        hidden, after = self.decoder.step(state, tokens)
        return self.logits(linear(hidden, self.output.weight, self.output.bias)), after

    def _step_frozen(
        self, frozen: FrozenStack, state: DecoderState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], DecoderState]:
        column = Packed.column(tokens, state.places.shape[1])
        grown = state.with_new_places()
        logits, written = frozen.step(
            self.decoder.embedding.packed(column),
            state.written,
            grown.places,
            state.memory,
            state.memory_places,
        )
        return logits, replace(grown, written=written)

    def beams(self, source: Int[Tensor, "B S"], asked: BeamQuestion) -> Iterator[Ended] | None:
        """A beam search without coming back to Python at every step, where that is possible."""
        embedding = self.decoder.embedding
        is_served = asked.is_served and self.is_packable and embedding.reaches(asked.most)
        if self._frozen is None or not is_served:
            return None
        words = embedding.words_for(asked.most)
        return self._frozen.beams(words, self.start(source), asked) if words.can_run else None

    def freeze(self) -> None:
        """Promise that the weights will not change: they are laid out as decoding reads them best.

        Only ``start``, ``step`` and ``forward`` are for a frozen model.
        """
        self.eval().requires_grad_(False)
        self.lay_out()
        layers = [layer for layer in self.decoder.layers if isinstance(layer, DecoderLayer)]
        self._frozen = FrozenStack.of(layers, self.decoder.norm, self.output)
        self._reader = FrozenReader.of(self.encoder, layers)
