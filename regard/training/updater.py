"""Adam over one flat buffer: every weight, gradient and moment of a model lies end to end."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import nn

from regard.engine import Adam, adam_step, gradient_norm
from regard.shapes import Float, Tensor
from regard.training.distributed import Ranks

_LINE = 16  # numbers in 64 bytes: every parameter starts on a line of the processor's cache


class Updater:
    """Turns gradients into new weights, and keeps a moving average of them where asked.

    The model's parameters become views of one buffer, so that a sum over processes, a norm, an
    update or an average is one operation whatever the number of layers. Tied parameters lie in it
    once.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        betas: tuple[float, float] = (0.9, 0.98),
        epsilon: float = 1e-9,
        weight_decay: float = 0.0,
        ema: float | None = None,
    ) -> None:
        parameters = [p for p in model.parameters() if p.requires_grad]
        first = parameters[0]
        sizes = [-(-p.numel() // _LINE) * _LINE for p in parameters]
        self.weights = first.new_zeros(sum(sizes)).detach()
        self.gradient = torch.zeros_like(self.weights)
        start = 0
        for parameter, size in zip(parameters, sizes, strict=True):
            place = slice(start, start + parameter.numel())
            self.weights[place].copy_(parameter.detach().flatten())
            parameter.data = self.weights[place].view_as(parameter)
            parameter.grad = self.gradient[place].view_as(parameter)
            start += size
        self._adam = Adam(betas, epsilon, weight_decay)
        self._moments = (torch.zeros_like(self.weights), torch.zeros_like(self.weights))
        self.n_updates = 0
        self.ema = ema
        self.average = self.weights.clone() if ema is not None else None
        self._statistics = _statistics(model)
        self._mean_statistics = [one.clone() for one in self._statistics]

    def update(self, learning_rate: float, divisor: float, clip: float | None) -> float:
        """Divide the summed gradient, clip it, take a step, forget it; gives its norm.

        A gradient that is not finite changes nothing: the caller sees it in the norm.
        """
        norm = gradient_norm(self.gradient) / divisor
        if norm == norm and norm != float("inf"):
            factor = 1.0 if clip is None or norm <= clip else clip / norm
            self._step(learning_rate, factor / divisor)
        else:
            self.gradient.zero_()
        return norm

    def _step(self, learning_rate: float, factor: float) -> None:
        self.n_updates += 1
        adam_step(
            self._adam,
            self.weights,
            self.gradient,
            self._moments,
            factor=factor,
            rate=learning_rate,
            step=self.n_updates,
        )
        if self.average is not None and self.ema is not None:
            # Early on the average follows faster, so that it does not remember the first weights.
            decay = min(self.ema, (1 + self.n_updates) / (10 + self.n_updates))
            self.average.lerp_(self.weights, 1 - decay)
            for mean, now in zip(self._mean_statistics, self._statistics, strict=True):
                mean.lerp_(now, 1 - decay)

    def reduce(self, ranks: Ranks) -> None:
        """Add up the gradients of all processes, and let them have the same statistics."""
        ranks.sum(self.gradient)
        if ranks.n_ranks > 1:
            for one in self._statistics:
                ranks.sum(one).div_(ranks.n_ranks)

    @contextmanager
    def averaged(self) -> Iterator[None]:
        """Within, the model has its averaged weights (its own, where no average is kept)."""
        if self.average is None:
            yield
            return
        places = [self.weights, *self._statistics]
        own = [place.clone() for place in places]
        _put(places, [self.average, *self._mean_statistics])
        try:
            yield
        finally:
            _put(places, own)

    def state(self) -> dict[str, Float[Tensor, "N"]]:
        """What must be kept beside the weights to go on exactly."""
        kept = {"moment.first": self._moments[0], "moment.second": self._moments[1]}
        if self.average is not None:
            kept["average"] = self.average
            if self._mean_statistics:
                flat = [one.flatten() for one in self._mean_statistics]
                kept["average.statistics"] = torch.cat(flat)
        return kept

    def restore(self, state: dict[str, Tensor], n_updates: int) -> None:
        """Go on from kept state; the model's weights were loaded in place before."""
        self._moments[0].copy_(state["moment.first"])
        self._moments[1].copy_(state["moment.second"])
        if self.average is not None:
            self.average.copy_(state.get("average", self.weights))
        kept = state.get("average.statistics")
        for mean, now in zip(self._mean_statistics, self._statistics, strict=True):
            if kept is None:  # a run of before they were averaged
                mean.copy_(now)
            else:
                mean.copy_(kept[: mean.numel()].view_as(mean))
                kept = kept[mean.numel() :]
        self.n_updates = n_updates


def _statistics(model: nn.Module) -> list[Tensor]:
    """What a model counts as it learns, such as the means of batch normalisation.

    What weights have learned holds for the statistics of their time: both are averaged alike.
    """
    saved = model.state_dict(keep_vars=True).keys()
    buffers = (one for name, one in model.named_buffers() if name in saved)
    return [one for one in buffers if one.is_floating_point()]


def _put(places: Sequence[Tensor], values: Sequence[Tensor]) -> None:
    with torch.no_grad():
        for place, value in zip(places, values, strict=True):
            place.copy_(value)
