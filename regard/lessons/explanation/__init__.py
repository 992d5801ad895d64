"""Attention explained in steps: each topic computes its numbers and gives an :class:`Explanation`.

Nothing here prints or writes. An explanation is a value: titled steps, each with its formula, a few
words and labelled tables of numbers that the library computed from the inputs alone.
:func:`explained` lays it out as one picture. The module ``reading`` lets a model read a sentence
of the user's; it alone needs models, and is imported only where they are.
"""

from regard.lessons.explanation.decoding import DecodedStep, explain_decoding
from regard.lessons.explanation.lecture import (
    explain_lecture,
    worked_attention,
    worked_embeddings,
    worked_numbers,
)
from regard.lessons.explanation.masks import explain_masks
from regard.lessons.explanation.normalisation import LECTURE_TABLE, explain_normalisation
from regard.lessons.explanation.picture import explained
from regard.lessons.explanation.positions import explain_positions
from regard.lessons.explanation.scores import explain_scores
from regard.lessons.explanation.sentence import explain_sentence
from regard.lessons.explanation.steps import Cell, ExplainedStep, Explanation, Look, NumberTable

__all__ = [
    "LECTURE_TABLE",
    "Cell",
    "DecodedStep",
    "ExplainedStep",
    "Explanation",
    "Look",
    "NumberTable",
    "explain_decoding",
    "explain_lecture",
    "explain_masks",
    "explain_normalisation",
    "explain_positions",
    "explain_scores",
    "explain_sentence",
    "explained",
    "worked_attention",
    "worked_embeddings",
    "worked_numbers",
]
