"""How good are outputs? Measures of the field, by the field's own tool."""

from regard.evaluation.alignment_error import (
    AlignmentQuality,
    GoldAlignment,
    alignment_error,
    parse_gold,
)
from regard.evaluation.lengths import OfLength, measure_by_length
from regard.evaluation.measures import MEASURES, choose_tokenization, share_equal
from regard.evaluation.significance import Compared, Measured, compare, measure
from regard.evaluation.translation import Quality, judge

__all__ = [
    "MEASURES",
    "AlignmentQuality",
    "Compared",
    "GoldAlignment",
    "Measured",
    "OfLength",
    "Quality",
    "alignment_error",
    "choose_tokenization",
    "compare",
    "judge",
    "measure",
    "measure_by_length",
    "parse_gold",
    "share_equal",
]
