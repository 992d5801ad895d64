"""One file per system of the lectures; ``interface`` says what decoding needs of them."""

from regard.models.bert import Bert
from regard.models.captioner import Captioner
from regard.models.compressed_decoder import CompressedDecoder
from regard.models.copying_transformer import CopyingTransformer
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.glimpses import RecurrentAttention
from regard.models.gpt import Gpt
from regard.models.interface import BeamQuestion, Complete, Ended, SearchesItself, Step
from regard.models.labelling import Classifier, Labeller, Tagger
from regard.models.model import Model, Predicted
from regard.models.parsing import BiaffineParser
from regard.models.reinforce import MovingAverage, baseline_loss, reinforce
from regard.models.sagan import Sagan
from regard.models.transformer import Sizes, Transformer

__all__ = [
    "BeamQuestion",
    "Bert",
    "BiaffineParser",
    "Captioner",
    "Classifier",
    "Complete",
    "CompressedDecoder",
    "CopyingTransformer",
    "EncoderDecoder",
    "Ended",
    "Gpt",
    "Labeller",
    "Model",
    "MovingAverage",
    "Predicted",
    "RecurrentAttention",
    "Sagan",
    "SearchesItself",
    "Sizes",
    "Step",
    "Tagger",
    "Transformer",
    "baseline_loss",
    "reinforce",
]
