"""From a model to tokens: searches that know only ``models.interface.Step``."""

from regard.decoding.beam import beam_search
from regard.decoding.greedy import greedy
from regard.decoding.hypothesis import Hypothesis, Limits, length_penalty

__all__ = ["Hypothesis", "Limits", "beam_search", "greedy", "length_penalty"]
