"""A trace: a text, what a model made of it, and every attention on the way."""

from regard.inspection.trace.sentence import (
    BEGINNING,
    MASK,
    Label,
    Sentence,
    Token,
    Word,
    in_one_line,
    printed,
)
from regard.inspection.trace.table import READINGS, Table, looks_of_steps, table
from regard.inspection.trace.trace import (
    KINDS,
    NAMES,
    Alternative,
    Does,
    Kind,
    Provenance,
    Step,
    Trace,
    TracedSite,
)

__all__ = [
    "BEGINNING",
    "KINDS",
    "MASK",
    "NAMES",
    "READINGS",
    "Alternative",
    "Does",
    "Kind",
    "Label",
    "Provenance",
    "Sentence",
    "Step",
    "Table",
    "Token",
    "Trace",
    "TracedSite",
    "Word",
    "in_one_line",
    "looks_of_steps",
    "printed",
    "table",
]
