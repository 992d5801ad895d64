"""Fully sharded data parallel (FSDP2): each process keeps only its share of weights and moments.

torch's own modules for it take half a second to import, so they come when a model is sharded.
"""

import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import nn

from regard.models import Transformer
from regard.shapes import Tensor
from regard.training.distributed import Ranks


def shard(model: Transformer) -> None:
    """Spread a model over the processes, layer by layer; gradients are summed, not averaged."""
    from torch.distributed.fsdp import FSDPModule, fully_shard, register_fsdp_forward_method

    for layer in [*model.encoder.layers, *model.decoder.layers]:
        fully_shard(layer)
    fully_shard(model)
    register_fsdp_forward_method(model, "hidden")
    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.set_gradient_divide_factor(1.0)
            module.set_force_sum_reduction_for_comms(True)  # gloo knows no scaled sum


def is_sharded(model: nn.Module) -> bool:
    """Whether a model is spread over processes."""
    if "torch.distributed.fsdp" not in sys.modules:
        return False
    from torch.distributed.fsdp import FSDPModule

    return isinstance(model, FSDPModule)


def reshard(model: nn.Module) -> None:
    """Give up what other processes' shares were gathered for, where a model is sharded."""
    if is_sharded(model):
        model.reshard()  # type: ignore[operator]


class ShardedUpdater:
    """What :class:`~regard.training.updater.Updater` does, for a sharded model."""

    def __init__(
        self,
        model: nn.Module,
        *,
        betas: tuple[float, float] = (0.9, 0.98),
        epsilon: float = 1e-9,
        weight_decay: float = 0.0,
        ema: float | None = None,
    ) -> None:
        self._named = {n: p for n, p in model.named_parameters() if p.requires_grad}
        self._adam = torch.optim.AdamW(
            list(self._named.values()), betas=betas, eps=epsilon, weight_decay=weight_decay
        )
        self.n_updates = 0
        self.ema = ema
        self._average = (
            None if ema is None else {n: p.detach().clone() for n, p in self._named.items()}
        )

    def reduce(self, ranks: Ranks) -> None:
        """Nothing is left to do: gradients were summed as they came."""

    def update(self, learning_rate: float, divisor: float, clip: float | None) -> float:
        """Divide the summed gradient, clip it, take a step, forget it; gives its norm."""
        gradients = [p.grad for p in self._named.values() if p.grad is not None]
        total = nn.utils.get_total_norm(gradients)
        norm = float(_whole(total)) / divisor
        if math.isfinite(norm):
            factor = 1.0 if clip is None or norm <= clip else clip / norm
            for gradient in gradients:
                gradient.mul_(factor / divisor)
            self._adam.param_groups[0]["lr"] = learning_rate
            self._adam.step()
            self.n_updates += 1
            self._follow()
        self._adam.zero_grad()
        return norm

    def _follow(self) -> None:
        if self._average is None or self.ema is None:
            return
        decay = min(self.ema, (1 + self.n_updates) / (10 + self.n_updates))
        with torch.no_grad():
            for name, average in self._average.items():
                average.mul_(decay).add_(self._named[name], alpha=1 - decay)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Within, the model has its averaged weights (its own, where no average is kept)."""
        if self._average is None:
            yield
            return
        own = {name: p.detach().clone() for name, p in self._named.items()}
        self._load(self._average)
        try:
            yield
        finally:
            self._load(own)

    def _load(self, values: dict[str, Tensor]) -> None:
        with torch.no_grad():
            for name, value in values.items():
                self._named[name].copy_(value)

    def state(self) -> dict[str, Tensor]:
        """What must be kept beside the weights to go on exactly; all processes must ask."""
        kept: dict[str, Tensor] = {}
        for name, parameter in self._named.items():
            moments = self._adam.state.get(parameter, {})
            for key in ("exp_avg", "exp_avg_sq"):
                if key in moments:
                    kept[f"{key}.{name}"] = _whole(moments[key])
            if self._average is not None:
                kept[f"average.{name}"] = _whole(self._average[name])
        return kept

    def restore(self, state: dict[str, Tensor], n_updates: int) -> None:
        """Go on from kept state; the model's weights were loaded in place before."""
        self.n_updates = n_updates
        for name, parameter in self._named.items():
            if f"exp_avg.{name}" in state:
                self._adam.state[parameter] = {
                    "step": torch.tensor(float(n_updates)),
                    "exp_avg": _spread(state[f"exp_avg.{name}"], parameter),
                    "exp_avg_sq": _spread(state[f"exp_avg_sq.{name}"], parameter),
                }
            if self._average is not None and f"average.{name}" in state:
                self._average[name] = _spread(state[f"average.{name}"], parameter)


def whole_weights(model: nn.Module) -> dict[str, Tensor]:
    """The full weights of a sharded model; all processes must ask."""
    gathered: dict[int, Tensor] = {}
    weights: dict[str, Tensor] = {}
    for name, tensor in model.state_dict().items():
        # Tied weights are one tensor under several names, and stay so.
        local = getattr(tensor, "_local_tensor", tensor)  # of a DTensor
        key = id(local)
        if key not in gathered:
            gathered[key] = _whole(tensor)
        weights[name] = gathered[key]
    return weights


def spread_weights(model: nn.Module, weights: dict[str, Tensor]) -> None:
    """Give each process its share of full weights."""
    own = model.state_dict()
    with torch.no_grad():
        for name, tensor in weights.items():
            own[name].copy_(_spread(tensor, own[name]))


def _whole(tensor: Tensor) -> Tensor:
    from torch.distributed.tensor import DTensor

    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def _spread(tensor: Tensor, like: Tensor) -> Tensor:
    from torch.distributed.tensor import DTensor, distribute_tensor

    if isinstance(like, DTensor):
        return distribute_tensor(tensor.to(like.device), like.device_mesh, like.placements)
    return tensor.to(like.device)
