"""Fast operations for training and decoding on ordinary processors.

Each is a function of tensors with two paths that compute the same: plain torch, always there, and a
C++ kernel that is compiled with the package, for float32 on a CPU. Noise is drawn from torch's
generator, so ``torch.manual_seed`` decides all of it.
"""

from regard.engine.adam import Adam, adam_step, gradient_norm
from regard.engine.attention import Spans, attend_packed
from regard.engine.beams import BeamQuestion, Ended
from regard.engine.candidates import log_sum_exp, top
from regard.engine.cross_entropy import linear_cross_entropy
from regard.engine.dropout import Dropout, dropout
from regard.engine.embedding import embed
from regard.engine.energies import energies
from regard.engine.feedforward import bias_gelu_dropout, bias_relu_dropout
from regard.engine.layer import EndNorm, LayerOptions, encoder_layers
from regard.engine.linear import laid_out, linear
from regard.engine.memory import keep_heap
from regard.engine.native import (
    instructions,
    is_native,
    supported_instructions,
    using_instructions,
    without_native,
)
from regard.engine.norm import add_norm
from regard.engine.recall import recall
from regard.engine.words import WordTable

__all__ = [
    "Adam",
    "BeamQuestion",
    "Dropout",
    "EndNorm",
    "Ended",
    "LayerOptions",
    "Spans",
    "WordTable",
    "adam_step",
    "add_norm",
    "attend_packed",
    "bias_gelu_dropout",
    "bias_relu_dropout",
    "dropout",
    "embed",
    "encoder_layers",
    "energies",
    "gradient_norm",
    "instructions",
    "is_native",
    "keep_heap",
    "laid_out",
    "linear",
    "linear_cross_entropy",
    "log_sum_exp",
    "recall",
    "supported_instructions",
    "top",
    "using_instructions",
    "without_native",
]
