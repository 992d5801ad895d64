"""Looking inside: record what passes a model's probes, measure it, change it, draw it."""

from regard.inspection.ablation import CHANGES, Change, ablated
from regard.inspection.heads import Head, all_heads, find_heads
from regard.inspection.importance import Importance, head_importance
from regard.inspection.recording import Recording, probe_names, record
from regard.inspection.rollout import Rollout, rollout
from regard.inspection.value_norms import value_norms, value_probe

__all__ = [
    "CHANGES",
    "Change",
    "Head",
    "Importance",
    "Recording",
    "Rollout",
    "ablated",
    "all_heads",
    "find_heads",
    "head_importance",
    "probe_names",
    "record",
    "rollout",
    "value_norms",
    "value_probe",
]
