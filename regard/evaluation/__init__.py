"""How good are outputs? Measures of the field, by the field's own tool."""

from regard.evaluation.alignment_error import (
    AlignmentQuality,
    GoldAlignment,
    alignment_error,
    parse_gold,
)
from regard.evaluation.captions import CaptionQuality, judge_captions
from regard.evaluation.labels import (
    LabelQuality,
    OfLabel,
    Span,
    accuracy,
    accuracy_among,
    by_label,
    by_type,
    confusion,
    macro_f1,
    micro_f1,
    spans,
    tells_spans,
)
from regard.evaluation.measures import (
    MEASURES,
    OfLength,
    Quality,
    choose_tokenization,
    distinct,
    judge,
    measure_by_length,
    most_frequent,
    share_equal,
)
from regard.evaluation.significance import Compared, MeasuredScore, compare, measure

__all__ = [
    "MEASURES",
    "AlignmentQuality",
    "CaptionQuality",
    "Compared",
    "GoldAlignment",
    "LabelQuality",
    "MeasuredScore",
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
    "judge_captions",
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
