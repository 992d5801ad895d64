"""What a reader of a foreign format gives back: all a model folder of ours is made of."""

from dataclasses import dataclass

from regard.config import Recipe, TextSection, TrainingSection
from regard.config.alone import Alone
from regard.folder.foreign.huggingface import HuggingFaceFolder
from regard.folder.weights import Weights
from regard.text import Elsewhere, Tokenizer

_MEASURES = {"classification": "accuracy", "tagging": "f1"}  # by task, where not as always


@dataclass(frozen=True)
class Imported:
    """A model in our terms."""

    recipe: Recipe
    weights: Weights
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    left_out: tuple[str, ...] = ()  # weights for tasks that are not ours, by their names there


def of_one_text(
    folder: HuggingFaceFolder,
    source: str,
    section: Alone,
    weights: Weights,
    tokenizer: Elsewhere,
    left_out: tuple[str, ...] = (),
) -> Imported:
    """A model that reads one text, with the tokenizer that came with it."""
    (task,) = section.systems
    measure = {"measure": _MEASURES[task]} if task in _MEASURES else {}
    text = {"kind": tokenizer.kind, "size": len(tokenizer), "is_lowercase": tokenizer.is_lowercase}
    recipe = Recipe(
        name=folder.path.resolve().name,
        purpose=f"read from a {source}",
        model=section,
        text=TextSection.model_validate(text),
        training=TrainingSection.model_validate({"task": task, "label_smoothing": 0.0} | measure),
    )
    return Imported(recipe, weights, tokenizer, tokenizer, left_out)
