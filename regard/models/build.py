"""From a recipe to a model: the one place where configuration meets layers."""

from regard.errors import RecipeError
from regard.models.encoder import Sizes
from regard.models.transformer import Transformer
from regard.recipes.schema import ModelSection


def build(model: ModelSection, n_source_tokens: int, n_target_tokens: int) -> Transformer:
    """Build the model a recipe asks for, freshly initialised from torch's current seed."""
    if model.dropout == "auto":
        raise RecipeError(
            "model.dropout is still 'auto': it is chosen when the size of the data is known; "
            "give a number to build the model without data"
        )
    if model.tie == "three-way" and n_source_tokens != n_target_tokens:
        raise RecipeError(
            f"model.tie = 'three-way' shares one table between source and target, which have "
            f"{n_source_tokens} and {n_target_tokens} tokens: set text.is_joint = true, "
            "or model.tie = 'two-way'"
        )
    dropout = model.dropout

    def or_dropout(given: float | None) -> float:
        return dropout if given is None else given

    sizes = Sizes(
        d_model=model.d_model,
        n_heads=model.n_heads,
        d_feedforward=model.d_feedforward,
        is_pre_norm=model.norm == "pre",
        activation=model.activation,
        dropout=dropout,
        attention_dropout=or_dropout(model.attention_dropout),
        feedforward_dropout=or_dropout(model.feedforward_dropout),
        embedding_dropout=or_dropout(model.embedding_dropout),
    )
    return Transformer(
        n_source_tokens,
        n_target_tokens,
        sizes,
        n_layers=model.n_layers,
        n_decoder_layers=model.n_decoder_layers,
        positions=model.positions,
        max_length=model.max_length,
        tie=model.tie,
    )
