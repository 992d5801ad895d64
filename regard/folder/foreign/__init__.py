"""Models that came from elsewhere, and the way there: formats of other libraries, never pickle."""

from regard.folder.foreign.exchange import FORMATS, export_model, import_model
from regard.folder.foreign.imported import Imported
from regard.folder.foreign.kept_beside import COMPUTE, kept_beside

__all__ = ["COMPUTE", "FORMATS", "Imported", "export_model", "import_model", "kept_beside"]
