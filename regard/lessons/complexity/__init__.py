"""Table 1 of "Attention Is All You Need", measured: what a layer costs, and how far signals travel.

Read in this order: ``layers`` (the four kinds), ``kinds`` (what the table states of them),
``memory`` and ``measuring`` (one layer at one size), ``study`` (all of them at many sizes),
``fitting`` (from times to exponents), ``dependency`` (what waits for what, from gradients) and
``report`` (stated and found, side by side). ``long`` measures whole stacks over long sequences.
"""

from regard.lessons.complexity.dependency import Dependency, depend, longest_chain, path_length
from regard.lessons.complexity.kinds import Kind, kinds
from regard.lessons.complexity.layers import (
    Convolutional,
    DilatedConvolutional,
    Layer,
    Note,
    Recurrent,
    RestrictedSelfAttention,
    SelfAttention,
)
from regard.lessons.complexity.long import LongPlan, LongStack, long_kinds
from regard.lessons.complexity.measuring import LiveBytes, MemoryUse, Point, TimedRun
from regard.lessons.complexity.report import (
    Fit,
    Growth,
    Report,
    Row,
    Structure,
    find_structure,
    fit_power,
    make_report,
)
from regard.lessons.complexity.study import (
    MeasuredLayer,
    Skipped,
    Study,
    StudyPlan,
    StudyProgress,
    expected_seconds,
)

__all__ = [
    "Convolutional",
    "Dependency",
    "DilatedConvolutional",
    "Fit",
    "Growth",
    "Kind",
    "Layer",
    "LiveBytes",
    "LongPlan",
    "LongStack",
    "MeasuredLayer",
    "MemoryUse",
    "Note",
    "Point",
    "Recurrent",
    "Report",
    "RestrictedSelfAttention",
    "Row",
    "SelfAttention",
    "Skipped",
    "Structure",
    "Study",
    "StudyPlan",
    "StudyProgress",
    "TimedRun",
    "depend",
    "expected_seconds",
    "find_structure",
    "fit_power",
    "kinds",
    "long_kinds",
    "longest_chain",
    "make_report",
    "path_length",
]
