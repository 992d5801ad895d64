"""The runs that are shown: folders that are being trained, or were; asked for by name alone."""

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Literal

from regard.config import Recipe, parse_recipe
from regard.errors import RegardError, ServiceError
from regard.folder import moments_of
from regard.serving.history import METRICS, History
from regard.serving.refusals import RequestError

State = Literal["preparing", "training", "quiet", "finished", "stopped"]

_MOST = 500  # runs of a folder
_DEEP = 4  # folders below a folder of runs
_QUIET = 120.0  # seconds without news, after which a run may have ended
_REQUEST = Path("training") / "request.toml"


@dataclass(frozen=True)
class Standing:
    """How a run stands."""

    name: str
    recipe: Recipe | None
    history: History
    state: State
    silent: float  # seconds since it last wrote
    moments: tuple[int | None, ...]  # updates whose weights are there; None: those in use

    @property
    def n_read(self) -> float:
        """Tokens that are read for each one that is counted: a BERT counts those it has to find."""
        training = self.recipe.training if self.recipe else None
        return 1 / training.mask_share if training and training.task == "masked" else 1.0

    @property
    def updates(self) -> int | None:
        """How many there will be, where that is decided."""
        planned = self.recipe.training.updates if self.recipe else None
        return planned if isinstance(planned, int) else None


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs by name; those below ``roots`` are found anew each time, as they come and go."""

    named: Mapping[str, Path] = field(default_factory=dict)
    roots: Sequence[Path] = ()
    _histories: dict[Path, History] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        for root in self.roots:
            if not root.is_dir():
                raise ServiceError(
                    f"--runs {root} is no folder: give the one in which `regard train` puts its "
                    "runs"
                )

    def all(self) -> dict[str, Path]:
        """Every run there is now."""
        found = dict(self.named)
        known = {path.resolve() for path in found.values()}
        for root in self.roots:
            for path in _below(root):
                name = path.relative_to(root).as_posix()
                if path.resolve() not in known and len(found) < _MOST:
                    own = name if name != "." else path.resolve().name
                    found.setdefault(own, path)
        return found

    def of(self, name: str) -> Path:
        """The folder of a run; a name is looked up, never followed."""
        there = self.all()
        if name not in there:
            known = ", ".join(list(there)[:20]) or "none"
            raise RequestError(
                f"there is no run {name[:60]!r} here: the runs are {known}",
                status=404,
                code="no-such-run",
            )
        return there[name]

    def history(self, folder: Path) -> History:
        """What the run has told so far."""
        with self._lock:
            read = self._histories.get(folder, History(folder / METRICS)).read()
            self._histories[folder] = read
            return read

    def standing(self, name: str, folder: Path) -> Standing:
        """How the run stands."""
        history = self.history(folder)
        silent = _silent(folder)
        return Standing(
            name,
            _recipe(folder),
            history,
            _state(history, silent),
            silent,
            tuple(one.update for one in moments_of(folder)),
        )


def is_run(folder: Path) -> bool:
    """Whether a folder is being trained, or was."""
    return (folder / METRICS).is_file() or (folder / _REQUEST).is_file()


def _below(root: Path) -> list[Path]:
    """The runs in a folder and below it; links are not followed out of it."""
    found: list[Path] = []
    for place, folders, _ in os.walk(root, followlinks=False):
        path = Path(place)
        if is_run(path):
            found.append(path)
            folders.clear()
        elif len(path.relative_to(root).parts) >= _DEEP:
            folders.clear()
        else:
            folders[:] = sorted(name for name in folders if not name.startswith("."))
    return found[:_MOST]


def _recipe(folder: Path) -> Recipe | None:
    for path in (folder / "recipe.toml", folder / _REQUEST):
        try:
            return parse_recipe(path.read_text(encoding="utf-8"), str(path))
        except (OSError, UnicodeDecodeError, RegardError):
            continue
    return None


def _silent(folder: Path) -> float:
    times = []
    for name in (METRICS, "weights.safetensors", "training", "training/checkpoints", _REQUEST):
        try:
            times.append((folder / name).stat().st_mtime)
        except OSError:
            continue
    return max(0.0, time.time() - max(times, default=0.0))


def _state(history: History, silent: float) -> State:
    if history.finished is not None:
        return "stopped" if history.finished.get("reason") == "interrupted" else "finished"
    pace = [one for one in history.steps["seconds"][-2:] if one is not None]
    patience = max(_QUIET, 10 * (pace[-1] - pace[0])) if pace else _QUIET
    if silent > patience:
        return "quiet"
    return "training" if history.update else "preparing"
