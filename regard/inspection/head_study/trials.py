"""Trials of heads: does a head look most at the word that a ruler asks for?

Weights among tokens become weights among words: attention to a word is the sum over its tokens,
attention from a word the mean (Clark et al. 2019). A word's own column is left out, and so are
special tokens; the largest of what remains is what the head looks at. Each ruler asks for other
words: governors, neighbours, the rarest word, antecedents. The same is asked of shuffled answers.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import torch
from torch.nn import functional as F

from regard.shapes import Float, Int, Tensor

SPECIAL, PADDING = -1, -2  # of a token that stands for no word
FURTHEST = 10  # words; fixed offsets beyond are not tried, nor are further antecedents
OFFSETS = tuple(k for k in range(-FURTHEST, FURTHEST + 1) if k)
NEIGHBOURS = {-1: "previous word", 1: "next word", -2: "second word before", 2: "second word after"}
EVERYTHING = "all"
TO_GOVERNOR, TO_DEPENDENT = "dependent to governor", "governor to dependent"
TO_ANTECEDENT, FROM_ANTECEDENT = "mention to antecedent", "antecedent to mention"
FROM_WORD = "from every word"

Bools = np.ndarray


@dataclass(frozen=True)
class StudiedAntecedent:
    """A word, and what it may stand for, nearest first: the words of each, and which are right."""

    place: int
    candidates: tuple[tuple[int, ...], ...]
    is_right: tuple[bool, ...]
    labels: tuple[str, ...] = (EVERYTHING,)


@dataclass(frozen=True)
class StudiedSentence:
    """A sentence as a model reads it, and what people say about its words."""

    ids: tuple[int, ...]
    words: tuple[int, ...]  # of each id the word it belongs to, or SPECIAL
    n_words: int
    arcs: tuple[tuple[int, int, str], ...] = ()  # dependent, governor, relation
    rare: tuple[int, ...] = ()  # the rarest words
    punctuation: tuple[int, ...] = ()
    antecedents: tuple[StudiedAntecedent, ...] = ()


@dataclass(frozen=True)
class Trials:
    """What each head answered; the axes are trials, ways to read the weights, and heads."""

    ways: tuple[str, ...]
    fixed_names: tuple[str, ...]  # of answers that ask no model
    label: np.ndarray  # N: the names of relations
    sentence: np.ndarray  # N
    right: Bools  # N W H
    shuffled: Bools  # N W H: by answers that are shuffled within the sentence
    fixed: Bools  # N F

    def of(self, is_chosen: Bools) -> "Trials":
        """Some of them."""
        parts: dict[str, Any] = {one: getattr(self, one)[is_chosen] for one in _ARRAYS}
        return replace(self, **parts)

    @classmethod
    def joined(cls, several: Sequence["Trials"]) -> "Trials":
        """All of several batches."""
        parts: dict[str, Any] = {
            one: np.concatenate([getattr(t, one) for t in several]) for one in _ARRAYS
        }
        return replace(several[0], **parts)


_ARRAYS = tuple(one.name for one in fields(Trials) if one.name not in ("ways", "fixed_names"))


@dataclass(frozen=True)
class Shares:
    """Where the weight of every head goes, a row a sentence: sums over its words."""

    sentence: np.ndarray  # S
    n_words: np.ndarray  # S
    special: np.ndarray  # S H: on special tokens
    punctuation: np.ndarray  # S H
    own: np.ndarray  # S H
    entropy: np.ndarray  # S H: bits of the rows
    by_chance: np.ndarray  # S: what punctuation gets of even weights
    offsets: np.ndarray  # S H 2K+1: at words up to K before and after

    @classmethod
    def joined(cls, several: Sequence["Shares"]) -> "Shares":
        """All of several batches."""
        return cls(
            *(np.concatenate([getattr(one, f.name) for one in several]) for f in fields(cls))
        )


@dataclass(frozen=True)
class BatchTrials:
    """All that one batch gives."""

    arcs: Trials
    neighbours: Trials
    rare: Trials
    antecedents: Trials
    shares: Shares


def word_weights(
    weights: Float[Tensor, "B H L L"], words: Int[Tensor, "B L"]
) -> Float[Tensor, "B H W C"]:
    """From tokens to words: rows are means, columns sums; the last column is special tokens."""
    n = int(words.max()) + 1
    at = torch.where(words >= 0, words, torch.where(words == SPECIAL, n, n + 1))
    member = F.one_hot(at, n + 2)[..., : n + 1].to(weights.dtype)
    rows = member[..., :n]
    rows = (rows / rows.sum(1, keepdim=True).clamp_min(1)).mT
    return rows[:, None] @ (weights @ member[:, None])


def try_batch(
    sentences: Sequence[StudiedSentence],
    numbers: Sequence[int],
    layers: Iterable[Float[Tensor, "B H L L"]],
) -> BatchTrials:
    """The trials of a batch; ``numbers`` tell its sentences from those of other batches."""
    asked = _Asked(sentences, numbers)
    per_layer = [asked.answers(word_weights(one.float(), asked.words)) for one in layers]
    return asked.trials(per_layer)


@dataclass(frozen=True)
class _Answers:
    """What one layer answered, heads last."""

    arcs: np.ndarray  # N 2 H
    shuffled_arcs: np.ndarray
    neighbours: np.ndarray  # N 1 H
    shuffled_neighbours: np.ndarray
    rare: np.ndarray
    shuffled_rare: np.ndarray
    antecedents: np.ndarray  # N 2 H
    shuffled_antecedents: np.ndarray
    special: np.ndarray  # B H
    punctuation: np.ndarray
    own: np.ndarray
    entropy: np.ndarray
    offsets: np.ndarray  # B H 2K+1


class _Asked:
    """What is asked of a batch, as indices into its weights."""

    def __init__(self, sentences: Sequence[StudiedSentence], numbers: Sequence[int]) -> None:
        self.sentences, self.numbers = sentences, np.asarray(numbers)
        longest = max(len(one.ids) for one in sentences)
        rows = [[*one.words, *[PADDING] * (longest - len(one.words))] for one in sentences]
        self.words = torch.tensor(rows)
        self.n = np.array([one.n_words for one in sentences])
        width = max(1, int(self.words.max()) + 1)
        self.rare, self.punctuation = (np.zeros((len(sentences), width), bool) for _ in range(2))
        orders = []
        for at_row, one in enumerate(sentences):
            self.rare[at_row, list(one.rare)] = True
            self.punctuation[at_row, list(one.punctuation)] = True
            drawn = np.arange(width)
            generator = np.random.default_rng(int(numbers[at_row]))
            drawn[: one.n_words] = generator.permutation(one.n_words)
            orders.append(drawn)
        self.order = np.stack(orders)  # of the words of each sentence, drawn by lot
        arcs = [(b, *arc) for b, one in enumerate(sentences) for arc in one.arcs]
        self.relation = np.array([one[3] for one in arcs], dtype=object)
        self.arcs = np.array([one[:3] for one in arcs], dtype=np.int64).reshape(-1, 3).T
        row, place = np.nonzero(np.less(np.arange(width), self.n[:, None]))
        is_seeking = ~self.rare[row, place] & np.any(self.rare, axis=1, keepdims=True)[row, 0]
        self.seekers = np.stack([row[is_seeking], place[is_seeking]])
        steps = np.array(list(NEIGHBOURS))
        near = place + steps[:, None]
        which, at = np.nonzero((near >= 0) & (near < self.n[row]))
        self.neighbours = np.stack([row[at], place[at], near[which, at]])
        self.step = np.array(list(NEIGHBOURS.values()), dtype=object)[which]
        self.candidates = _Candidates(sentences, numbers)

    def answers(self, weights: Float[Tensor, "B H W C"]) -> _Answers:
        """What one layer's heads look at."""
        among = weights[..., :-1].clone()
        among.diagonal(dim1=-2, dim2=-1).zero_()
        ahead, back = among.argmax(-1), among.argmax(-2)
        row, dependent, governor = self.arcs
        lots = self.order[row, dependent], self.order[row, governor]
        beside, word, target = self.neighbours
        drawn = self.order[beside, word], self.order[beside, target]
        rare = _at_most(among, self.rare, ahead, *self.seekers)
        shuffled = np.take_along_axis(self.rare, self.order, 1)
        return _Answers(
            _both(among, ahead, back, row, dependent, governor),
            _both(among, ahead, back, row, *lots),
            _both(among, ahead, back, beside, word, target)[:, :1],
            _both(among, ahead, back, beside, *drawn)[:, :1],
            rare[:, None],
            _at_most(among, shuffled, ahead, *self.seekers)[:, None],
            *self.candidates.answers(among),
            *self._shares(weights, among),
        )

    def _shares(self, weights: Tensor, among: Tensor) -> tuple[np.ndarray, ...]:
        punctuation = torch.from_numpy(self.punctuation).float()
        offsets = [among.diagonal(k, -2, -1).sum(-1) for k in range(-FURTHEST, 0)]
        offsets += [among.new_zeros(among.shape[:2])]
        offsets += [among.diagonal(k, -2, -1).sum(-1) for k in range(1, FURTHEST + 1)]
        found = (
            weights[..., -1].sum(-1),
            (among * punctuation[:, None, None]).sum((-2, -1)),
            weights[..., :-1].diagonal(dim1=-2, dim2=-1).sum(-1),
            torch.special.entr(weights).sum((-2, -1)) / np.log(2),
            torch.stack(offsets, -1),
        )
        return tuple(one.numpy() for one in found)

    def trials(self, layers: Sequence[_Answers]) -> BatchTrials:
        """The answers of all layers side by side, and the fixed ones."""

        def heads(name: str, axis: int = -1) -> np.ndarray:
            return np.concatenate([getattr(one, name) for one in layers], axis)

        row, dependent, governor = self.arcs
        near = self.neighbours
        seeking, place = self.seekers
        beside = place[:, None] + np.array(OFFSETS)
        is_inside = (beside >= 0) & (beside < self.n[seeking][:, None])
        is_rare = self.rare[seeking[:, None], np.where(is_inside, beside, 0)] & is_inside
        chance = self.punctuation.sum(1)  # of n words, n - 1 others each
        names = tuple(f"{k:+d}" for k in OFFSETS)
        both = (TO_GOVERNOR, TO_DEPENDENT)
        return BatchTrials(
            Trials(both, names, self.relation, self.numbers[row], heads("arcs"),
                   heads("shuffled_arcs"), _steps(governor - dependent)),
            Trials((FROM_WORD,), names, self.step, self.numbers[near[0]], heads("neighbours"),
                   heads("shuffled_neighbours"), _steps(near[2] - near[1])),
            Trials((FROM_WORD,), names, np.full(len(seeking), "rarest word", object),
                   self.numbers[seeking], heads("rare"), heads("shuffled_rare"), is_rare),
            self.candidates.trials(heads("antecedents"), heads("shuffled_antecedents")),
            Shares(self.numbers, self.n, heads("special"), heads("punctuation"), heads("own"),
                   heads("entropy"), chance, heads("offsets", 1)),
        )  # fmt: skip


class _Candidates:
    """Words with several candidates for an antecedent, as indices of padded tables."""

    def __init__(self, sentences: Sequence[StudiedSentence], numbers: Sequence[int]) -> None:
        asked = [
            (row, number, one, label)
            for row, (sentence, number) in enumerate(zip(sentences, numbers, strict=True))
            for one in sentence.antecedents
            for label in one.labels
        ]
        self.number = np.array([one[1] for one in asked], dtype=np.int64)
        self.label = np.array([one[3] for one in asked], dtype=object)
        self.most = max((len(one.candidates) for _, _, one, _ in asked), default=1)
        self.is_right = np.zeros((len(asked), self.most), bool)
        self.is_there = self.is_right.copy()
        self.shuffled = self.is_right.copy()
        entries = []
        for n, (row, number, one, _) in enumerate(asked):
            k = len(one.candidates)
            self.is_right[n, :k], self.is_there[n, :k] = one.is_right, True
            order = np.random.default_rng(int(number)).permutation(k)
            self.shuffled[n, :k] = np.array(one.is_right)[order]
            entries += [
                (n * self.most + at, row, one.place, word)
                for at, words in enumerate(one.candidates)
                for word in words
            ]
        self.entries = torch.tensor(entries, dtype=torch.long).reshape(-1, 4).T

    def answers(self, among: Float[Tensor, "B H W W"]) -> tuple[np.ndarray, np.ndarray]:
        """Whether the candidate with the most weight is right, and whether a shuffled one is."""
        place, row, mention, word = self.entries
        found, shuffled = [], []
        for weights in (among[row, :, mention, word], among[row, :, word, mention]):
            table = weights.new_zeros(self.is_right.size, among.shape[1])
            table = table.index_add_(0, place, weights).view(*self.is_right.shape, among.shape[1])
            best = torch.where(torch.from_numpy(self.is_there)[..., None], table, -1.0).max(1)
            is_seen = (best.values > 0).numpy()
            rows = np.arange(len(self.is_right))[:, None]
            found.append(self.is_right[rows, best.indices.numpy()] & is_seen)
            shuffled.append(self.shuffled[rows, best.indices.numpy()] & is_seen)
        return np.stack(found, 1), np.stack(shuffled, 1)

    def trials(self, right: np.ndarray, shuffled: np.ndarray) -> Trials:
        """With the fixed answers: the nearest, the second, ..., and the first in the text."""
        near = np.zeros((len(self.is_right), FURTHEST), bool)
        k = min(self.most, FURTHEST)
        near[:, :k] = self.is_right[:, :k]
        last = np.maximum(self.is_there.sum(1) - 1, 0)
        first = self.is_right[np.arange(len(last)), last]
        names = (*(f"nearest {n + 1}" for n in range(FURTHEST)), "first")
        fixed = np.concatenate([near, first[:, None]], 1)
        ways = (TO_ANTECEDENT, FROM_ANTECEDENT)
        return Trials(ways, names, self.label, self.number, right, shuffled, fixed)


def _both(
    among: Tensor,
    ahead: Tensor,
    back: Tensor,
    row: np.ndarray,
    word: np.ndarray,
    target: np.ndarray,
) -> np.ndarray:
    """Whether a word looks most at its target, and whether it is the target that looks most at it.

    Where nothing has any weight, as before the first word of a causal model, nothing is looked at.
    """
    b, i, j = (torch.from_numpy(np.ascontiguousarray(one)) for one in (row, word, target))
    wanted = j[:, None]
    first = (ahead[b, :, i] == wanted) & (among[b, :, i, j] > 0)
    second = (back[b, :, i] == wanted) & (among[b, :, j, i] > 0)
    return torch.stack([first, second], 1).numpy()


def _at_most(
    among: Tensor, wanted: np.ndarray, ahead: Tensor, row: np.ndarray, word: np.ndarray
) -> np.ndarray:
    """Whether what a word looks at most is one of those that are wanted."""
    b, i = torch.from_numpy(row), torch.from_numpy(word)
    best = ahead[b, :, i]
    is_seen = among[b, :, i].amax(-1) > 0
    found: np.ndarray = (torch.from_numpy(wanted)[b[:, None], best] & is_seen).numpy()
    return found


def _steps(distance: np.ndarray) -> np.ndarray:
    """Which fixed offsets are right."""
    found: np.ndarray = distance[:, None] == np.array(OFFSETS)
    return found
