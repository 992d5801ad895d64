"""From a model to tokens: searches that know only ``models.interface.Step``."""

from regard.decoding.beam import beam_search, greedy
from regard.decoding.choices import PENALTIES, WIDEST, Limits, Sampling, Search
from regard.decoding.constrained import constrained_search
from regard.decoding.ensemble import Ensemble
from regard.decoding.hypothesis import Hypothesis, Phrase, SourceLine
from regard.decoding.many import search_as_found, search_many
from regard.decoding.sampling import sample
from regard.decoding.streaming import Opening, Slid, Written, stream, stream_together
from regard.decoding.trees import best_tree

__all__ = [
    "PENALTIES",
    "WIDEST",
    "Ensemble",
    "Hypothesis",
    "Limits",
    "Opening",
    "Phrase",
    "Sampling",
    "Search",
    "Slid",
    "SourceLine",
    "Written",
    "beam_search",
    "best_tree",
    "constrained_search",
    "greedy",
    "sample",
    "search_as_found",
    "search_many",
    "stream",
    "stream_together",
]
