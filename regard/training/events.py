"""What a training run tells of itself: frozen facts, shown or stored by whoever reads them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import torch

from regard.config import Recipe
from regard.evaluation import LabelQuality, Quality

if TYPE_CHECKING:
    from regard.training.prepared import Prepared
    from regard.training.run import Budget


@dataclass(frozen=True)
class Preparing:
    """The data are about to be read, which may take a while."""

    train: tuple[str, ...]


@dataclass(frozen=True)
class Progressed:
    """Something that is computed once before training has come so far."""

    what: str  # "features of pictures"
    n_done: int
    n_all: int


@dataclass(frozen=True, repr=False)
class DataRead:
    """The data are read: what became of them, and the recipe with what follows from them."""

    prepared: "Prepared"

    def __repr__(self) -> str:
        return f"DataRead({self.prepared.account.line()!r})"


@dataclass(frozen=True, repr=False)
class ModelBuilt:
    """The model is built, and its folder is made: what is trained, for how long and on what."""

    recipe: Recipe
    n_parameters: int
    folder: Path
    device: torch.device
    n_processes: int
    budget: "Budget | None" = None  # of time; none: so many updates as the recipe says

    def __repr__(self) -> str:
        return f"ModelBuilt({self.recipe.name!r}, n_parameters={self.n_parameters})"


@dataclass(frozen=True)
class Planned:
    """What a run would take, measured on a few updates that leave no trace: it is not begun."""

    recipe: Recipe
    is_budget: bool  # of time, and not a number of updates
    seconds: float  # of the budget, or of all updates
    seconds_an_update: float
    epochs: float
    memory: int  # bytes: the most that this process has held


@dataclass(frozen=True)
class Stepped:
    """One update of the weights is done."""

    update: int
    epoch: int
    loss: float  # per target token, with label smoothing
    # What this update predicted, over all processes: target tokens, masked tokens or labels.
    n_tokens: int
    learning_rate: float
    gradient_norm: float
    seconds: float  # spent training so far, over all sessions of this run
    # Of each phase, by the part of the model that learned in it, where there are several.
    losses: Mapping[str, float] = field(default_factory=dict)
    share: float = 0.0  # of the run that is behind: of its updates, or of its budget of time


@dataclass(frozen=True)
class Validating:
    """The model is about to be measured on held-out data, which may take a while."""

    update: int


@dataclass(frozen=True)
class Sample:
    """A held-out example and what the model makes of it."""

    given: str
    output: str
    reference: str | None = None  # what the output should be, where that is known


@dataclass(frozen=True)
class Control:
    """The loss on held-out data of what no model should be worse than.

    ``other sources``: the model itself, given the source of another example; ``frequency``: tokens
    (or labels) by how often they come, for a model without a source.
    """

    name: Literal["other sources", "frequency"]
    loss: float


@dataclass(frozen=True, repr=False)
class Validated:
    """The model was measured on held-out data."""

    update: int
    loss: float  # per target token, without label smoothing
    perplexity: float
    quality: Quality | LabelQuality | None  # of greedy translations, or of labels, where asked for
    is_best: bool
    seconds: float
    bits_per_character: float | None = None  # of a language model: whatever its tokens are
    # The share of outputs that are one and the same, where references differ more.
    repeated: float | None = None
    control: Control | None = None
    samples: tuple[Sample, ...] = ()

    def __repr__(self) -> str:
        measured = "" if self.quality is None else f", {self.quality.summary}"
        return f"Validated(update={self.update}, loss={self.loss:.4g}{measured})"


@dataclass(frozen=True)
class Saved:
    """The run can be continued from here."""

    update: int
    path: str


@dataclass(frozen=True)
class Finished:
    """The run is over, and the model folder holds its best weights."""

    update: int
    reason: str
    chosen: str  # which weights the folder keeps: "best", "average of the last 5", ...
    seconds: float


Event = (
    Preparing
    | Progressed
    | DataRead
    | ModelBuilt
    | Planned
    | Stepped
    | Validating
    | Validated
    | Saved
    | Finished
)
