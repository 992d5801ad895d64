"""What a reader of a foreign format gives back: all a model folder of ours is made of."""

from dataclasses import dataclass

from regard.config import Recipe, TextSection
from regard.folder.weights import Weights
from regard.text import Elsewhere, Tokenizer


@dataclass(frozen=True)
class Imported:
    """A model in our terms."""

    recipe: Recipe
    weights: Weights
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    left_out: tuple[str, ...] = ()  # weights for tasks that are not ours, by their names there


def text_section(tokenizer: Elsewhere) -> TextSection:
    """What a recipe says of a tokenizer that came with its model."""
    return TextSection.model_validate(
        {
            "kind": tokenizer.kind,
            "size": len(tokenizer),
            "is_lowercase": tokenizer.is_lowercase,
        }
    )
