"""Attention to a source that was read, as recurrent decoders use it: one query after the other.

What a score does to the keys alone is the same at every step, so it is done once, when the source
is remembered: ``vᵀ tanh(W s + U h)`` computes ``U h`` once, and ``sᵀ W h`` computes ``W h`` once.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from regard.attention import (
    Additive,
    Attention,
    General,
    Normaliser,
    Perceptron,
    Score,
    build_score,
    masks,
)
from regard.shapes import Bool, Float, Int, Tensor


class PreparedScore(Score):
    """A score in two parts: one for the keys alone, and one that takes what the first gave."""

    def prepare(self, key: Float[Tensor, "B 1 K Ek"]) -> Float[Tensor, "B 1 K M"]:
        """What no query changes."""
        raise NotImplementedError


class PreparedPerceptron(Perceptron, PreparedScore):
    """``vᵀ tanh(W q + k')`` with ``k' = U k``."""

    def prepare(self, key: Float[Tensor, "B 1 K Ek"]) -> Float[Tensor, "B 1 K M"]:
        """``U k``."""
        return key @ self.weight_key.mT

    def forward(
        self, query: Float[Tensor, "B 1 Q Eq"], key: Float[Tensor, "B 1 K M"]
    ) -> Float[Tensor, "B 1 Q K"]:
        """Score every prepared key for every query."""
        return _energies(query @ self.weight_query.mT, key, self.v)


class PreparedAdditive(Additive, PreparedScore):
    """``vᵀ tanh(W₁ q + k')`` with ``k' = W₂ k``, where ``W = [W₁ W₂]``."""

    def prepare(self, key: Float[Tensor, "B 1 K Ek"]) -> Float[Tensor, "B 1 K M"]:
        """``W₂ k``."""
        return key @ self.weight[..., self.d_query :].mT

    def forward(
        self, query: Float[Tensor, "B 1 Q Eq"], key: Float[Tensor, "B 1 K M"]
    ) -> Float[Tensor, "B 1 Q K"]:
        """Score every prepared key for every query."""
        return _energies(query @ self.weight[..., : self.d_query].mT, key, self.v)


class PreparedGeneral(General, PreparedScore):
    """``qᵀ k'`` with ``k' = W k``."""

    def prepare(self, key: Float[Tensor, "B 1 K Ek"]) -> Float[Tensor, "B 1 K M"]:
        """``W k``."""
        return key @ self.weight.mT

    def forward(
        self, query: Float[Tensor, "B 1 Q Eq"], key: Float[Tensor, "B 1 K M"]
    ) -> Float[Tensor, "B 1 Q K"]:
        """Score every prepared key for every query."""
        return query @ key.mT


# The other scores have nothing to do to the keys alone that would cost anything.
PREPARED: dict[str, type[PreparedScore]] = {
    "additive": PreparedAdditive,
    "general": PreparedGeneral,
    "perceptron": PreparedPerceptron,
}


@dataclass(frozen=True)
class Memory:
    """The source as its decoder looks at it, row by row."""

    keys: Float[Tensor, "R 1 S M"]  # prepared
    values: Float[Tensor, "R 1 S Ev"]
    mask: Bool[Tensor, "R 1 1 S"]
    sentence: Int[Tensor, "R"]  # which source a row reads: rows of one sentence read the same

    def reorder(self, rows: Int[Tensor, "N"]) -> "Memory":
        """Take these rows, in this order."""
        sentence = self.sentence.index_select(0, rows)
        # A beam takes most rows from the same sentence as before: then nothing needs to move.
        if torch.equal(sentence, self.sentence):
            return self
        return Memory(
            self.keys.index_select(0, rows),
            self.values.index_select(0, rows),
            self.mask.index_select(0, rows),
            sentence,
        )


class Found(NamedTuple):
    """What queries brought back from the source; for hard attention, how probable the choice."""

    context: Float[Tensor, "R Q Ev"]
    log_probability: Float[Tensor, "R Q"] | None


class SourceAttention(Attention):
    """Attention whose keys and values are both the encoder's states, with any of the eight scores.

    Its probes are those of every attention: ``weights`` is ``B 1 Q K``, once for every time the
    decoder looks, so that joined along the queries they are the whole matrix.
    """

    def __init__(
        self,
        score: str,
        d_query: int,
        d_key: int,
        normaliser: Normaliser | None = None,
        *,
        d_energy: int | None = None,
        max_length: int = 512,
    ) -> None:
        options: dict[str, Any] = {}
        if score in ("additive", "perceptron"):
            options["d_hidden"] = d_energy
        if score == "location":
            options["max_length"] = max_length
        prepared = PREPARED.get(score)
        super().__init__(
            build_score(score, d_query, d_key, **options)
            if prepared is None
            else prepared(d_query, d_key, **options),
            normaliser,
        )

    def remember(self, outputs: Float[Tensor, "B S Ev"], is_real: Bool[Tensor, "B S"]) -> Memory:
        """Prepare what was read for many looks at it."""
        values = outputs[:, None]
        keys = self.score.prepare(values) if isinstance(self.score, PreparedScore) else values
        sentence = torch.arange(len(outputs), device=outputs.device)
        return Memory(keys, values, masks.keeping(is_real), sentence)

    def look(self, query: Float[Tensor, "R Q Eq"], memory: Memory, first: int = 0) -> Found:
        """Look at the source, with queries that stand at places ``first``, ``first + 1``, …"""
        context, _, log_probability = self.attend(
            query[:, None], memory.keys, memory.values, memory.mask, first=first
        )
        return Found(context[:, 0], None if log_probability is None else log_probability[:, 0])


def _energies(
    query: Float[Tensor, "B 1 Q M"], key: Float[Tensor, "B 1 K M"], v: Float[Tensor, "1 M"]
) -> Float[Tensor, "B 1 Q K"]:
    """``vᵀ tanh(q + k)`` for every pair."""
    return torch.tanh(query.unsqueeze(-2) + key.unsqueeze(-3)) @ v[0]
