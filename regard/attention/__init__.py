"""Attention: score, normalise, weighted sum. The heart of the house; tensors only.

Read in this order: ``scores`` (how well does a key answer a query?), ``normalisers`` (how much does
that count?), ``attend`` (the whole operation, three lines), ``multihead`` (several at once),
``masks`` and ``positions`` (who may look where, who stands where), ``window`` (neighbours alone, at
linear cost), ``compressed`` (all that came before, some places at a time), ``residual`` (add and
norm), ``cache`` (what decoding keeps) and ``probe`` (where one can
look in).
"""

from regard.attention import masks
from regard.attention.attend import Attended, Attention
from regard.attention.cache import Cache
from regard.attention.compressed import CompressedAttention
from regard.attention.multihead import MultiHeadAttention
from regard.attention.normalisers import (
    NORMALISERS,
    Choice,
    Hard,
    LocalMonotonic,
    LocalPredictive,
    Normaliser,
    Patterned,
    Soft,
    Weights,
    masked_softmax,
)
from regard.attention.positions import Learned, Sinusoidal, Unplaced, shift_matrix, sinusoids
from regard.attention.probe import Probe
from regard.attention.residual import batch_normalise, layer_normalise, residual
from regard.attention.scores import (
    SCORES,
    Additive,
    Concatenating,
    Content,
    Dot,
    General,
    Location,
    Perceptron,
    ScaledDot,
    Score,
    build_score,
)
from regard.attention.site import Site, SiteKind
from regard.attention.window import WindowAttention

__all__ = [
    "NORMALISERS",
    "SCORES",
    "Additive",
    "Attended",
    "Attention",
    "Cache",
    "Choice",
    "CompressedAttention",
    "Concatenating",
    "Content",
    "Dot",
    "General",
    "Hard",
    "Learned",
    "LocalMonotonic",
    "LocalPredictive",
    "Location",
    "MultiHeadAttention",
    "Normaliser",
    "Patterned",
    "Perceptron",
    "Probe",
    "ScaledDot",
    "Score",
    "Sinusoidal",
    "Site",
    "SiteKind",
    "Soft",
    "Unplaced",
    "Weights",
    "WindowAttention",
    "batch_normalise",
    "build_score",
    "layer_normalise",
    "masked_softmax",
    "masks",
    "residual",
    "shift_matrix",
    "sinusoids",
]
