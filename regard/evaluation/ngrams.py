"""Language models that count: n-grams of words, by interpolated Kneser-Ney.

``P(w | h) = max(c(hw) - D, 0) / c(h) + D N₁₊(h·) / c(h) · P(w | h')``, where h' is h without its
first word (Kneser and Ney 1995; Chen and Goodman 1999). Below the highest order c counts what
stands before an n-gram, ``N₁₊(·hw)``, in place of how often it occurs; n-grams that begin a
sentence have nothing before them and keep their counts. ``D = n₁ / (n₁ + 2 n₂)`` of each order,
from how many n-grams are counted once and twice. The last to be asked is the uniform distribution.

N-grams are kept exactly, as sorted numbers: the place of the context among those of one order less,
times the size of the vocabulary, plus the word.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from regard.errors import DataError

Places = npt.NDArray[np.integer]
BEGINNING, END, UNSEEN = 0, 1, 2
_OWN = {"<s>": BEGINNING, "</s>": END, "<unk>": UNSEEN}
_USUAL_DISCOUNT = 0.5  # where no n-gram is counted once, or none twice


@dataclass(frozen=True, eq=False)
class CountedText:
    """Sentences as one stream of ids, each between a beginning and an end.

    Words seen less than ``least`` times are all one, so that a word never seen has a probability.
    """

    ids: Places
    at: Places  # place within the sentence, whose beginning is 0
    vocabulary: dict[str, int]
    n_left_out: int = 0  # words beyond the limit

    @classmethod
    def of(
        cls, sentences: Iterable[Sequence[str]], *, least: int = 2, most: int | None = None
    ) -> "CountedText":
        """Read sentences, cut into words; what is beyond ``most`` words is left out."""
        known: dict[str, int] = {}
        rows: list[npt.NDArray[np.int32]] = []
        n_read, n_left_out = 0, 0
        for words in sentences:
            if most is not None and n_read + len(words) > most:
                n_left_out += len(words)
                continue
            n_read += len(words)
            rows.append(np.array([known.setdefault(w, len(known)) for w in words], np.int32))
        if not n_read:
            raise DataError("there is no text to count words of.")
        flat = np.concatenate(rows)
        is_kept = np.bincount(flat, minlength=len(known)) >= least
        renamed = np.where(is_kept, np.cumsum(is_kept) - 1 + len(_OWN), UNSEEN)
        kept = _OWN | {word: int(renamed[id_]) for word, id_ in known.items() if is_kept[id_]}
        return cls(
            *_stream([len(row) for row in rows], renamed[flat], has_end=True), kept, n_left_out
        )

    @property
    def n_words(self) -> int:
        """Different ids, those of the beginning, the end and what is unseen among them."""
        return len(self.vocabulary)

    def encode(self, words: Sequence[str]) -> list[int]:
        """Ids of words."""
        return [self.vocabulary.get(word, UNSEEN) for word in words]


@dataclass(frozen=True, eq=False)
class _Order:
    """The n-grams of one order: sorted keys, their counts, and of each context the sums."""

    keys: Places
    counts: Places
    totals: Places  # c(h), by the place of the context
    n_different: Places  # N₁₊(h·)
    discount: float


class NgramModel:
    """Interpolated Kneser-Ney of an order; that of order 1 is a smoothed unigram model."""

    def __init__(self, text: CountedText, order: int = 5) -> None:
        self.text = text
        self.orders = tuple(_counted(text, order))

    def log_probabilities(
        self, sentences: Sequence[Sequence[str]]
    ) -> list[npt.NDArray[np.float64]]:
        """``log P(word | up to order - 1 words before it)`` of every word of each sentence."""
        n_words, lengths = self.text.n_words, [len(one) for one in sentences]
        words = np.array([id_ for one in sentences for id_ in self.text.encode(one)], np.int64)
        ids, at = _stream(lengths, words, has_end=False)
        found = np.full(len(ids), 1 / (n_words - 1))  # the beginning is never predicted
        place = ids
        for n, order in enumerate(self.orders, 1):
            context = np.zeros(len(ids), np.int64) if n == 1 else _one_later(place)
            context[at < n - 1] = -1
            is_known = context >= 0
            key = context[is_known] * n_words + ids[is_known]
            row = np.minimum(np.searchsorted(order.keys, key), len(order.keys) - 1)
            is_there = order.keys[row] == key
            count = np.where(is_there, order.counts[row], 0)
            total, discount = order.totals[context[is_known]], order.discount
            taken = discount * order.n_different[context[is_known]] * found[is_known]
            with np.errstate(divide="ignore", invalid="ignore"):
                mixed = (np.maximum(count - discount, 0) + taken) / total
            found[is_known] = np.where(total > 0, mixed, found[is_known])
            place = np.full_like(ids, -1)
            place[is_known] = np.where(is_there, row, -1)
        ends = np.cumsum(lengths)
        parts = np.split(np.log(found[at > 0]), ends[:-1])
        return parts if lengths else []


def _one_later(place: Places) -> Places:
    """The place of what ends one word before, wide enough to be multiplied by a vocabulary."""
    return np.concatenate([np.array([-1]), place[:-1]]).astype(np.int64)


def _stream(lengths: Sequence[int], words: Places, *, has_end: bool) -> tuple[Places, Places]:
    """Words with the beginning, and perhaps the end, of each sentence around them."""
    sizes = np.array(lengths, np.int64) + 1 + has_end
    starts = np.cumsum(sizes) - sizes
    at = (np.arange(sizes.sum()) - np.repeat(starts, sizes)).astype(np.int32)
    ids = np.full(len(at), BEGINNING, np.int32)
    is_end = np.zeros(len(ids), bool)
    if has_end:
        is_end[starts + sizes - 1] = True
        ids[is_end] = END
    ids[(at > 0) & ~is_end] = words
    return ids, at


def _counted(text: CountedText, n: int) -> list[_Order]:
    """The orders from 1 to n; each is finished when the next one has told what stands before it."""
    size, found = text.n_words, list[_Order]()
    keys = np.arange(size)
    counts = np.bincount(text.ids[text.at > 0], minlength=size)
    begins = np.zeros(size, bool)
    place, n_contexts = text.ids, 1
    for order in range(2, n + 1):
        (rows,) = np.nonzero(text.at >= order - 1)
        key = place[rows - 1].astype(np.int64) * size + text.ids[rows]
        longer, first, inverse, n_longer = np.unique(
            key, return_index=True, return_inverse=True, return_counts=True
        )
        before = np.bincount(place[rows[first]], minlength=len(keys))
        found.append(_order(keys, np.where(begins, counts, before), size, n_contexts))
        n_contexts = len(keys)
        begins = text.at[rows[first]] == order - 1
        place = np.full_like(place, -1)
        place[rows] = inverse
        keys, counts = longer, n_longer
    return [*found, _order(keys, counts, size, n_contexts)]


def _order(keys: Places, counts: Places, size: int, n_contexts: int) -> _Order:
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    discount = once / (once + 2 * twice) if once and twice else _USUAL_DISCOUNT
    context = keys // size
    totals = np.bincount(context, counts, n_contexts).astype(np.int32)
    n_different = np.bincount(context, counts > 0, n_contexts).astype(np.int32)
    return _Order(keys, counts.astype(np.int32), totals, n_different, discount)
