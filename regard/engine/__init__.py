"""The numbers of the models, sooner: packed training, frozen decoding, native code.

``for_training`` and ``for_decoding`` give what computes in place of a model, decided once, when a
run or an open model begins; where the kernels do not serve (no native code, a GPU, other
precisions, other scores), that is the model itself. Models know nothing of this room. The kernels'
operations are functions of float32 tensors on a CPU. Noise is drawn from torch's generator, so
``torch.manual_seed`` decides all of it.
"""

from regard.engine.adam import Adam, adam_step, gradient_norm
from regard.engine.attention import Spans, attend_packed
from regard.engine.cross_entropy import linear_cross_entropy
from regard.engine.decoding import for_decoding
from regard.engine.dropout import Dropout, dropout
from regard.engine.embedding import embed
from regard.engine.energies import energies
from regard.engine.feedforward import bias_gelu_dropout, bias_relu_dropout
from regard.engine.layer import EndNorm, LayerOptions, encoder_layers
from regard.engine.linear import linear
from regard.engine.memory import give_back, keep_heap
from regard.engine.native import (
    instructions,
    is_native,
    supported_instructions,
    using_instructions,
    without_native,
)
from regard.engine.norm import add_norm
from regard.engine.panels import Precision, checked_precision
from regard.engine.shortlist import Shortlist
from regard.engine.training import for_training

__all__ = [
    "Adam",
    "Dropout",
    "EndNorm",
    "LayerOptions",
    "Precision",
    "Shortlist",
    "Spans",
    "adam_step",
    "add_norm",
    "attend_packed",
    "bias_gelu_dropout",
    "bias_relu_dropout",
    "checked_precision",
    "dropout",
    "embed",
    "encoder_layers",
    "energies",
    "for_decoding",
    "for_training",
    "give_back",
    "gradient_norm",
    "instructions",
    "is_native",
    "keep_heap",
    "linear",
    "linear_cross_entropy",
    "supported_instructions",
    "using_instructions",
    "without_native",
]
