"""Models made elsewhere, and models for elsewhere: a folder is written whole or not at all."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import torch

from regard.config.labelling import ClassifierSection
from regard.config.network import LayeredHeads
from regard.errors import ModelFolderError, UsageError
from regard.files import whole_folder
from regard.folder import LoadedModel, put_into, save
from regard.folder.foreign import READERS, WRITERS, HuggingFaceFolder, Imported
from regard.folder.foreign.huggingface import CONFIG
from regard.systems.loading import load
from regard.systems.system import build


def import_model(
    path: str | Path,
    out: str | Path,
    tell: Callable[[str], object] = lambda sentence: None,
    *,
    is_of_pairs: bool = False,
) -> LoadedModel:
    """Read a Hugging Face folder into a new model folder of ours; says what is left out.

    No such folder says whether its labels are of pairs of texts: ``is_of_pairs`` does.
    """
    _require_new(Path(out))
    folder = HuggingFaceFolder.open(path)
    kind = folder.config.get("model_type")
    reader = READERS.get(str(kind))
    if reader is None:
        raise ModelFolderError(
            f"{folder.path} holds a model of type {kind!r}, which Regard cannot read: it reads "
            f"{_listed(READERS)}"
        )
    found = _of_pairs(reader(folder), folder.path) if is_of_pairs else reader(folder)
    tokenizers = found.source_tokenizer, found.target_tokenizer
    with torch.random.fork_rng(devices=[]):
        model = build(found.recipe.model, *map(len, tokenizers))
    put_into(model, found.weights, folder.path, CONFIG)
    if found.left_out:
        names = ", ".join(found.left_out)
        tell(f"{folder.path} has heads for tasks that are not ours, which are left out: {names}")
    with whole_folder(Path(out)) as filling:
        save(filling, model, found.recipe, *tokenizers)
    return load(out)


def _of_pairs(found: Imported, path: Path) -> Imported:
    """The same, with labels that are said of two texts together."""
    section = found.recipe.model
    if not isinstance(section, ClassifierSection):
        raise UsageError(
            f"{path} is read as a model of kind {section.kind}, and only a bert-classify tells "
            "labels of pairs of texts: leave --pairs out"
        )
    model = section.model_copy(update={"n_texts": 2})
    return replace(found, recipe=found.recipe.model_copy(update={"model": model}))


def export_model(model: str | Path | LoadedModel, to: str, out: str | Path) -> Path:
    """Write a model folder of ours as a new folder of another format."""
    if to not in WRITERS:
        raise UsageError(f"there is no format {to!r} to write: choose {_listed(WRITERS)}")
    _require_new(Path(out))
    loaded = model if isinstance(model, LoadedModel) else load(model)
    kind = loaded.recipe.model.kind
    writer = WRITERS[to].get(kind)
    if writer is None:
        raise UsageError(
            f"{loaded.path} holds a model of kind {kind}, which {to} has no place for: models of "
            f"kind {_listed(WRITERS[to])} can be written"
        )
    if getattr(loaded.recipe.model, "fixed_heads", ()):
        raise UsageError(
            f"{loaded.path} has fixed heads, which {to} has no place for: train without "
            "model.fixed_heads, or teach the same heads instead"
        )
    network = loaded.recipe.model
    if getattr(network, "copies", False):
        raise UsageError(
            f"{loaded.path} copies words of the source, which {to} has no place for: train with "
            "model.copies = false"
        )
    if isinstance(network, LayeredHeads) and network.heads_removed:
        raise UsageError(
            f"{loaded.path} was pruned, and {to} has as many heads in every layer: write the model "
            "that it was made of"
        )
    with whole_folder(Path(out)) as filling:
        writer(loaded, filling)
    return Path(out)


def _require_new(out: Path) -> None:
    if out.exists() and (out.is_file() or any(out.iterdir())):
        raise UsageError(f"{out} is there already: choose a folder that is new or empty")


def _listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
