"""A trace: a sentence, its translation, and every attention on the way from one to the other."""

from regard.inspection.trace.sentence import Label, Sentence, Token, Word
from regard.inspection.trace.table import READINGS, Table, table
from regard.inspection.trace.trace import (
    KINDS,
    NAMES,
    Alternative,
    Kind,
    Provenance,
    Step,
    Trace,
    TracedSite,
)

__all__ = [
    "KINDS",
    "NAMES",
    "READINGS",
    "Alternative",
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
    "table",
]
