"""How good are outputs? Measures of the field, by the field's own tool."""

from regard.evaluation.alignment_error import (
    AlignmentQuality,
    GoldAlignment,
    alignment_error,
    parse_gold,
)
from regard.evaluation.diversity import distinct, most_frequent
from regard.evaluation.labels import (
    LabelQuality,
    OfLabel,
    accuracy,
    accuracy_among,
    by_label,
    confusion,
    macro_f1,
    micro_f1,
)
from regard.evaluation.lengths import OfLength, measure_by_length
from regard.evaluation.measures import MEASURES, choose_tokenization, share_equal
from regard.evaluation.significance import Compared, Measured, compare, measure
from regard.evaluation.spans import Span, by_type, spans, tells_spans
from regard.evaluation.translation import Quality, judge

__all__ = [
    "MEASURES",
    "AlignmentQuality",
    "Compared",
    "GoldAlignment",
    "LabelQuality",
    "Measured",
    "OfLabel",
    "OfLength",
    "Quality",
    "Span",
    "accuracy",
    "accuracy_among",
    "alignment_error",
    "by_label",
    "by_type",
    "choose_tokenization",
    "compare",
    "confusion",
    "distinct",
    "judge",
    "macro_f1",
    "measure",
    "measure_by_length",
    "micro_f1",
    "most_frequent",
    "parse_gold",
    "share_equal",
    "spans",
    "tells_spans",
]
