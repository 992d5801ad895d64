"""Attention explained in steps: each topic computes its numbers and gives an :class:`Explanation`.

Nothing here prints or draws. An explanation is a value: titled steps, each with its formula, a few
words and labelled tables of numbers that the library computed from the inputs alone.
"""

from regard.inspection.explanation.decoding import Written, explain_decoding
from regard.inspection.explanation.lecture import explain_lecture
from regard.inspection.explanation.masks import explain_masks
from regard.inspection.explanation.normalisation import explain_normalisation
from regard.inspection.explanation.positions import explain_positions
from regard.inspection.explanation.scores import explain_scores
from regard.inspection.explanation.sentence import explain_sentence
from regard.inspection.explanation.steps import Cell, Explanation, Look, Step, Table

__all__ = [
    "Cell",
    "Explanation",
    "Look",
    "Step",
    "Table",
    "Written",
    "explain_decoding",
    "explain_lecture",
    "explain_masks",
    "explain_normalisation",
    "explain_positions",
    "explain_scores",
    "explain_sentence",
]
