"""The run in its folder: what was asked for, checkpoints to go on from, and the best weights."""

import json
import math
import shutil
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

from regard.config import Recipe, parse_recipe, shown, write_recipe
from regard.counting import counted
from regard.errors import ModelFolderError, RegardError, UsageError
from regard.files import remove_folder, write_text
from regard.folder import (
    Checkpoint,
    Checkpoints,
    average,
    begin,
    keep_moment,
    put_into,
    read_folder,
    read_weights,
    save_lexicon,
    save_weights,
)
from regard.folder.training_state import VALUES
from regard.folder.weights import WEIGHTS
from regard.models import Model
from regard.shapes import Tensor
from regard.text import Tokenizer
from regard.text.segmenting import Lexicon
from regard.training.distributed import Ranks
from regard.training.locking import LOCK, FolderLock
from regard.training.run import AnyUpdater, Pace, Progress
from regard.training.sharded import is_sharded, spread_weights, whole_weights

REQUEST = Path("training") / "request.toml"

# A run may be continued with other values of these: they decide when it looks, saves and ends.
_MAY_CHANGE = {
    "training.updates",
    "training.minutes",
    "training.patience",
    "training.validate_every",
    "training.save_every",
    "training.decodes_at_validation",
    "training.average_last",
    "training.keep_at",
    "purpose",
}


class FolderKeeper:
    """Keeps a run in a model folder; only the first process writes."""

    def __init__(self, folder: Path, ranks: Ranks, n_kept: int = 5) -> None:
        self.folder, self.ranks = folder, ranks
        # One more than are averaged at the end: the last may be one that was not planned.
        self.checkpoints = Checkpoints(folder, max(2, n_kept) + 1)
        self._has_made: list[Path] = []
        self._lock = FolderLock(folder)

    def claim(self, asked: Recipe) -> None:
        """Make the folder this run's alone, or refuse one that holds something else.

        Until ``close`` or ``release`` no other process can claim it.
        """
        request = self.folder / REQUEST
        if self.ranks.is_first:
            if not request.is_file():
                self._refuse_another(asked)  # before anything is written there
                self._make_place(request.parent)
            self._lock.acquire()
        try:
            self._refuse_another(asked)
            if self.ranks.is_first:
                write_text(request, write_recipe(asked))
        except RegardError:
            self.close()
            raise

    def _refuse_another(self, asked: Recipe) -> None:
        """Refuse a folder that holds another run, or something that is none."""
        request = self.folder / REQUEST
        if request.is_file():
            there = _read_request(request)
            if (change := _first_change(there, asked)) is not None:
                raise UsageError(
                    f"{self.folder} holds a run with {change}: give the same recipe and files to "
                    "continue it, or another --out to start anew"
                )
            self._require_same_ranks()
        elif self.folder.exists() and (not self.folder.is_dir() or _has_files(self.folder)):
            raise ModelFolderError(
                f"{self.folder} exists and holds no training run: choose another --out"
            )

    def _require_same_ranks(self) -> None:
        latest = self.checkpoints.latest()
        before = self.ranks.n_ranks if latest is None else _read_state(latest)["n_ranks"]
        if before != self.ranks.n_ranks:
            raise UsageError(
                f"{self.folder} was trained by {counted(before, 'process', 'processes')} and "
                f"cannot be continued exactly by {self.ranks.n_ranks}: start as many as before"
            )

    def _make_place(self, place: Path) -> None:
        missing = [one for one in (place, *place.parents) if not one.exists()]
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ModelFolderError(
                f"{self.folder} cannot be made: {error.strerror}; choose another --out"
            ) from error
        self._has_made = missing

    def release(self) -> None:
        """Take back what a run left that never began; a run that was there before stays."""
        for place in self._has_made:  # the innermost first
            if place == self.folder / REQUEST.parent:
                shutil.rmtree(place, ignore_errors=True)
            else:
                with suppress(OSError):  # holds something else by now
                    place.rmdir()
        self.close()

    def close(self) -> None:
        """Let another process train in the folder."""
        self._lock.release()

    def begin(
        self,
        recipe: Recipe,
        source: Tokenizer,
        target: Tokenizer,
        lexicon: Lexicon | None = None,
    ) -> None:
        """Write all of the model folder but the weights."""
        if self.ranks.is_first:
            begin(self.folder, recipe, source, target)
            if lexicon is not None:
                save_lexicon(self.folder, lexicon)

    def last_update(self) -> int:
        """Where the run will go on; 0 for a new one."""
        latest = self.checkpoints.latest()
        return 0 if latest is None else latest.step

    def planned(self) -> Recipe | None:
        """What the run that is there was decided to be; ``None`` for a new one."""
        return read_folder(self.folder).recipe if self.last_update() else None

    def restore(self, model: Model, updater: AnyUpdater) -> Progress | None:
        """Load the last complete checkpoint in place; ``None`` when there is none."""
        latest = self.checkpoints.latest()
        if latest is None:
            return None
        self._load(model, latest.weights(), latest.path)
        state = _read_state(latest)
        progress = _progress(state["progress"])
        updater.restore(state["updater"], state["n_updates"])
        return progress

    def save(
        self, model: Model, updater: AnyUpdater, progress: Progress, *, is_planned: bool
    ) -> str:
        """Keep everything needed to go on; gives where. What was not planned is never averaged."""
        path = self.checkpoints.folder / f"{progress.update:06d}"
        state = {
            "progress": asdict(progress),
            "updater": updater.state(),
            "n_updates": updater.n_updates,
            "n_ranks": self.ranks.n_ranks,
            "is_planned": is_planned,
        }
        weights = _weights(model)
        if self.ranks.is_first:
            path = self.checkpoints.save(progress.update, weights, state).path
            for before in self.checkpoints.all():
                if before.step < progress.update and not _is_planned(before):
                    remove_folder(before.path)
        return str(path)

    def keep_best(self, model: Model) -> None:
        """Let the model folder hold these weights."""
        weights = _weights(model)
        if self.ranks.is_first:
            save_weights(self.folder, weights)

    def keep_moment(self, model: Model, update: int) -> None:
        """Keep these weights for good, to be looked at."""
        weights = _weights(model)
        if self.ranks.is_first:
            keep_moment(self.folder, update, weights)

    def restore_best(self, model: Model) -> None:
        """Load the weights the model folder holds."""
        self.ranks.wait()
        file = self.folder / WEIGHTS
        self._load(model, read_weights(file), file)

    def average_last(self, model: Model, n: int) -> int:
        """Load the average of the last n checkpoints; gives how many there were."""
        last = [one for one in self.checkpoints.last(n + 1) if _is_planned(one)][-n:]
        if len(last) > 1:
            self._load(model, average([one.path for one in last]), self.folder)
        return len(last)

    def _load(self, model: Model, weights: dict[str, Tensor], where: Path) -> None:
        if is_sharded(model):
            spread_weights(model, weights)
        else:
            put_into(model, weights, where)


def _weights(model: Model) -> Model | dict[str, Tensor]:
    """What is written: all of a sharded model, for which all processes must ask."""
    return whole_weights(model) if is_sharded(model) else model


def _is_planned(checkpoint: Checkpoint) -> bool:
    """Whether a run without interruptions has it too."""
    try:
        values = json.loads((checkpoint.path / VALUES).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):  # damaged: passed over elsewhere
        return True
    return bool(values.get("is_planned", True)) if isinstance(values, dict) else True


def _read_state(checkpoint: Checkpoint) -> dict[str, Any]:
    """What a run goes on from; numbers that none has, such as NaN, are refused."""
    state = checkpoint.state()
    progress = state.get("progress")
    is_whole = progress is not None and _is_like(progress, asdict(Progress(pace=Pace())))
    counts = [state.get("n_updates"), state.get("n_ranks")]
    if not is_whole or not all(_is_like(one, 0) for one in counts) or "updater" not in state:
        raise ModelFolderError(
            f"{checkpoint.path / VALUES} is damaged (it does not say how far the run is): remove "
            "the folder it is in to go on from the checkpoint before"
        )
    return state


def _progress(kept: dict[str, Any]) -> Progress:
    pace = kept.get("pace")
    return Progress(**{**kept, "pace": None if pace is None else Pace(**pace)})


def _is_like(value: object, default: object) -> bool:
    """Whether a value can stand where this is the default: counts from 0, and finite numbers."""
    match default:
        case dict():  # the pace of a run by updates is none
            return value is None or (
                isinstance(value, dict)
                and value.keys() <= default.keys()
                and all(_is_like(value[key], default[key]) for key in value)
            )
        case bool():
            return isinstance(value, bool)
        case int():
            return type(value) is int and value >= 0
        case _:  # the best validation may be none
            is_number = type(value) in (int, float) and math.isfinite(cast("float", value))
            return is_number or (default is None and value is None)


def _read_request(path: Path) -> Recipe:
    try:
        return parse_recipe(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise ModelFolderError(
            f"{path} cannot be read: {reason}; copy it again from where it came from, or choose "
            "another --out"
        ) from error


def _has_files(folder: Path) -> bool:
    """Empty folders, and a lock, are what a kill in the first moment leaves."""
    lock = folder / LOCK
    return any(not one.is_dir() and one != lock for one in folder.rglob("*"))


def _first_change(there: Recipe, asked: Recipe) -> str | None:
    """The first thing in which the recipes differ and a run may not, as prose."""
    old, new = _flat(there), _flat(asked)
    for key in old:
        if old[key] != new[key] and key not in _MAY_CHANGE:
            return f"{key} = {shown(old[key])}, not {shown(new[key])}"
    return None


def _flat(recipe: Recipe) -> dict[str, object]:
    values: dict[str, object] = {}
    for key, value in recipe.model_dump().items():
        if isinstance(value, dict):
            values |= {f"{key}.{inner}": one for inner, one in value.items()}
        else:
            values[key] = value
    return values
