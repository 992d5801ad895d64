"""Probes: what a linear map reads off vectors, and what the same map learns by heart.

A linear probe tells a label of each word, ``softmax(W h + b)``. A structural probe tells distances
in a tree, ``‖B(hᵢ − hⱼ)‖² ≈ d(i, j)`` (Hewitt and Manning 2019). A probe that is right may have
learned the task by itself: beside each stands a control task, which nothing but memory can do, and
the difference is its selectivity (Hewitt and Liang 2019).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from regard.shapes import Float, Int, Tensor

Told = Callable[[int, int], None]  # so many rounds of learning are done, of so many

RANK = 64  # of a structural probe: more did not help BERT
_EPOCHS, _ROWS, _RATE = 10, 256, 3e-3  # of a linear probe
_TREE_EPOCHS, _SENTENCES, _TREE_RATE = 15, 32, 3e-3  # of a structural one


@dataclass(frozen=True)
class WordVectors:
    """The words of sentences as vectors, of several layers; sentence s has starts[s:s + 2]."""

    values: Float[Tensor, "Y N D"]  # Y layers
    starts: tuple[int, ...]

    @property
    def n_sentences(self) -> int:
        """How many sentences there are."""
        return len(self.starts) - 1

    def scaled_as(self, other: "WordVectors") -> "WordVectors":
        """Each number less its mean and over its spread, as another's are."""
        mean, deviation = other.values.mean(1, keepdim=True), other.values.std(1, keepdim=True)
        return WordVectors((self.values - mean) / deviation.clamp(min=1e-6), self.starts)


def read_labels(
    learned: WordVectors,
    labels: Int[Tensor, "A N"],
    asked: WordVectors,
    n_labels: int,
    told: Told = lambda n, total: None,
) -> Int[Tensor, "A Y M"]:
    """What linear probes tell of words, once they learned from others; A tasks at once."""
    given, wanted = learned.scaled_as(learned).values, asked.scaled_as(learned).values
    n_layers, n_words, width = given.shape
    weight = nn.Parameter(given.new_zeros(len(labels), n_layers, width, n_labels))
    bias = nn.Parameter(given.new_zeros(len(labels), n_layers, 1, n_labels))
    generator = torch.Generator().manual_seed(1)
    learning = _Learning([weight, bias], _RATE, _EPOCHS * math.ceil(n_words / _ROWS))
    for epoch in range(_EPOCHS):
        told(epoch, _EPOCHS)
        for rows in torch.split(torch.randperm(n_words, generator=generator), _ROWS):
            logits = (given[:, rows] @ weight + bias).flatten(0, 1)
            truth = labels[:, None, rows].expand(-1, n_layers, -1).flatten(0, 1)
            loss = F.cross_entropy(logits.transpose(1, 2), truth, reduction="none").mean(1)
            learning.step(loss.sum())
    with torch.no_grad():
        return (wanted @ weight + bias).argmax(-1)


def control_labels(
    words: Sequence[str], labels: Int[np.ndarray, "N"], more: Sequence[str]
) -> tuple[Int[np.ndarray, "N"], Int[np.ndarray, "M"]]:
    """A label for every word form, drawn as labels are frequent: nothing but memory tells it."""
    forms = sorted({*words, *more})
    drawn = np.random.default_rng(1).choice(labels, len(forms))
    of = dict(zip(forms, drawn.tolist(), strict=True))
    return np.array([of[one] for one in words]), np.array([of[one] for one in more])


def read_trees(
    learned: WordVectors,
    distances: Sequence[Sequence[np.ndarray]],
    asked: WordVectors,
    told: Told = lambda n, total: None,
) -> list[list[list[set[tuple[int, int]]]]]:
    """Of each task, layer and sentence the edges of the tree that a structural probe tells.

    The tree is the shortest that joins all words; ``distances`` are those in the trees to learn
    from, of each task a table a sentence.
    """
    given, wanted = learned.scaled_as(learned), asked.scaled_as(learned)
    n_layers, _, width = given.values.shape
    generator = torch.Generator().manual_seed(1)
    shape = (len(distances), n_layers, width, min(RANK, width))
    first = torch.rand(shape, generator=generator) * 2 - 1
    maps = nn.Parameter(first.to(given.values) / math.sqrt(width))
    n_batches = math.ceil(given.n_sentences / _SENTENCES)
    learning = _Learning([maps], _TREE_RATE, _TREE_EPOCHS * n_batches)
    tables = [[torch.from_numpy(one).to(maps) for one in task] for task in distances]
    for epoch in range(_TREE_EPOCHS):
        told(epoch, _TREE_EPOCHS)
        for rows, guess in _guessed(given, maps, generator):
            n = guess.shape[-1]
            truth = torch.stack([_padded_tables([t[s] for s in rows], n) for t in tables])
            far = (guess - truth[:, None]).abs().masked_fill(truth[:, None] < 0, 0.0)
            sizes = (truth >= 0).sum((-1, -2)).clamp(min=1)[:, None]
            learning.step((far.sum((-1, -2)) / sizes).mean(-1).sum())
    found: list[list[list[set[tuple[int, int]]]]] = [
        [[set() for _ in range(wanted.n_sentences)] for _ in range(n_layers)] for _ in distances
    ]
    with torch.no_grad():
        for rows, guess in _guessed(wanted, maps, None):
            lengths = [wanted.starts[s + 1] - wanted.starts[s] for s in rows]
            joined = _joined(guess.cpu().numpy(), np.array(lengths))
            for task, layer, row in np.ndindex(guess.shape[:3]):
                edges = joined[task, layer, row, : lengths[row] - 1]
                found[task][layer][rows[row]] = {(min(e), max(e)) for e in edges.tolist()}
    return found


class _Learning:
    """Adam, whose rate falls along half a cosine."""

    def __init__(self, parameters: list[nn.Parameter], rate: float, n_steps: int) -> None:
        self._adam = torch.optim.Adam(parameters, rate)
        self._falling = torch.optim.lr_scheduler.CosineAnnealingLR(self._adam, n_steps)

    def step(self, loss: Float[Tensor, ""]) -> None:
        """Go down by one step."""
        self._adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._adam.step()
        self._falling.step()


def _guessed(
    vectors: WordVectors, maps: Float[Tensor, "A Y D R"], generator: torch.Generator | None
) -> Iterator[tuple[list[int], Float[Tensor, "A Y B L L"]]]:
    """Sentences of like length together, and how far apart the maps put their words."""
    starts = np.array(vectors.starts)
    order = np.argsort(np.diff(starts), kind="stable")
    batches = [order[i : i + _SENTENCES] for i in range(0, len(order), _SENTENCES)]
    if generator is not None:
        batches = [batches[i] for i in torch.randperm(len(batches), generator=generator).tolist()]
    for batch in batches:
        longest = int((starts[batch + 1] - starts[batch]).max())
        places = starts[batch][:, None] + np.arange(longest)
        at = torch.from_numpy(np.minimum(places, starts[batch + 1][:, None] - 1))
        mapped = vectors.values[:, at].flatten(1, 2) @ maps  # A Y BL R
        mapped = mapped.view(*mapped.shape[:2], *at.shape, -1)
        # ‖a − b‖² = ‖a‖² + ‖b‖² − 2 a·b: no difference is ever written down.
        squares = mapped.square().sum(-1)
        products = mapped @ mapped.transpose(-1, -2)
        yield batch.tolist(), squares[..., :, None] + squares[..., None, :] - 2 * products


def _padded_tables(tables: Sequence[Float[Tensor, "..."]], n: int) -> Float[Tensor, "B L L"]:
    """Tables of one size, with -1 where there is nothing."""
    return torch.stack(
        [F.pad(one, (0, n - len(one), 0, n - len(one)), value=-1.0) for one in tables]
    )


def _joined(
    distances: Float[np.ndarray, "A Y B L L"], lengths: Int[np.ndarray, "B"]
) -> Int[np.ndarray, "A Y B _ 2"]:
    """Edges of the shortest trees that join all words (Prim), of many sentences at once."""
    shape = distances.shape[:3]
    n = distances.shape[-1]
    flat = distances.reshape(-1, n, n)
    rows = np.arange(len(flat))
    is_beyond = np.arange(n) >= np.broadcast_to(lengths, shape).reshape(-1)[:, None]
    is_in = np.zeros((len(flat), n), bool)
    is_in[:, 0] = True
    nearest, by = flat[:, 0].copy(), np.zeros((len(flat), n), np.int64)
    edges = np.zeros((len(flat), max(0, n - 1), 2), np.int64)
    for step in range(n - 1):
        free = np.where(is_in, np.inf, nearest)
        # Words beyond a sentence's end come last, and whoever asks leaves them out.
        new = np.where(is_beyond & ~is_in, np.float32(3e38), free).argmin(1)
        edges[:, step] = np.stack([by[rows, new], new], 1)
        is_in[rows, new] = True
        closer = flat[rows, new] < nearest
        nearest = np.where(closer, flat[rows, new], nearest)
        by = np.where(closer, new[:, None], by)
    return edges.reshape(*shape, -1, 2)


def tree_distances(edges: Sequence[tuple[int, int]], n: int) -> Float[np.ndarray, "L L"]:
    """How many edges lie between any two of n words; -1 where no way leads."""
    far = np.full((n, n), np.inf, np.float32)
    np.fill_diagonal(far, 0)
    for one, other in edges:
        far[one, other] = far[other, one] = 1
    for k in range(n):
        far = np.minimum(far, far[:, k, None] + far[None, k])
    return np.where(np.isinf(far), np.float32(-1), far)
