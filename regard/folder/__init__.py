"""The model folder: plain files, written beside and renamed into place, opened without pickle."""

from regard.folder.averaging import average
from regard.folder.checkpoints import Checkpoint, Checkpoints
from regard.folder.folder import (
    FORMAT,
    LoadedModel,
    ModelFolder,
    begin,
    load_weights,
    read_folder,
    save,
    save_weights,
)
from regard.folder.lexicon import load_lexicon, save_lexicon
from regard.folder.moments import Moment, find_moment, keep_moment, moments_of
from regard.folder.training_state import load_state, save_state
from regard.folder.weights import put_into, read_weights, write_weights

__all__ = [
    "FORMAT",
    "Checkpoint",
    "Checkpoints",
    "LoadedModel",
    "ModelFolder",
    "Moment",
    "average",
    "begin",
    "find_moment",
    "keep_moment",
    "load_lexicon",
    "load_state",
    "load_weights",
    "moments_of",
    "put_into",
    "read_folder",
    "read_weights",
    "save",
    "save_lexicon",
    "save_state",
    "save_weights",
    "write_weights",
]
