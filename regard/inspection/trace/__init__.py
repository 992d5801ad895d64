"""A trace: a text, what a model made of it, and every attention on the way."""

from regard.inspection.trace.picture import TracedPicture
from regard.inspection.trace.table import READINGS, AttentionMatrix, Table, looks_of_steps, table
from regard.inspection.trace.trace import Alternative, Provenance, Trace, TracedSite, TracedStep
from regard.inspection.trace.ways import (
    ATTENTIONS,
    KINDS,
    WAYS,
    AttentionKind,
    Does,
    Kind,
    Side,
    TracedWay,
)
from regard.text.tokens import BEGINNING, MASK, Label, Sentence, Token, Word

__all__ = [
    "ATTENTIONS",
    "BEGINNING",
    "KINDS",
    "MASK",
    "READINGS",
    "WAYS",
    "Alternative",
    "AttentionKind",
    "AttentionMatrix",
    "Does",
    "Kind",
    "Label",
    "Provenance",
    "Sentence",
    "Side",
    "Table",
    "Token",
    "Trace",
    "TracedPicture",
    "TracedSite",
    "TracedStep",
    "TracedWay",
    "Word",
    "looks_of_steps",
    "table",
]
