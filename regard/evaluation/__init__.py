"""How good are outputs? Measures of the field, by the field's own tool."""

from regard.evaluation.translation import Quality, judge

__all__ = ["Quality", "judge"]
