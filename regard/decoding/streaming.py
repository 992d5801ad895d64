"""Streaming: tokens as they are generated, for one text or for many at once.

Each text is drawn by its own random numbers, so that what else is in the batch changes nothing. A
model that sees ``context`` tokens at once reads the last half of them anew when they are full.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from regard.decoding.choices import Sampling
from regard.decoding.ranking import log_sum_exp, top
from regard.decoding.sampling import draw
from regard.errors import UsageError
from regard.models.interface import Step
from regard.shapes import Float, Tensor
from regard.special import BOS, EOS, PAD


@dataclass(frozen=True)
class Written:
    """A token, and how probable it was."""

    token: int
    log_probability: float


@dataclass(frozen=True)
class Slid:
    """The context was full: only its last words are seen from here on."""

    n_seen: int
    of: int  # words there were


@dataclass(frozen=True)
class Opening:
    """How a text begins, and how it goes on; without sampling by the most probable token.

    What is drawn is what :func:`~regard.decoding.sampling.sample` draws from this seed for a source
    of this ``number``. For a model that translates, the prompt is the source.
    """

    prompt: Sequence[int]
    sampling: Sampling | None
    most: int
    number: int = 0

    def __post_init__(self) -> None:
        if not self.prompt or self.most < 1:
            raise UsageError(
                f"a prompt of {len(self.prompt)} tokens and {self.most} to write are not possible: "
                "both are 1 or more; <BOS> is the prompt of a text that begins"
            )


@dataclass(eq=False)
class _Row:
    """A text that is being written."""

    place: int
    opening: Opening
    seen: list[int] = field(init=False)
    chance: random.Random = field(init=False)
    drawn_as: Sampling | None = field(init=False)  # equal for rows drawn together: without the seed
    n_written: int = 0

    def __post_init__(self) -> None:
        chosen = self.opening.sampling
        self.seen = list(self.opening.prompt)
        seed = (chosen or Sampling()).seed
        self.chance = random.Random(f"{seed} {self.opening.number} 0")  # noqa: S311 - no secret
        self.drawn_as = chosen and Sampling(chosen.temperature, chosen.top_k, chosen.top_p)


@dataclass
class _Group:
    """Rows whose prompts were read together, and the model's state for them."""

    rows: list[_Row]
    state: Any
    tokens: list[int]

    @torch.inference_mode()
    def keep(self, model: Step[Any], kept: list[int], device: torch.device | str) -> None:
        if len(kept) < len(self.rows):
            self.rows = [self.rows[i] for i in kept]
            self.tokens = [self.tokens[i] for i in kept]
            if kept:
                self.state = model.reorder(self.state, torch.tensor(kept, device=device))


Event = Written | Slid | None


def stream(
    model: Step[Any],
    prompt: Sequence[int],
    sampling: Sampling | None,
    *,
    most: int,
    context: int | None = None,
    number: int = 0,
    device: torch.device | str = "cpu",
) -> Iterator[Written | Slid]:
    """Go on from a prompt until <EOS>, or ``most`` tokens; without sampling, by the most probable.

    See :class:`Opening`, of which this is one.
    """
    opening = Opening(prompt, sampling, most, number)
    events = stream_together(model, [opening], context=context, device=device)
    return (event for _, event in events if event is not None)


def stream_together(
    model: Step[Any],
    openings: Sequence[Opening],
    *,
    context: int | None = None,
    is_wanted: Callable[[int], bool] = lambda _: True,
    device: torch.device | str = "cpu",
) -> Iterator[tuple[int, Event]]:
    """Go on from every opening, a token of each at a time.

    Each event comes with the place of its opening; ``None`` says that its text has ended. Texts
    that nobody wants any more are not gone on with. A text whose context is full is read anew by
    itself, with others that are full at the same moment.
    """
    groups: list[_Group] = []
    fresh = [_Row(place, opening) for place, opening in enumerate(openings)]
    while fresh or groups:
        if fresh:
            yield from _slide(fresh, context)
            groups.append(_start(model, fresh, device))
            fresh = []
        for group in groups:
            wanted = [i for i, row in enumerate(group.rows) if is_wanted(row.place)]
            group.keep(model, wanted, device)
            if context is not None:
                fresh += [row for row in group.rows if len(row.seen) > context]
                fits = [i for i, row in enumerate(group.rows) if len(row.seen) <= context]
                group.keep(model, fits, device)
            if group.rows:
                yield from _step(model, group, device)
        groups = [group for group in groups if group.rows]


def _slide(rows: list[_Row], context: int | None) -> Iterator[tuple[int, Slid]]:
    """Rows that fill the context keep its last half."""
    for row in rows:
        if context is not None and len(row.seen) > context:
            n_kept = max(1, context // 2)
            yield row.place, Slid(n_kept, len(row.seen))
            row.seen = row.seen[-n_kept:]


@torch.inference_mode()
def _start(model: Step[Any], rows: list[_Row], device: torch.device | str) -> _Group:
    longest = max(len(row.seen) for row in rows)
    ids = [[*row.seen, *[PAD] * (longest - len(row.seen))] for row in rows]
    return _Group(rows, model.start(torch.tensor(ids, device=device)), [BOS] * len(rows))


@torch.inference_mode()
def _step(
    model: Step[Any], group: _Group, device: torch.device | str
) -> list[tuple[int, Written | None]]:
    """One more token for each row of a group; those that have ended leave it."""
    told: list[tuple[int, Written | None]] = []
    logits, group.state = model.step(group.state, torch.tensor(group.tokens, device=device))
    wholes = log_sum_exp(logits)
    logits[:, PAD] = logits[:, BOS] = -torch.inf
    chosen = _chosen(logits, group.rows)
    kept: list[int] = []
    for i, (row, token) in enumerate(zip(group.rows, chosen, strict=True)):
        if token == EOS:
            told.append((row.place, None))
            continue
        row.seen.append(token)
        row.n_written += 1
        group.tokens[i] = token
        told.append((row.place, Written(token, float(logits[i, token] - wholes[i]))))
        if row.n_written == row.opening.most:
            told.append((row.place, None))
        else:
            kept.append(i)
    group.keep(model, kept, device)
    return told


def _chosen(logits: Float[Tensor, "R V"], rows: list[_Row]) -> list[int]:
    """A token for each row, by its own chance."""
    alike: dict[Sampling | None, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        alike[row.drawn_as].append(i)
    tokens = [EOS] * len(rows)
    for sampling, places in alike.items():
        here = logits if len(places) == len(rows) else logits[places]
        if sampling is None:
            found = top(here, 1)[1][:, 0]
        else:
            chances = [rows[i].chance.random() for i in places]
            found = draw(here, sampling, torch.tensor(chances, dtype=torch.float64).to(here.device))
        for i, token in zip(places, found.tolist(), strict=True):
            tokens[i] = token
    return tokens
