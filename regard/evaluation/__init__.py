"""How good are outputs? Measures of the field, by the field's own tool."""

from regard.evaluation.measures import MEASURES, choose_tokenization, share_equal
from regard.evaluation.significance import Compared, Measured, compare, measure
from regard.evaluation.translation import Quality, judge

__all__ = [
    "MEASURES",
    "Compared",
    "Measured",
    "Quality",
    "choose_tokenization",
    "compare",
    "judge",
    "measure",
    "share_equal",
]
