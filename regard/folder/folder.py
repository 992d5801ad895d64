"""The model folder: what a model is made of, saved and loaded.

    FORMAT  CHECKSUMS  recipe.toml  weights.safetensors  tokenizer.*  metrics.jsonl  training/

Files are replaced one by one, each in one moment. That is safe because a folder only ever holds one
model: what would change the meaning of its weights is refused.
"""

from dataclasses import dataclass
from pathlib import Path

from torch import nn

from regard.config import ModelSection, Recipe, parse_recipe, shown, write_recipe
from regard.errors import ModelFolderError
from regard.files import (
    explained_errors,
    put_in_place,
    remove_leftovers,
    staging_folder,
    write_text,
)
from regard.folder.checkpoints import PLACE
from regard.folder.weights import (
    WEIGHTS,
    Weights,
    put_into,
    read_weights,
    require_sound,
    write_weights,
)
from regard.models import Model
from regard.text import Tokenizer
from regard.text import load as load_tokenizer

FORMAT = 1  # raised when a folder of today could be misread by Regard of yesterday

FORMAT_FILE = "FORMAT"
RECIPE = "recipe.toml"
TOKENIZER = "tokenizer"
SIDES = ("source", "target")
ENDINGS = (".model", ".json")

_PICKLES = (".pt", ".pth", ".bin", ".ckpt", ".pkl", ".pickle")
_NO_PICKLES = "a pickle, which can run code when it is opened, so Regard never opens one"


@dataclass(frozen=True)
class ModelFolder:
    """All that a folder says of its model but the weights."""

    recipe: Recipe
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    path: Path
    format: int


@dataclass(frozen=True, repr=False)
class LoadedModel:
    """A model and all that is needed to use it."""

    model: Model
    recipe: Recipe
    source_tokenizer: Tokenizer
    target_tokenizer: Tokenizer
    path: Path
    format: int

    def __repr__(self) -> str:
        return f"LoadedModel({str(self.path)!r}, kind={self.recipe.model.kind!r})"


def save(
    path: str | Path,
    model: nn.Module | Weights,
    recipe: Recipe,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
) -> Path:
    """Write a model folder, or new weights of the same model into it."""
    folder = begin(path, recipe, source_tokenizer, target_tokenizer)
    save_weights(folder, model)
    return folder


def begin(
    path: str | Path, recipe: Recipe, source_tokenizer: Tokenizer, target_tokenizer: Tokenizer
) -> Path:
    """Write all but the weights, which come when there are some worth keeping."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise ModelFolderError(f"{folder} is a file: a model needs a folder of its own")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelFolderError(f"{folder} cannot be made: {error.strerror}") from error
    remove_leftovers(folder)
    names = _tokenizer_names(source_tokenizer, target_tokenizer)
    _refuse_another_model(folder, recipe, names)
    _save_tokenizers(folder, names)
    write_text(folder / RECIPE, write_recipe(recipe), is_summed=True)
    write_text(folder / FORMAT_FILE, f"{FORMAT}\n")
    return folder


def save_weights(path: str | Path, model: nn.Module | Weights) -> None:
    """Let the folder hold these weights; until the last moment it holds those before."""
    write_weights(Path(path) / WEIGHTS, model, is_summed=True)


def read_folder(path: str | Path, *, needs: tuple[str, ...] = ()) -> ModelFolder:
    """Recipe and tokenizers of a model folder, which has these files too."""
    folder = Path(path)
    version = _check_folder(folder, needs)
    recipe = _read_recipe(folder)
    source_tokenizer, target_tokenizer = _load_tokenizers(folder)
    if WEIGHTS in needs:
        _require_room(recipe.model, folder / WEIGHTS)
    return ModelFolder(recipe, source_tokenizer, target_tokenizer, folder, version)


def _require_room(model: ModelSection, file: Path) -> None:
    """Refuse a recipe of a model larger than its weights before memory is asked for."""
    smallest = 2 * model.least_size  # bytes, in half precision
    if smallest > file.stat().st_size:
        read_weights(file)  # which may be cut short
        raise ModelFolderError(
            f"{file} does not fit the recipe: a model of {model.shape} has weights of more than "
            f"{smallest:,} bytes, and these are {file.stat().st_size:,}; recipe and weights are of "
            "different models, take both from one"
        )


def load_weights(path: str | Path, model: nn.Module) -> None:
    """Copy the weights a folder holds into a model, in place."""
    file = Path(path) / WEIGHTS
    put_into(model, read_weights(file), file)


def _check_folder(folder: Path, needs: tuple[str, ...]) -> int:
    """The format of a folder that has everything."""
    if not folder.exists():
        raise ModelFolderError(
            f"there is no model folder {folder}: give the folder that `regard train --out` made"
        )
    if not folder.is_dir():
        what = _NO_PICKLES if folder.suffix in _PICKLES else "a file"
        raise ModelFolderError(f"{folder} is {what}: give the folder that `regard train` made")
    version = _read_format(folder) if (folder / FORMAT_FILE).is_file() else None
    missing = [name for name in (FORMAT_FILE, RECIPE, *needs) if not (folder / name).is_file()]
    if not _has_tokenizers(folder):
        missing.append(f"{TOKENIZER}.*")
    if version is None or missing:
        raise ModelFolderError(_incomplete(folder, missing))
    return version


def _incomplete(folder: Path, missing: list[str]) -> str:
    if FORMAT_FILE in missing and (folder / "config.json").is_file():
        return (
            f"{folder} is a Hugging Face folder and not a model folder: make one of it with "
            f"`regard import {folder} --out MODEL`, and give that"
        )
    pickles = sorted(one.name for one in folder.iterdir() if one.suffix in _PICKLES)
    if pickles and WEIGHTS in missing:
        return f"{folder} is not a model folder: it holds {pickles[0]}, {_NO_PICKLES}"
    if missing == [WEIGHTS]:
        return (
            f"{folder} has no {WEIGHTS} yet: its training has not kept any weights so far; "
            "let it go on"
        )
    names = " and ".join(filter(None, (", ".join(missing[:-1]), missing[-1])))
    return (
        f"{folder} is not a model folder: it has no {names}; give the folder that `regard train "
        "--out` made"
    )


def _read_format(folder: Path) -> int:
    said = (folder / FORMAT_FILE).read_text(encoding="utf-8", errors="replace").strip()
    if not (said.isascii() and said.isdecimal() and len(said) < 10) or int(said) < 1:
        raise ModelFolderError(
            f"{folder / FORMAT_FILE} says {said[:20]!r}: the number of a format is expected "
            f"(this Regard reads up to {FORMAT})"
        )
    version = int(said)
    if version > FORMAT:
        raise ModelFolderError(
            f"{folder} was made by a newer Regard (format {version}; this one reads up to "
            f"{FORMAT}): update Regard's source folder and run pip install . there"
        )
    return version


def _read_recipe(folder: Path) -> Recipe:
    path = folder / RECIPE
    try:
        require_sound(path)
        return parse_recipe(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise ModelFolderError(f"{path} cannot be read: {error}") from error


def _tokenizer_names(source: Tokenizer, target: Tokenizer) -> dict[str, Tokenizer]:
    if source is target or source.fingerprint == target.fingerprint:
        return {TOKENIZER: source}
    return {f"{TOKENIZER}.{side}": one for side, one in zip(SIDES, (source, target), strict=True)}


def _saved_tokenizer(folder: Path, stem: str) -> Path | None:
    paths = (folder / f"{stem}{ending}" for ending in ENDINGS)
    return next((path for path in paths if path.is_file()), None)


def _has_tokenizers(folder: Path) -> bool:
    sides = (_saved_tokenizer(folder, f"{TOKENIZER}.{side}") for side in SIDES)
    return _saved_tokenizer(folder, TOKENIZER) is not None or all(sides)


def _load_tokenizers(folder: Path) -> tuple[Tokenizer, Tokenizer]:
    stems = (TOKENIZER, *(f"{TOKENIZER}.{side}" for side in SIDES))
    for path in filter(None, (_saved_tokenizer(folder, stem) for stem in stems)):
        require_sound(path)
    if _saved_tokenizer(folder, TOKENIZER):
        joint = load_tokenizer(folder / TOKENIZER)
        return joint, joint
    source, target = (load_tokenizer(folder / f"{TOKENIZER}.{side}") for side in SIDES)
    return source, target


def _save_tokenizers(folder: Path, tokenizers: dict[str, Tokenizer]) -> None:
    kept = set()
    for stem, tokenizer in tokenizers.items():
        with explained_errors(folder / stem), staging_folder(folder / stem) as staging:
            written = tokenizer.save(staging / stem)
            put_in_place(written, folder / written.name, is_summed=True)
            kept.add(written.name)
    for other in folder.glob(f"{TOKENIZER}.*"):
        if other.suffix in ENDINGS and other.name not in kept:
            other.unlink()  # of another choice of text.kind, made before there were weights


def _refuse_another_model(folder: Path, recipe: Recipe, tokenizers: dict[str, Tokenizer]) -> None:
    """A killed save must not leave the recipe of one model beside the weights of another."""
    has_weights = (folder / WEIGHTS).is_file() or any((folder / PLACE).glob("*"))
    if not (has_weights and (folder / RECIPE).is_file()):
        return
    if (folder / FORMAT_FILE).is_file():
        _read_format(folder)
    if (folder / WEIGHTS).is_file():
        require_sound(folder / WEIGHTS)  # a run that continues may end with them
    there, new = _meaning(_read_recipe(folder).model), _meaning(recipe.model)
    changed = (key for key in new if there[key] != new[key])
    what = next((f"model.{k} = {shown(there[k])}, not {shown(new[k])}" for k in changed), None)
    if what is None and _has_tokenizers(folder):
        saved = _tokenizer_names(*_load_tokenizers(folder))
        if _fingerprints(saved) != _fingerprints(tokenizers):
            what = "another tokenizer"
    if what is not None:
        raise ModelFolderError(
            f"{folder} already holds another model, with {what}: choose another folder, or remove "
            "this one"
        )


def _meaning(model: ModelSection) -> dict[str, object]:
    """What weights depend on; dropout is gone once they are learned."""
    values = model.model_dump()
    return {key: value for key, value in values.items() if not key.endswith("dropout")}


def _fingerprints(tokenizers: dict[str, Tokenizer]) -> dict[str, str]:
    return {stem: one.fingerprint for stem, one in tokenizers.items()}
