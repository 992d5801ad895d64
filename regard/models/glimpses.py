"""The Recurrent Attention Model: a picture, looked at glimpse by glimpse.

Mnih, Heess, Graves and Kavukcuoglu (2014), "Recurrent Models of Visual Attention". A retina sees a
small patch sharply and larger ones around it ever more coarsely; a recurrent core remembers what
was seen; a locator says where to look next, and an action network what the picture shows. The cost
of a glimpse does not depend on the size of the picture.

A place is ``(x, y)``, each from -1 (left, top) to 1. Places are drawn by lot while training and
cannot be derived through: what is shown is learned by the loss of classification, where to look by
REINFORCE alone.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention import Probe, Site
from regard.errors import SizeError, UsageError
from regard.models.model import Model
from regard.models.reinforce import MovingAverage
from regard.shapes import Bool, Float, Int, Tensor

LOCATORS = ("learned", "frozen", "random", "centre", "raster")
BASELINES = ("learned", "average", "none")
FEEDBACKS = ("last", "every", "alone")
SIGHTS = ("state", "glimpse")
CORES: dict[str, Callable[[int, int], nn.LSTMCell | nn.RNNCell]] = {
    "lstm": nn.LSTMCell,
    "rnn": partial(nn.RNNCell, nonlinearity="relu"),
}

Places = Float[Tensor, "B T 2"]


class Retina(nn.Module):
    """Patches around a place, all of ``side × side`` numbers: each shows twice as much as before.

    Patch k is the mean of squares of 2ᵏ × 2ᵏ pixels; outside of the picture is black. Two probes
    have one head a scale: ``contexts`` is what is seen, ``weights`` how the patches lie on the
    cells of a grid, which follows from the place and changes nothing.
    """

    def __init__(self, side: int, n_scales: int, size: int, n_cells: int) -> None:
        super().__init__()
        if min(side, n_scales, n_cells) < 1 or size < side:
            raise SizeError(
                f"a retina of {n_scales} × {side} × {side} does not fit a picture of {size} pixels"
            )
        self.side, self.n_scales, self.size, self.n_cells = side, n_scales, size, n_cells
        self.weights, self.contexts = Probe(), Probe()

    @property
    def n_heads(self) -> int:
        """One a scale, for those who look at it as attention."""
        return self.n_scales

    @property
    def sides(self) -> tuple[int, ...]:
        """Pixels each way that the patches show."""
        return tuple(self.side * 2**k for k in range(self.n_scales))

    def forward(
        self, pictures: Float[Tensor, "B Z Y X"], places: Float[Tensor, "B 2"]
    ) -> Float[Tensor, "B P"]:
        """All patches around a place of each picture, as one row of numbers from 0 to 1.

        Only what is seen is touched, so that the size of the picture costs nothing.
        """
        height, width = pictures.shape[2:]
        if (height, width) != (self.size, self.size):
            raise SizeError(
                f"pictures of {height} × {width} were given to a retina for {self.size} × "
                f"{self.size}"
            )
        centres = self.centres(places)
        patches = [self._patch(pictures, centres, side) for side in self.sides]
        if self.weights.is_watched:
            self.weights(self._footprints(centres))
        seen: Tensor = self.contexts(torch.stack(patches, 1).flatten(2)[:, :, None])
        return seen.flatten(1)

    def _patch(
        self, pictures: Float[Tensor, "B Z Y X"], centres: Int[Tensor, "B 2"], side: int
    ) -> Float[Tensor, "B Z R R"]:
        """One patch: ``R (p + 1) Cᵀ / 2`` with p its pixels, R and C the means of rows and columns.

        Where a row or column lies outside, so that p is another's, the mean has a weight of 0.
        """
        rows, channels, _, width = pictures.shape
        along = torch.arange(side, device=pictures.device) - side // 2
        at = centres[:, :, None] + along
        x, y = at.clamp(0, self.size - 1).unbind(1)
        pixels = torch.add(x[:, None, :], y[:, :, None], alpha=width).flatten(1)
        found = pictures.flatten(2).gather(2, pixels[:, None].expand(-1, channels, -1))
        patch = found.view(rows, channels, side, side)
        across, down = ((at >= 0) & (at < self.size)).to(pictures)[:, None].unbind(2)
        scale = side // self.side
        if scale > 1:
            means = torch.eye(self.side, device=pictures.device, dtype=pictures.dtype)
            means = means.repeat_interleave(scale, 1) / scale
            row_means, column_means = means * down[..., None, :], means * across[..., None, :]
            patch = row_means @ patch @ column_means.mT
            shares = row_means.sum(-1)[..., None] * column_means.sum(-1)[..., None, :]
            return (patch + shares) / 2
        return (patch + 1) / 2 * (down[..., None] * across[..., None, :])

    def centres(self, places: Float[Tensor, "*B 2"]) -> Int[Tensor, "*B 2"]:
        """The pixel that each place is at, as x and y."""
        return ((places.clamp(-1, 1) + 1) / 2 * self.size).round().long()

    def _footprints(self, centres: Int[Tensor, "B 2"]) -> Float[Tensor, "B H 1 K"]:
        """Of each patch, how it lies on the cells of the picture: shares of one."""
        edges = torch.linspace(0, self.size, self.n_cells + 1, device=centres.device)
        shares = []
        for side in self.sides:
            low = (centres - side // 2)[..., None].float()
            overlap = torch.minimum(edges[1:], low + side) - torch.maximum(edges[:-1], low)
            x, y = overlap.clamp(min=0).unbind(1)
            area = (y[:, :, None] * x[:, None, :]).flatten(1)
            shares.append(area / area.sum(1, keepdim=True).clamp(min=1e-9))
        return torch.stack(shares, 1)[:, :, None]


class GlimpseNetwork(nn.Module):
    """What and where as one vector: ``g = relu(A relu(θ⁰ ρ) + B relu(θ¹ l))``, A and B being θ²."""

    def __init__(self, d_patch: int, d_part: int, d_glimpse: int) -> None:
        super().__init__()
        self.what, self.where = nn.Linear(d_patch, d_part), nn.Linear(2, d_part)
        self.both = nn.Linear(2 * d_part, d_glimpse)

    def forward(
        self, patches: Float[Tensor, "B P"], places: Float[Tensor, "B 2"]
    ) -> Float[Tensor, "B D"]:
        """The vector of a glimpse."""
        parts = torch.cat([self.what(patches), self.where(places)], 1)
        return F.relu(self.both(F.relu(parts)))


class Core(nn.Module):
    """What remembers the glimpses: an LSTM, or ``h = relu(W h + U g)`` as in the paper."""

    def __init__(self, name: str, d_glimpse: int, d_hidden: int) -> None:
        super().__init__()
        if name not in CORES:
            raise UsageError(f"there is no core {name!r}: choose {' or '.join(CORES)}")
        self.unit = CORES[name](d_glimpse, d_hidden)

    def forward(
        self, glimpse: Float[Tensor, "B D"], state: tuple[Tensor, ...] | None
    ) -> tuple[Float[Tensor, "B H"], tuple[Tensor, ...]]:
        """The state after one more glimpse, and all that is remembered."""
        if isinstance(self.unit, nn.LSTMCell):
            h, c = self.unit(glimpse, state)
            return h, (h, c)
        h = self.unit(glimpse, None if state is None else state[0])
        return h, (h,)


class Locator(nn.Module):
    """Where to look next: the middle of a normal distribution, ``tanh(V relu(W h))``.

    With ``d_patch``, ``tanh(V relu(W h + E [ρ, l]))``: it also sees the glimpse itself, by weights
    of its own. What the core remembers is learned to tell labels, and says little of places.
    """

    def __init__(self, d_hidden: int, d_patch: int | None = None) -> None:
        super().__init__()
        self.hidden = nn.Linear(d_hidden, d_hidden // 2)
        self.place = nn.Linear(d_hidden // 2, 2)
        self.eye = None if d_patch is None else nn.Linear(d_patch + 2, d_hidden // 2)

    def forward(
        self,
        state: Float[Tensor, "B H"],
        patches: Float[Tensor, "B P"],
        places: Float[Tensor, "B 2"],
    ) -> Float[Tensor, "B 2"]:
        """The most probable place after a glimpse."""
        hidden: Tensor = self.hidden(state)
        if self.eye is not None:
            hidden = hidden + self.eye(torch.cat([patches, places], 1))
        return torch.tanh(self.place(F.relu(hidden)))


@dataclass(frozen=True)
class Glimpsed:
    """What came of looking: where it looked, what it believed after each glimpse, and the lots.

    The first place is given or drawn; the draws are of the others.
    """

    places: Places
    logits: Float[Tensor, "B T C"]
    log_probability: Float[Tensor, "B U"]  # of every place but the first, which the locator drew
    expected: Float[Tensor, "B U"]  # the reward, before each of those
    alone: Float[Tensor, "B T C"] | None = None  # the logits of what each glimpse tells by itself


class RecurrentAttention(Model):
    """A retina that is led over a picture, and a label at the end.

    ``locator`` is "learned", or for comparison "frozen" (as it was first), "random" (places drawn
    alike), "centre" or "raster" (row by row). ``deviation`` is that of the places drawn while
    training, and falls to ``least_deviation`` as the reward expected rises to 1: who knows looks
    closely. In use the most probable place is taken. ``feedback`` is what it learns by: the
    label after the "last" glimpse as in the paper, what is believed after "every" one, or as much
    by what each glimpse tells "alone": who knows the label goes on looking at the object.
    ``locator_sees`` the core's "state" as in the paper, or the last "glimpse" too.
    """

    def __init__(
        self,
        n_labels: int,
        retina: Retina,
        *,
        n_channels: int = 1,
        n_glimpses: int = 6,
        core: str = "lstm",
        d_hidden: int = 256,
        deviation: float = 0.1,
        least_deviation: float | None = None,
        locator: str = "learned",
        baseline: str = "learned",
        feedback: str = "last",
        locator_sees: str = "state",
    ) -> None:
        super().__init__(padding=0)
        choices = ((locator, LOCATORS), (baseline, BASELINES), (feedback, FEEDBACKS))
        for given, known in (*choices, (locator_sees, SIGHTS)):
            if given not in known:
                raise UsageError(f"there is no {given!r} here: choose one of {', '.join(known)}")
        if n_glimpses < 1 or n_labels < 1 or deviation <= 0:
            raise SizeError(
                f"{n_glimpses} glimpses, {n_labels} labels and a deviation of {deviation} make no "
                "model: give 1 or more, and more than 0"
            )
        self.n_glimpses, self.policy = n_glimpses, locator
        self.deviation = deviation
        self.least_deviation = deviation if least_deviation is None else least_deviation
        self.feedback, self.retina = feedback, retina
        d_patch = n_channels * retina.n_scales * retina.side**2
        self.glimpse = GlimpseNetwork(d_patch, d_hidden // 2, d_hidden)
        self.core = Core(core, d_hidden, d_hidden)
        seen = d_patch if locator_sees == "glimpse" else None
        self.locator = Locator(d_hidden, seen).requires_grad_(locator == "learned")
        self.output = nn.Linear(d_hidden, n_labels)
        self.expecting = nn.Linear(d_hidden, 1) if baseline == "learned" else None
        self.average = MovingAverage() if baseline == "average" else None
        self.alone = nn.Linear(d_hidden, n_labels) if feedback == "alone" else None

    @property
    def draws(self) -> bool:
        """Whether places are learned, and drawn while they are."""
        return self.policy == "learned"

    def forward(
        self, pictures: Float[Tensor, "B Z Y X"], first: Float[Tensor, "B 2"] | None = None
    ) -> Float[Tensor, "B C"]:
        """The logits of what each picture shows, after the last glimpse."""
        return self.look(pictures, first).logits[:, -1]

    def look(
        self,
        pictures: Float[Tensor, "B Z Y X"],
        first: Float[Tensor, "B 2"] | None = None,
        path: Places | None = None,
    ) -> Glimpsed:
        """Glimpse after glimpse, from a first place on, or along a path that is given.

        Without a first place it is drawn, as all are while training.
        """
        if path is None and self.policy in ("random", "centre", "raster"):
            path = self.path(len(pictures), self.policy, pictures)
        place = first if first is not None else _anywhere(len(pictures), pictures)
        places, states, state = list[Tensor](), list[Tensor](), None
        glimpses = list[Tensor]()
        drawn = list[tuple[Tensor, Tensor]]()
        for t in range(self.n_glimpses):
            if path is not None:
                place = path[:, t]
            elif t:
                mean = self.locator(states[-1].detach(), patches, place)
                place, *chance = self._drawn(mean, states[-1].detach())
                drawn.append((chance[0], chance[1]))
            places.append(place)
            patches: Tensor = self.retina(pictures, place)
            glimpses.append(self.glimpse(patches, place))
            h, state = self.core(glimpses[-1], state)
            states.append(h)
        none = pictures.new_zeros(len(pictures), 0)
        chances, expected = (
            (torch.stack(one, 1) for one in zip(*drawn, strict=True)) if drawn else (none, none)
        )
        logits = self.logits(self.output(torch.stack(states, 1)))
        alone = None if self.alone is None else self.alone(torch.stack(glimpses, 1).detach())
        return Glimpsed(torch.stack(places, 1), logits, chances, expected, alone)

    def path(self, n: int, policy: str, like: Tensor) -> Places:
        """Places that do not depend on the picture: "random", "centre" or "raster"."""
        n_glimpses = self.n_glimpses
        if policy == "random":
            return _anywhere(n * n_glimpses, like).view(n, n_glimpses, 2)
        path = like.new_zeros(n_glimpses, 2)
        if policy == "raster":
            columns = math.ceil(math.sqrt(n_glimpses))
            rows = math.ceil(n_glimpses / columns)
            at = torch.arange(n_glimpses, device=like.device)
            x, y = 2 * (at % columns + 0.5) / columns - 1, 2 * (at // columns + 0.5) / rows - 1
            path = torch.stack([x, y], 1).to(like.dtype)
        return path.expand(n, -1, -1)

    def _drawn(
        self, mean: Float[Tensor, "B 2"], state: Float[Tensor, "B H"]
    ) -> tuple[Float[Tensor, "B 2"], Float[Tensor, "B"], Float[Tensor, "B"]]:
        """The next place, ``log p`` of it but for a constant, and the reward expected before it.

        No gradient comes back from a place. One that is drawn may lie outside: it counts as drawn,
        and the retina stays at the edge.
        """
        expected = torch.zeros_like(mean[:, 0])
        if self.expecting is not None:
            expected = self.expecting(state)[:, 0]
        sure = expected.detach().clamp(0, 1)[:, None]
        deviation = self.deviation + (self.least_deviation - self.deviation) * sure
        place = mean.detach()
        if self.training:
            place = place + deviation * torch.randn_like(place)
        return place, -0.5 * ((place - mean) / deviation).square().sum(-1), expected

    @property
    def sites(self) -> tuple[Site, ...]:
        """One look a glimpse, one head a scale."""
        return (Site("cross", 0, "retina.weights"),)


def _anywhere(n: int, like: Tensor) -> Float[Tensor, "B 2"]:
    return 2 * torch.rand(n, 2, device=like.device, dtype=like.dtype) - 1


def inside(places: Places, boxes: Int[Tensor, "B 4"], size: int) -> Bool[Tensor, "B T"]:
    """Whether each place lies in the box of its picture, in pixels: x0, y0, x1, y1."""
    at = (places + 1) / 2 * size
    low, high = boxes[:, None, :2], boxes[:, None, 2:]
    return ((at >= low) & (at <= high)).all(-1)
