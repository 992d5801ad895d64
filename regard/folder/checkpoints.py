"""The checkpoints of a run: one folder for each, complete or not there.

training/checkpoints/000400/weights.safetensors
                            state.safetensors, state.json
                            CHECKSUMS
training/checkpoints/BEST   the number of the best one
"""

import logging
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torch import nn

from regard.errors import UsageError
from regard.files import (
    checksum,
    expected_checksums,
    remove_folder,
    remove_leftovers,
    whole_folder,
    write_checksums,
    write_text,
)
from regard.folder.training_state import TENSORS, VALUES, load_state, save_state
from regard.folder.weights import WEIGHTS, Weights, read_weights, write_weights
from regard.shapes import Tensor

BEST = "BEST"
PLACE = Path("training") / "checkpoints"

_FILES = (WEIGHTS, TENSORS, VALUES)
# One that stepped aside for itself is .000400.old; earlier versions called it 000400.old.
_NAME = re.compile(r"(\d+)|\.?(\d+)\.old")

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Checkpoint:
    """One moment of a run."""

    step: int
    path: Path

    def weights(self) -> dict[str, Tensor]:
        """The weights, each tied tensor once."""
        return read_weights(self.path / WEIGHTS)

    def state(self) -> dict[str, Any]:
        """What else the run needs to go on."""
        return load_state(self.path)

    def problem(self) -> str | None:
        """What is wrong with it, or ``None`` when every byte is as it was written."""
        try:
            expected = expected_checksums(self.path)
            for name in _FILES:
                if checksum(self.path / name) not in expected.get(name, []):
                    return f"{name} is not as it was written"
        except OSError as error:
            return f"{Path(error.filename or self.path).name}: {error.strerror}"
        return None


class Checkpoints:
    """The checkpoints in a model folder: the newest ``keep`` of them, and the best."""

    def __init__(self, folder: str | Path, keep: int = 5) -> None:
        if keep < 1:
            raise UsageError(f"keep = {keep} checkpoints is not possible: keep at least 1")
        self.folder = Path(folder) / PLACE
        self.keep = keep

    def save(
        self,
        step: int,
        weights: nn.Module | Weights,
        state: Mapping[str, Any],
        *,
        is_best: bool = False,
    ) -> Checkpoint:
        """Keep this moment, then let go of those too old to keep."""
        self.folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(self.folder)
        path = self.folder / f"{step:06d}"
        with whole_folder(path) as filling:
            write_weights(filling / WEIGHTS, weights)
            save_state(filling, state)
            write_checksums(filling)
        if is_best:
            write_text(self.folder / BEST, f"{step}\n")
        self.prune()
        return Checkpoint(step, path)

    def latest(self) -> Checkpoint | None:
        """The newest whose every byte is as it was written; damaged ones are passed over."""
        return next(self._sound(), None)

    def last(self, n: int) -> tuple[Checkpoint, ...]:
        """The newest ``n`` sound ones (or as many as there are), the oldest first."""
        sound = self._sound()
        return tuple(one for _, one in zip(range(n), sound, strict=False))[::-1]

    @property
    def best(self) -> Checkpoint | None:
        """The one that was saved as the best, if there is one and it is sound."""
        step = self._best_step()
        return None if step is None else next(self._sound(step), None)

    def all(self) -> tuple[Checkpoint, ...]:
        """All that are there, sound or not, the oldest first."""
        found = []
        for path in self.folder.glob("*"):
            name = _NAME.fullmatch(path.name)
            if name and path.is_dir():
                found.append((int(name[1] or name[2]), name[2] is None, path))
        return tuple(Checkpoint(step, path) for step, _, path in sorted(found))

    def prune(self) -> None:
        """Remove what is neither among the newest ``keep`` nor the best."""
        best = self._best_step()
        there = self.all()
        for one in there[: -self.keep]:
            if one.step == best:
                continue
            try:
                remove_folder(one.path)
            except OSError as error:  # no reason to end a run
                _log.warning("%s cannot be removed: %s", one.path, error.strerror)

    def _sound(self, step: int | None = None) -> Iterator[Checkpoint]:
        """Those as they were written, the newest first; only those of one step, where given."""
        for one in reversed(self.all()):
            if step is not None and one.step != step:
                continue
            problem = one.problem()
            if problem is None:
                yield one
            else:
                _log.warning("%s is damaged (%s) and is passed over", one.path, problem)

    def _best_step(self) -> int | None:
        try:
            return int((self.folder / BEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
