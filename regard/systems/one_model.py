"""A translator of one model, from whatever names it."""

from pathlib import Path

from regard.errors import UsageError
from regard.folder import LoadedModel
from regard.systems.translation import Translator


def one_model(model: str | Path | LoadedModel | Translator) -> Translator:
    """A translator of one model: looking inside several at once would show none of them."""
    if isinstance(model, LoadedModel):
        return Translator((model,))
    translator = model if isinstance(model, Translator) else Translator.open(model)
    if len(translator.loaded) > 1:
        raise UsageError(
            f"one model is looked into at a time, and {len(translator.loaded)} were given: "
            "choose one folder"
        )
    return translator
