"""The one operation everything here is made of: score, normalise, weighted sum."""

from typing import NamedTuple

from torch import nn

from regard.attention.normalisers import Choice, Mask, Normaliser, Soft
from regard.attention.probe import Probe
from regard.attention.scores import Score
from regard.shapes import Float, Tensor


class Attended(NamedTuple):
    """What each query brought back, and how."""

    context: Float[Tensor, "B *H Q Ev"]
    weights: Float[Tensor, "B *H Q K"]
    choice: Choice | None  # where places are sampled


class Attention(nn.Module):
    """``attention(q, K, V) = Σᵢ normalise(score(q, kᵢ)) vᵢ``, with any score and any normaliser.

    In Bahdanau's model the query is the decoder's state sₜ₋₁, keys and values are both the
    encoder's states hⱼ, and the score is the energy a(sₜ₋₁, hⱼ).
    """

    def __init__(
        self, score: Score, normaliser: Normaliser | None = None, dropout: float = 0.0
    ) -> None:
        super().__init__()
        self.score = score
        self.normaliser = normaliser or Soft()
        self.dropout = nn.Dropout(dropout)
        self.scores, self.weights, self.contexts = Probe(), Probe(), Probe()

    def attend(
        self,
        query: Float[Tensor, "B *H Q Eq"],
        key: Float[Tensor, "B *H K Ek"],
        value: Float[Tensor, "B *H K Ev"],
        mask: Mask = None,
        *,
        first: int = 0,
    ) -> Attended:
        """Let every query look up the values whose keys fit it: score, normalise, weighted sum."""
        scores = self.scores(self.score(query, key))
        weights, choice = self.normaliser(scores, mask, query=query, first=first)
        weights = self.weights(weights)
        context = self.contexts(self.dropout(weights) @ value)
        return Attended(context, weights, choice)

    # Calling the module attends; multi-head attention, called otherwise, attends by name.
    forward = attend
