"""What a reader of a foreign format gives back: all a model folder of ours is made of."""

from dataclasses import dataclass

from regard.checkpoint.weights import Weights
from regard.recipes import Recipe
from regard.text import Tokenizer


@dataclass(frozen=True)
class Imported:
    """A model in our terms."""

    recipe: Recipe
    weights: Weights
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
