"""From any model and a text to a trace: let it do what it does, then read it while watching."""

from regard.tracing.ablating import ablate
from regard.tracing.tracing import Opened, loaded_of, open_any, trace

__all__ = ["Opened", "ablate", "loaded_of", "open_any", "trace"]
