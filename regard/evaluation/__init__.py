"""How good are outputs? Measures of the field, by the field's own tool."""

from regard.evaluation.lengths import OfLength, measure_by_length
from regard.evaluation.measures import MEASURES, choose_tokenization, share_equal
from regard.evaluation.significance import Compared, Measured, compare, measure
from regard.evaluation.translation import Quality, judge

__all__ = [
    "MEASURES",
    "Compared",
    "Measured",
    "OfLength",
    "Quality",
    "choose_tokenization",
    "compare",
    "judge",
    "measure",
    "measure_by_length",
    "share_equal",
]
