"""The phases of an update: who learns when, each with an updater of its own."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager

import torch
from torch import nn

from regard.config import TrainingSection, known
from regard.shapes import Tensor
from regard.training.sharded import ShardedUpdater
from regard.training.tasks import Phase
from regard.training.updater import Updater


class PhasedUpdater:
    """All that an update changes: one updater a phase, kept and averaged as one."""

    def __init__(self, model: nn.Module, phases: Sequence[Phase], recipe: TrainingSection) -> None:
        kind = ShardedUpdater if recipe.shard else Updater
        self._phases = tuple(phases)
        parts = [model.get_submodule(phase.part) for phase in phases]
        self._learned = [[p for p in part.parameters() if p.requires_grad] for part in parts]
        ema = None if recipe.ema is None else known(recipe.ema, "training.ema")
        self._updaters: list[Updater | ShardedUpdater] = [
            kind(
                part,
                betas=recipe.betas,
                epsilon=recipe.epsilon,
                weight_decay=recipe.weight_decay,
                ema=ema if phase.is_averaged else None,
            )
            for phase, part in zip(phases, parts, strict=True)
        ]

    def __iter__(self) -> Iterator[tuple[Phase, Updater | ShardedUpdater]]:
        """Each phase with its updater; while it lasts, no other weights have gradients."""
        if len(self._phases) == 1:
            yield self._phases[0], self._updaters[0]
            return
        try:
            for n, (phase, updater) in enumerate(zip(self._phases, self._updaters, strict=True)):
                for other, parameters in enumerate(self._learned):
                    _require_gradients(parameters, is_needed=other == n)
                yield phase, updater
        finally:
            for parameters in self._learned:
                _require_gradients(parameters, is_needed=True)

    @property
    def n_updates(self) -> int:
        """How many steps the first phase has taken."""
        return self._updaters[0].n_updates

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Within, the model has its averaged weights (its own, where no average is kept)."""
        with ExitStack() as stack:
            for updater in self._updaters:
                stack.enter_context(updater.averaged())
            yield

    def state(self) -> dict[str, Tensor]:
        """What must be kept beside the weights to go on exactly; all processes must ask."""
        if len(self._phases) == 1:
            return self._updaters[0].state()
        kept: dict[str, Tensor] = {}
        for phase, updater in zip(self._phases, self._updaters, strict=True):
            kept |= {f"{phase.part}.{key}": one for key, one in updater.state().items()}
            # A phase whose gradient overflowed has taken fewer steps than the others.
            kept[f"{phase.part}.steps"] = torch.tensor(updater.n_updates)
        return kept

    def restore(self, state: dict[str, Tensor], n_updates: int) -> None:
        """Go on from kept state; the model's weights were loaded in place before."""
        if len(self._phases) == 1:
            self._updaters[0].restore(state, n_updates)
            return
        for phase, updater in zip(self._phases, self._updaters, strict=True):
            prefix = f"{phase.part}."
            mine = {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}
            updater.restore(mine, int(mine["steps"]))


def _require_gradients(parameters: Sequence[nn.Parameter], *, is_needed: bool) -> None:
    for parameter in parameters:
        parameter.requires_grad_(is_needed)
