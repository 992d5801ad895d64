"""The recipes that ship with the package, by name."""

from difflib import get_close_matches
from importlib.resources import files

from regard.config.networks import NETWORKS
from regard.config.schema import Recipe
from regard.errors import RecipeError

ENDING = ".toml"


def preset_names() -> tuple[str, ...]:
    """The names of all presets, in the order of the alphabet."""
    found = (one.name for one in files("regard.config").iterdir())
    return tuple(sorted(name.removesuffix(ENDING) for name in found if name.endswith(ENDING)))


def preset_text(name: str) -> str:
    """The TOML of a preset, with its comments."""
    names = preset_names()
    if name not in names:
        close = get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]}? The" if close else "the"
        raise RecipeError(
            f"there is no preset {name!r}; {hint} presets are {', '.join(names)}; "
            f"a recipe of your own is a file whose name ends in {ENDING}"
        )
    return files("regard.config").joinpath(f"{name}{ENDING}").read_text(encoding="utf-8")


def presets() -> tuple[Recipe, ...]:
    """All presets, the smaller before the larger; those for one corpus after the general ones."""
    from regard.config.read import parse_recipe  # which itself starts from presets

    recipes = (parse_recipe(preset_text(name), f"the preset {name}") for name in preset_names())

    def place(recipe: Recipe) -> tuple[bool, int, int, str]:
        kinds = list(NETWORKS)
        model = recipe.model
        is_special = not recipe.name.startswith(model.kind)
        return is_special, kinds.index(model.kind), model.width, recipe.name

    return tuple(sorted(recipes, key=place))
