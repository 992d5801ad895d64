"""What a foreign folder gives, and what is made of it: nothing missing, nothing left unread."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pydantic import ValidationError

from regard.config import Recipe, TextSection, TrainingSection
from regard.config.alone import Alone
from regard.errors import ModelFolderError
from regard.folder.foreign.huggingface import CONFIG, HuggingFaceFolder
from regard.folder.weights import Weights
from regard.shapes import Tensor
from regard.text import Elsewhere, Tokenizer

_MEASURES = {  # by task, where not as always
    "classification": {"measure": "accuracy"},
    "tagging": {"measure": "f1"},
}


class Given:
    """The weights of a folder by their names there, in float32; it remembers which were taken."""

    def __init__(
        self, folder: HuggingFaceFolder, rename: Callable[[str], str] = lambda name: name
    ) -> None:
        self.folder = folder
        self._tensors = {rename(name): one for name, one in folder.weights().items()}
        self._taken: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._tensors

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def take(self, *names: str) -> Tensor:
        """The tensor of the first of these names that is there."""
        self._taken.update(names)
        for name in names:
            if name in self._tensors:
                self._require_real(name)
                return self._tensors[name].float()
        raise ModelFolderError(
            f"{self.folder.path} has no {names[0]} among its weights: they are of another model "
            f"than {CONFIG} describes, or were cut short; copy the whole folder again"
        )

    def require_room(self, *, layers: Sequence[str], widths: Sequence[str]) -> None:
        """Refuse a config.json of more or wider layers than these weights have room for.

        What differs less is found when the model is built; one of this size could not be.
        """
        widest = max((n for one in self._tensors.values() for n in one.shape), default=0)
        rooms = [*((key, len(self._tensors)) for key in layers), *((key, widest) for key in widths)]
        for key, room in rooms:
            stated = self.folder.config.get(key)
            if isinstance(stated, int) and stated > room:
                raise ModelFolderError(
                    f"{self.folder.path / CONFIG} says {key} = {stated}, and no model of these "
                    "weights is so large: they are of different models, take all from one"
                )

    def _require_real(self, name: str) -> None:
        """Refuse numbers that stand for others, and what is no number."""
        tensor = self._tensors[name]
        if not tensor.is_floating_point():
            raise ModelFolderError(
                f"{self.folder.path} keeps {name} in whole numbers ({tensor.dtype}): such a "
                "quantised model cannot be read, take the one it was made from"
            )
        if not bool(tensor.isfinite().all()):
            raise ModelFolderError(
                f"{self.folder.path} has numbers in {name} that are infinite or none: its training "
                "failed, or the file is damaged; take another copy"
            )

    def leave(self, is_left: Callable[[str], bool]) -> tuple[str, ...]:
        """Do without the tensors of these names; gives those that were there and not taken."""
        left = tuple(sorted(name for name in self._tensors.keys() - self._taken if is_left(name)))
        self._taken.update(left)
        return left

    def require_all_taken(self, ours: str) -> None:
        """Refuse weights that nobody asked for: the model would compute something else."""
        if unknown := sorted(self._tensors.keys() - self._taken):
            raise ModelFolderError(
                f"{self.folder.path} has {unknown[0]} among its weights, which Regard's {ours} has "
                "no place for: such a model cannot be read"
            )


@contextmanager
def stated_in(folder: HuggingFaceFolder, name: str = CONFIG) -> Iterator[None]:
    """Say of what a JSON file leaves out, or has of another build, where it stands."""
    path = folder.path / name
    try:
        yield
    except KeyError as error:
        raise ModelFolderError(
            f"{path} does not say {error}: copy it again from where it came from"
        ) from error
    except (AttributeError, TypeError) as error:  # a list for a table, a word for a number
        raise ModelFolderError(
            f"{path} is not built as such files are ({error}): copy it again from where it came "
            "from"
        ) from error
    except ValidationError as error:
        first = error.errors()[0]
        what = "".join(f"{key} = {first['input']!r}: " for key in first["loc"][:1])
        raise ModelFolderError(
            f"{path} asks for what cannot be built: {what}{first['msg']}"
        ) from error


def refuse_unless(folder: HuggingFaceFolder, ours: str, **allowed: object) -> None:
    """Refuse a folder whose config.json asks for a variant that computes something else."""
    for key, value in allowed.items():
        said = folder.config.get(key, value)
        if said != value:
            raise ModelFolderError(
                f"{folder.path / CONFIG} says {key} = {said!r}, and Regard's {ours} knows "
                f"{value!r} alone: such a model cannot be read"
            )


def require_stated(folder: HuggingFaceFolder, n_rows: int, key: str) -> None:
    """Refuse a table of another length than config.json states."""
    stated = folder.config.get(key, n_rows)
    if stated != n_rows:
        raise ModelFolderError(
            f"{folder.path / CONFIG} says {key} = {stated!r}, and the weights have {n_rows:,} "
            "rows for it: they are of different models, take all from one"
        )


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
    measure = _MEASURES.get(task, {})
    text = {"kind": tokenizer.kind, "size": len(tokenizer), "is_lowercase": tokenizer.is_lowercase}
    recipe = Recipe(
        name=folder.path.resolve().name,
        purpose=f"read from a {source}",
        model=section,
        text=TextSection.model_validate(text),
        training=TrainingSection.model_validate({"task": task, "label_smoothing": 0.0} | measure),
    )
    return Imported(recipe, weights, tokenizer, tokenizer, left_out)
