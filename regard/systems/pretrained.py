"""Beginning from a pre-trained model: its network, its tokenizer, the weights of its encoder."""

from collections.abc import Collection
from pathlib import Path

from regard.config import Recipe, parse_recipe, write_recipe
from regard.config.alone import Alone
from regard.errors import UsageError
from regard.files import whole_folder, write_checksums
from regard.folder import put_into, read_folder, read_weights
from regard.folder.weights import WEIGHTS, require_sound
from regard.models import Labeller

RECIPE = "initial.toml"
_ENCODER, _POOLER = ("encoder.", "embedding."), "pooler."
# What a fine-tuned model has of its own, whatever it begins from.
_OWN = {
    *("kind", "tie", "labels", "n_texts", "pooling"),
    *("dropout", "attention_dropout", "feedforward_dropout", "embedding_dropout"),
}


def begin_from(recipe: Recipe, folder: Path) -> Recipe:
    """The recipe with the network and text of the model it begins from, if it names one.

    That model's tokenizer and recipe are kept in the run's folder, as if learned there, so that a
    run goes on wherever the model has gone.
    """
    if recipe.training.init is None:
        return recipe
    place = folder / "tokenizers"
    if not place.is_dir():
        _take_over(recipe.training.init, place, recipe.model.begins_from)
    kept = place / RECIPE
    require_sound(kept)
    initial = parse_recipe(kept.read_text(encoding="utf-8", errors="replace"), str(kept))
    assert isinstance(initial.model, Alone)
    taken = {
        key: getattr(initial.model, key)
        for key in type(initial.model).model_fields
        if key in type(recipe.model).model_fields and key not in _OWN
    }
    model = type(recipe.model).model_validate(recipe.model.model_dump() | taken)
    return recipe.model_copy(update={"model": model, "text": initial.text})


def _take_over(init: str, place: Path, kinds: Collection[str]) -> None:
    loaded = read_folder(init, needs=(WEIGHTS,))
    network = loaded.recipe.model
    if network.kind not in kinds:
        raise UsageError(
            f"--init {init} holds a model of kind {network.kind}, and a model that tells labels "
            "begins from a bert: give the folder of one (`regard train bert-tiny` makes them), or "
            "leave --init out"
        )
    with whole_folder(place) as filling:
        loaded.source_tokenizer.save(filling / "text")
        (filling / RECIPE).write_text(write_recipe(loaded.recipe), encoding="utf-8")
        write_checksums(filling)


def put_encoder(model: Labeller, init: str) -> None:
    """Copy the weights of a pre-trained encoder into a model, in place; its head stays as it is.

    The pooler of a classifier is copied too, where the pre-trained model has one.
    """
    file = Path(init) / WEIGHTS
    there, own = read_weights(file), model.state_dict()
    head = {name: one for name, one in own.items() if not name.startswith(_ENCODER)}
    encoder = {name: one for name, one in there.items() if name.startswith(_ENCODER)}
    pooler = {name: there[name] for name in head if name.startswith(_POOLER) and name in there}
    put_into(model, head | encoder | pooler, file)
