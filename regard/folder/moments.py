"""Moments of a run: its weights after some of its updates, to see what became of them.

training/moments/000100.safetensors   kept for good, where training.keep_at asks for it
training/checkpoints/000500/          what the run may go on from: the newest few
weights.safetensors                   what the folder holds now
"""

from dataclasses import dataclass
from pathlib import Path

from regard.errors import ModelFolderError
from regard.folder.checkpoints import Checkpoints
from regard.folder.weights import WEIGHTS, Weights, write_weights
from regard.models import Model

PLACE = Path("training") / "moments"


@dataclass(frozen=True)
class Moment:
    """Weights after an update; ``None`` are those that the folder holds, of whichever update."""

    update: int | None
    path: Path


def keep_moment(folder: str | Path, update: int, weights: Model | Weights) -> None:
    """Keep the weights after this update for good."""
    place = Path(folder) / PLACE
    place.mkdir(parents=True, exist_ok=True)
    write_weights(place / f"{update:06d}.safetensors", weights, is_summed=True)


def moments_of(folder: str | Path) -> tuple[Moment, ...]:
    """All that can be looked at, the earliest first; at the end what the folder holds."""
    found: dict[int, Path] = {}
    for checkpoint in Checkpoints(folder).all():
        found[checkpoint.step] = checkpoint.path / WEIGHTS
    for path in (Path(folder) / PLACE).glob("*.safetensors"):
        if path.stem.isascii() and path.stem.isdecimal():
            found[int(path.stem)] = path
    moments = [Moment(update, found[update]) for update in sorted(found)]
    if (Path(folder) / WEIGHTS).is_file():
        moments.append(Moment(None, Path(folder) / WEIGHTS))
    return tuple(moments)


def find_moment(folder: str | Path, update: int | None) -> Moment:
    """The weights after an update, or a sentence that says which there are."""
    there = moments_of(folder)
    moment = next((one for one in there if one.update == update), None)
    if moment is None:
        known = ", ".join(f"{one.update:,}" for one in there if one.update is not None) or "none"
        raise ModelFolderError(
            f"{folder} has kept no weights of update {update}: those of {known} are there; "
            "training.keep_at says which are kept"
        )
    return moment
