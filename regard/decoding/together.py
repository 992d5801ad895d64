"""Writing for many readers at once: each text by its own chance, as if it were written alone."""

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from regard.decoding.choices import Sampling
from regard.decoding.sampling import draw
from regard.decoding.streaming import Written
from regard.kernels import log_sum_exp, top
from regard.models.interface import Step
from regard.shapes import Float, Tensor
from regard.special import BOS, EOS, PAD


@dataclass(frozen=True)
class Opening:
    """How a text begins, and how it goes on; without sampling by the most probable token."""

    prompt: Sequence[int]
    sampling: Sampling | None
    most: int


@dataclass(eq=False)
class _Row:
    """A text that is being written."""

    number: int
    opening: Opening
    seen: list[int]
    chance: random.Random
    n_written: int = 0

    @property
    def manner(self) -> Sampling | None:
        """What rows that are drawn together have in common: not the seed."""
        chosen = self.opening.sampling
        return chosen and Sampling(chosen.temperature, chosen.top_k, chosen.top_p)


@dataclass
class _Group:
    """Rows that began to be read in one moment, and what the model remembers of them."""

    rows: list[_Row]
    state: Any
    tokens: list[int] = field(default_factory=list)

    @torch.inference_mode()
    def keep(self, model: Step[Any], kept: list[int], device: torch.device | str) -> None:
        if len(kept) < len(self.rows):
            self.rows = [self.rows[i] for i in kept]
            self.tokens = [self.tokens[i] for i in kept]
            if kept:
                self.state = model.reorder(self.state, torch.tensor(kept, device=device))


def stream_together(
    model: Step[Any],
    openings: Sequence[Opening],
    *,
    context: int | None = None,
    is_wanted: Callable[[int], bool] = lambda _: True,
    device: torch.device | str = "cpu",
) -> Iterator[tuple[int, Written | None]]:
    """What :func:`~regard.decoding.streaming.stream` writes for each opening, as it comes.

    Each token comes with the number of its opening; ``None`` says that its text has ended. Texts
    that nobody wants any more are not gone on with. A text whose context is full is read anew by
    itself, with others that are full at the same moment.
    """
    rows = [
        _Row(i, one, list(one.prompt), random.Random(f"{(one.sampling or Sampling()).seed} 0 0"))  # noqa: S311
        for i, one in enumerate(openings)
    ]
    groups = [_begun(model, rows, context, device)] if rows else []
    while groups:
        full: list[_Row] = []
        for group in groups:
            wanted = [i for i, row in enumerate(group.rows) if is_wanted(row.number)]
            group.keep(model, wanted, device)
            if context is not None:
                full += [row for row in group.rows if len(row.seen) > context]
                fits = [i for i, row in enumerate(group.rows) if len(row.seen) <= context]
                group.keep(model, fits, device)
            if group.rows:
                yield from _step(model, group, device)
        if full:
            fresh = _begun(model, full, context, device)
            yield from _step(model, fresh, device)
            groups.append(fresh)
        groups = [group for group in groups if group.rows]


@torch.inference_mode()
def _begun(
    model: Step[Any], rows: list[_Row], context: int | None, device: torch.device | str
) -> _Group:
    for row in rows:
        if context is not None and len(row.seen) > context:
            row.seen = row.seen[-max(1, context // 2) :]
    longest = max(len(row.seen) for row in rows)
    ids = [[*row.seen, *[PAD] * (longest - len(row.seen))] for row in rows]
    return _Group(list(rows), model.start(torch.tensor(ids, device=device)), [BOS] * len(rows))


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
            told.append((row.number, None))
            continue
        row.seen.append(token)
        row.n_written += 1
        group.tokens[i] = token
        told.append((row.number, Written(token, float(logits[i, token] - wholes[i]))))
        if row.n_written == row.opening.most:
            told.append((row.number, None))
        else:
            kept.append(i)
    group.keep(model, kept, device)
    return told


def _chosen(logits: Float[Tensor, "R V"], rows: list[_Row]) -> list[int]:
    """A token for each row, by its own chance."""
    manners: dict[Sampling | None, list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        manners[row.manner].append(i)
    tokens = [EOS] * len(rows)
    for manner, places in manners.items():
        here = logits if len(places) == len(rows) else logits[places]
        if manner is None:
            found = top(here, 1)[1][:, 0]
        else:
            chances = [rows[i].chance.random() for i in places]
            found = draw(here, manner, torch.tensor(chances, dtype=torch.float64).to(here.device))
        for i, token in zip(places, found.tolist(), strict=True):
            tokens[i] = token
    return tokens
