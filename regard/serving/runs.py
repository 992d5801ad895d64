"""The runs that are shown: folders that are being trained, or were; asked for by name alone.

What a run has written of itself, `metrics.jsonl`, is read while another process writes it, and
never locked. It grows at its end, where a last line may be half-written; when a run is continued
another file takes its place, without what will be done again.
"""

import json
import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from regard.config import Recipe, parse_recipe
from regard.errors import RegardError, ServiceError
from regard.folder import moments_of
from regard.serving.refusals import RequestError
from regard.systems import system_of

State = Literal["preparing", "training", "quiet", "finished", "stopped"]

_MOST = 500  # runs of a folder
_DEEP = 4  # folders below a folder of runs
_QUIET = 120.0  # seconds without news, after which a run may have ended
_REQUEST = Path("training") / "request.toml"
METRICS = "metrics.jsonl"
POINTS = 2000  # of a curve that is asked for as a whole: more are neither seen nor sent quickly

COLUMNS = ("update", "seconds", "loss", "learning_rate", "gradient_norm", "tokens_per_second")
Column = list[float | None]


@dataclass
class History:
    """The events of one run, read as far as they are there."""

    path: Path
    number: int = 0  # of the file: another one is another run, or the same continued
    place: int = 0  # up to which it was read
    steps: dict[str, Column] = field(default_factory=lambda: {name: [] for name in COLUMNS})
    validations: list[dict[str, Any]] = field(default_factory=list)
    finished: dict[str, Any] | None = None
    epoch: int = 0

    def read(self) -> "History":
        """This with what was written since; a new one if the file is another."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                if status.st_ino != self.number or status.st_size < self.place:
                    fresh = History(self.path, status.st_ino)
                    fresh.take(file.read())
                    return fresh
                file.seek(self.place)
                self.take(file.read())
        except OSError:  # not yet, or not any more
            return History(self.path)
        return self

    def take(self, written: bytes) -> None:
        """Add whole lines; the rest waits for its end."""
        whole, newline, _ = written.rpartition(b"\n")
        self.place += len(whole) + len(newline)
        for line in whole.split(b"\n"):
            record = _record(line)
            match record.get("event"):
                case "stepped":
                    self._step(record)
                case "validated":
                    self.validations.append(_validation(record))
                case "finished":
                    self.finished = record

    def _step(self, record: dict[str, Any]) -> None:
        told = {name: _number(record.get(name)) for name in COLUMNS}
        before, since = (
            (column[-1] if column else 0.0)
            for column in (self.steps["update"], self.steps["seconds"])
        )
        n_tokens, now = _number(record.get("n_tokens")), told["seconds"]
        if n_tokens is not None and now is not None and now > (since or 0):
            # Every tenth update is told: its tokens stand for those of the others.
            n_updates = record["update"] - (before or 0)
            told["tokens_per_second"] = n_tokens * n_updates / (now - (since or 0))
        for name in COLUMNS:
            self.steps[name].append(told[name])
        self.epoch = int(_number(record.get("epoch")) or 0)

    @property
    def update(self) -> int:
        """How far the run is."""
        told = [self.steps["update"][-1:], [one["update"] for one in self.validations[-1:]]]
        last = max((int(one) for part in told for one in part if one is not None), default=0)
        return max(last, int((self.finished or {}).get("update", 0)))

    @property
    def seconds(self) -> float:
        """How long it has trained."""
        told = (self.finished or {}).get("seconds")
        return float(_number(told) or next(iter(self.steps["seconds"][-1:]), 0.0) or 0.0)

    @property
    def cursor(self) -> str:
        """Up to where a reader has everything."""
        return f"{self.number}-{len(self.steps['update'])}-{len(self.validations)}"

    def since(self, cursor: str) -> tuple[dict[str, Column], list[dict[str, Any]], bool]:
        """Steps and validations after a cursor; all of them, thinned, if it is not of this file."""
        parts = cursor.split("-")
        if len(parts) == 3 and all(one.isascii() and one.isdecimal() for one in parts):
            number, n_steps, n_validations = (int(one[:18]) for one in parts)
            if number == self.number and n_steps <= len(self.steps["update"]):
                tail = {name: column[n_steps:] for name, column in self.steps.items()}
                return tail, self.validations[n_validations:], False
        return thinned(self.steps, POINTS), self.validations, True


def thinned(steps: dict[str, Column], most: int) -> dict[str, Column]:
    """Not more than so many points: each the mean of its neighbours, at the last of them."""
    n = len(steps["update"])
    width = -(-n // most) if n else 1
    if width == 1:
        return steps
    starts = range(0, n, width)
    return {
        name: [_mean(column[i : i + width], is_last=name in ("update", "seconds")) for i in starts]
        for name, column in steps.items()
    }


def _mean(values: Column, *, is_last: bool) -> float | None:
    if is_last:
        return values[-1]
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _record(line: bytes) -> dict[str, Any]:
    """An event, or nothing where the line is none."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    has_update = isinstance(record, dict) and type(record.get("update")) is int
    return record if has_update else {}


def _validation(record: dict[str, Any]) -> dict[str, Any]:
    """What was measured; the quality's numbers stand beside the others."""
    told = record.get("quality")
    quality: dict[str, Any] = told if isinstance(told, dict) else {}
    names = ("seconds", "loss", "perplexity", "bits_per_character")
    return {
        "update": record["update"],
        **{name: _number(record.get(name)) for name in names},
        "bleu": _number(quality.get("bleu")),
        "chrf": _number(quality.get("chrf")),
        "is_best": bool(record.get("is_best")),
    }


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and math.isfinite(value) else None


@dataclass(frozen=True)
class Standing:
    """How a run stands."""

    name: str
    recipe: Recipe | None
    history: History
    state: State
    minutes: float | None  # its budget of time, if that is what was asked for
    silent: float  # seconds since it last wrote
    moments: tuple[int | None, ...]  # updates whose weights are there; None: those in use

    @property
    def n_read(self) -> float:
        """Tokens that are read for each one that is counted: a BERT counts those it has to find."""
        return system_of(self.recipe).n_read(self.recipe) if self.recipe else 1.0

    @property
    def updates(self) -> int | None:
        """How many there will be, where that is decided and no budget of time ends the run."""
        planned = self.recipe.training.updates if self.recipe else None
        return planned if isinstance(planned, int) and self.minutes is None else None


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
        silent, asked = _silent(folder), _recipe(folder, _REQUEST)
        return Standing(
            name,
            _recipe(folder, "recipe.toml") or asked,
            history,
            _state(history, silent),
            asked.training.minutes if asked and asked.training.has_budget else None,
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


def _recipe(folder: Path, name: str | Path) -> Recipe | None:
    path = folder / name
    try:
        return parse_recipe(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError, RegardError):
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
