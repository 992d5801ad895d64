"""From a model and a text to a trace, whatever the model does."""

from pathlib import Path

import torch

from regard.decoding import Search
from regard.errors import UsageError
from regard.folder import LoadedModel, load
from regard.inspection.trace import Trace
from regard.models import Bert, Gpt, Labeller
from regard.systems.continuation import go_on, trace_continuation
from regard.systems.filling import Finder
from regard.systems.gaps import trace_filling
from regard.systems.one_model import one_model
from regard.systems.translation import Translator
from regard.systems.translation_trace import trace_translation
from regard.systems.watching import still
from regard.systems.writing import Writer
from regard.text.given import checked_text

Opened = Translator | Writer | Finder


@torch.inference_mode()
def trace(
    model: str | Path | LoadedModel | Opened,
    source: str,
    target: str | None = None,
    *,
    search: Search | None = None,
    n_new: int | None = None,
) -> Trace:
    """Look at every attention while the model translates, writes on or fills gaps.

    Args:
        model: a model folder, or one that was opened.
        source: one sentence; for a language model how a text begins, or a text with [MASK]s.
        target: what to read as its translation, as what comes after it, or as the text without
            gaps; without it the model's own is found.
        search: how a translation is found.
        n_new: how many tokens a language model writes on, the most probable ones; usually one.
    """
    check_texts(source, target)
    opened = open_any(model)
    if search is not None and not isinstance(opened, Translator):
        raise UsageError("a search is for translations, and this model does not translate")
    check_new(opened, target, n_new)
    with still(loaded_of(opened).model):
        match opened:
            case Writer():
                n_written = 1 if n_new is None else n_new
                return trace_continuation(opened, go_on(opened, source, target, n_written))
            case Finder():
                return trace_filling(opened, source, target)
        return trace_translation(opened, source, target, search)


def check_texts(source: str, target: str | None) -> None:
    """Refuse what is not a str before a model is opened for it."""
    checked_text(source, "source")
    if target is not None:
        checked_text(target, "target")


def check_new(opened: Opened, target: str | None, n_new: int | None) -> None:
    """Refuse a number of tokens to write where none are written."""
    if n_new is not None and (target is not None or not isinstance(opened, Writer)):
        raise UsageError(
            "new tokens are counted where a language model writes on by itself: leave the number "
            "out"
        )


def open_any(model: str | Path | LoadedModel | Opened) -> Opened:
    """The model as what it does."""
    if isinstance(model, Writer | Finder):
        return model
    if isinstance(model, Translator):
        return one_model(model)
    if isinstance(model, LoadedModel):
        loaded = model
    else:
        loaded = load(model)
        loaded.model.freeze()
    if isinstance(loaded.model, Gpt):
        return Writer(loaded, loaded.model)
    if isinstance(loaded.model, Bert):
        return Finder(loaded, loaded.model)
    if isinstance(loaded.model, Labeller):
        raise UsageError(
            f"{loaded.path} holds a model of kind {loaded.recipe.model.kind}, whose attention is "
            "not shown: look at a bert, such as the one it began from"
        )
    return one_model(loaded)


def loaded_of(opened: Opened) -> LoadedModel:
    """The model folder behind what was opened."""
    return opened.loaded[0] if isinstance(opened, Translator) else opened.loaded
