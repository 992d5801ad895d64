"""Looking inside: record what passes a model's probes, measure it, change it, draw it."""

from regard.inspection.recording import Recording, probe_names, record

__all__ = ["Recording", "probe_names", "record"]
