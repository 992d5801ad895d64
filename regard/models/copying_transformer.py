"""A Transformer that can copy: the next word may be one of the source that it never learned."""

from dataclasses import dataclass, replace
from typing import Any

from regard.attention import masks
from regard.models.copying import Copyable, CopyHead
from regard.models.model import Predicted
from regard.models.transformer import DecoderState, Sizes, Transformer
from regard.shapes import Bool, Float, Int, Tensor


@dataclass(frozen=True)
class CopyingState:
    """What decoding remembers: what a Transformer does, and what can be copied."""

    written: DecoderState
    given: Copyable
    rows: Int[Tensor, "R"]  # which of the sources a row copies from

    def reorder(self, rows: Int[Tensor, "N"]) -> "CopyingState":
        """Take these rows, in this order."""
        return CopyingState(self.written.reorder(rows), self.given, self.rows[rows])


class CopyingTransformer(Transformer):
    """Encoder and decoder of one vocabulary; words of the source compete with all others."""

    def __init__(self, n_source_tokens: int, n_target_tokens: int, sizes: Sizes, **options: Any):
        super().__init__(n_source_tokens, n_target_tokens, sizes, **options)
        self.copying = CopyHead(sizes.d_model, sizes.d_model // sizes.n_heads, self.padding)

    def predict(
        self,
        source: Int[Tensor, "B S"],
        target: Int[Tensor, "B T"],
        is_real: Bool[Tensor, "B T"],
    ) -> Predicted:
        """The vectors of the places that are real, and what they would copy."""
        mask = masks.keeping(source != self.padding)
        memory = self.encoder(source, mask)
        hidden = self.decoder(target, memory, mask)
        given = self.copying.keys(memory, source)
        return Predicted(hidden[is_real], copies=self.copying(hidden, given, is_real))

    def forward(
        self, source: Int[Tensor, "B S"], target: Int[Tensor, "B T"]
    ) -> Float[Tensor, "B T V"]:
        """The logits of each next word; ``target`` is shifted right (begins with <BOS>)."""
        mask = masks.keeping(source != self.padding)
        memory = self.encoder(source, mask)
        hidden = self.decoder(target, memory, mask)
        everywhere = target.new_ones(target.shape).bool()
        copies = self.copying(hidden, self.copying.keys(memory, source), everywhere)
        joined = copies.joined(self.output(hidden).flatten(0, 1))
        logits: Tensor = self.logits(joined.view(*target.shape, -1))
        return logits

    def start(self, source: Int[Tensor, "B S"]) -> CopyingState:  # type: ignore[override]
        """Read the source."""
        mask = masks.keeping(source != self.padding)
        memory = self.encoder(source, mask)
        given = self.copying.keys(memory, source)
        written = self.decoder.start(memory, mask)
        rows = source.new_ones(len(source)).cumsum(0) - 1
        return CopyingState(written, given, rows)

    def step(  # type: ignore[override]
        self, state: CopyingState, tokens: Int[Tensor, "R"]
    ) -> tuple[Float[Tensor, "R V"], CopyingState]:
        """Take one more token a row, and give the logits of the next."""
        hidden, written = self.decoder.step(state.written, tokens)
        is_real = tokens.new_ones(len(tokens), 1).bool()
        copies = self.copying(hidden[:, None], state.given.of(state.rows), is_real)
        logits = self.logits(copies.joined(self.output(hidden)))
        return logits, replace(state, written=written)
