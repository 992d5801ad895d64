"""Attention to a source that was read, as recurrent decoders use it: one query after the other.

What a score does to the keys alone is the same at every step, so it is done once, when the source
is remembered: ``vᵀ tanh(W s + U h)`` computes ``U h`` once, and ``sᵀ W h`` computes ``W h`` once.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention import (
    NORMALISERS,
    Additive,
    Attention,
    Choice,
    General,
    Hard,
    LocalMonotonic,
    LocalPredictive,
    Normaliser,
    Perceptron,
    Score,
    Site,
    Soft,
    build_score,
    masks,
)
from regard.errors import UsageError
from regard.models.encoder_decoder import EncoderDecoder
from regard.models.model import Predicted
from regard.models.reinforce import MovingAverage, MovingAverages
from regard.shapes import Bool, Float, Int, Source, Tensor


class PreparedScore(Score):
    """A score in two parts: one for the keys alone, and one that takes what the first gave."""

    def prepare(self, key: Float[Tensor, "B 1 K Ek"]) -> Float[Tensor, "B 1 K M"]:
        """What no query changes."""
        raise NotImplementedError


class Energies(nn.Module):
    """``vᵀ tanh(q + k)`` for every pair of a query and a prepared key, in the precision of v."""

    def forward(
        self,
        query: Float[Tensor, "B Q M"],
        key: Float[Tensor, "B K M"],
        v: Float[Tensor, "M"],
    ) -> Float[Tensor, "B Q K"]:
        """The energy of each pair."""
        return torch.tanh(query.unsqueeze(-2).to(v.dtype) + key.unsqueeze(-3)) @ v


class WithEnergies(PreparedScore):
    """A score that ends in energies."""

    v: nn.Parameter

    def __init__(self, *sizes: int, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self.energies = Energies()

    def _of(self, query: Float[Tensor, "B 1 Q M"], key: Float[Tensor, "B 1 K M"]) -> Tensor:
        # Taking an element out would cost a gradient of zeros around it at every step.
        found: Tensor = self.energies(query.squeeze(1), key.squeeze(1), self.v[0])
        return found[:, None]


class PreparedPerceptron(WithEnergies, Perceptron):
    """``vᵀ tanh(W q + k')`` with ``k' = U k``."""

    def prepare(self, key: Float[Tensor, "B 1 K Ek"]) -> Float[Tensor, "B 1 K M"]:
        """``U k``, in the precision of v, as all steps take it."""
        return _mapped(key, self.weight_key).to(self.v.dtype)

    def forward(
        self, query: Float[Tensor, "B 1 Q Eq"], key: Float[Tensor, "B 1 K M"]
    ) -> Float[Tensor, "B 1 Q K"]:
        """Score every prepared key for every query."""
        return self._of(_mapped(query, self.weight_query), key)


class PreparedAdditive(WithEnergies, Additive):
    """``vᵀ tanh(W₁ q + k')`` with ``k' = W₂ k``, where ``W = [W₁ W₂]``."""

    def prepare(self, key: Float[Tensor, "B 1 K Ek"]) -> Float[Tensor, "B 1 K M"]:
        """``W₂ k``, in the precision of v, as all steps take it."""
        return _mapped(key, self.weight[..., self.d_query :]).to(self.v.dtype)

    def forward(
        self, query: Float[Tensor, "B 1 Q Eq"], key: Float[Tensor, "B 1 K M"]
    ) -> Float[Tensor, "B 1 Q K"]:
        """Score every prepared key for every query."""
        return self._of(_mapped(query, self.weight[..., : self.d_query]), key)


class PreparedGeneral(General, PreparedScore):
    """``qᵀ k'`` with ``k' = W k``."""

    def prepare(self, key: Float[Tensor, "B 1 K Ek"]) -> Float[Tensor, "B 1 K M"]:
        """``W k``."""
        return _mapped(key, self.weight)

    def forward(
        self, query: Float[Tensor, "B 1 Q Eq"], key: Float[Tensor, "B 1 K M"]
    ) -> Float[Tensor, "B 1 Q K"]:
        """Score every prepared key for every query."""
        return query @ key.mT


class Bridged(PreparedScore):
    """A score that compares like with like, for keys of another width: ``k' = B k`` first."""

    def __init__(self, score: Score, d_query: int, d_key: int) -> None:
        super().__init__()
        self.score = score
        self.bridge = nn.Linear(d_key, d_query, bias=False)

    def prepare(self, key: Float[Tensor, "B 1 K Ek"]) -> Float[Tensor, "B 1 K M"]:
        """``B k``."""
        bridged: Tensor = self.bridge(key)
        return bridged

    def forward(
        self, query: Float[Tensor, "B 1 Q Eq"], key: Float[Tensor, "B 1 K M"]
    ) -> Float[Tensor, "B 1 Q K"]:
        """Score every prepared key for every query."""
        scores: Tensor = self.score(query, key)
        return scores


BASELINES = ("learned", "moving-average", "word")

# These multiply query and key number by number.
ALIKE = ("dot", "scaled-dot", "content")

# The other scores have nothing to do to the keys alone that would cost anything.
PREPARED: dict[str, type[PreparedScore]] = {
    "additive": PreparedAdditive,
    "general": PreparedGeneral,
    "perceptron": PreparedPerceptron,
}


@dataclass(frozen=True)
class Memory:
    """The source as its decoder looks at it, row by row."""

    keys: Float[Tensor, "R 1 S M"]  # prepared
    values: Float[Tensor, "R 1 S Ev"]
    mask: Bool[Tensor, "R 1 1 S"]
    sentence: Int[Tensor, "R"]  # which source a row reads: rows of one sentence read the same

    def reorder(self, rows: Int[Tensor, "N"]) -> "Memory":
        """Take these rows, in this order."""
        sentence = self.sentence.index_select(0, rows)
        # A beam takes most rows from the same sentence as before: then nothing needs to move.
        if torch.equal(sentence, self.sentence):
            return self
        return Memory(
            self.keys.index_select(0, rows),
            self.values.index_select(0, rows),
            self.mask.index_select(0, rows),
            sentence,
        )


class Found(NamedTuple):
    """What queries brought back from the source, from where, and how probable a drawn place was."""

    context: Float[Tensor, "R Q Ev"]
    weights: Float[Tensor, "R Q S"]
    choice: Choice | None  # each ``R Q``

    @classmethod
    def joined(cls, looks: "Sequence[Found]") -> "Found":
        """Looks that came one after the other, as one."""
        contexts = torch.cat([look.context for look in looks], 1)
        weights = torch.cat([look.weights for look in looks], 1)
        return cls(contexts, weights, _joined(look.choice for look in looks))


class SourceAttention(Attention):
    """Attention whose keys and values are both the encoder's states, with any of the eight scores.

    Its probes are those of every attention: ``weights`` is ``B 1 Q K``, once for every time the
    decoder looks, so that joined along the queries they are the whole matrix.
    """

    def __init__(
        self,
        score: str,
        d_query: int,
        d_key: int,
        normaliser: Normaliser | None = None,
        *,
        d_energy: int | None = None,
        max_length: int = 512,
    ) -> None:
        options: dict[str, Any] = {}
        if score in ("additive", "perceptron"):
            options["d_hidden"] = d_energy
        if score == "location":
            options["max_length"] = max_length
        super().__init__(_build(score, d_query, d_key, **options), normaliser)

    def remember(self, outputs: Float[Tensor, "B S Ev"], is_real: Bool[Tensor, "B S"]) -> Memory:
        """Prepare what was read for many looks at it."""
        values = outputs[:, None]
        keys = self.score.prepare(values) if isinstance(self.score, PreparedScore) else values
        sentence = torch.arange(len(outputs), device=outputs.device)
        return Memory(keys, values, masks.keeping(is_real), sentence)

    def look(self, query: Float[Tensor, "R Q Eq"], memory: Memory, first: int = 0) -> Found:
        """Look at the source, with queries that stand at places ``first``, ``first + 1``, …"""
        context, weights, choice = self.attend(
            query[:, None], memory.keys, memory.values, memory.mask, first=first
        )
        if choice is not None:
            choice = Choice(*(part.squeeze(1) for part in choice))
        return Found(context.squeeze(1), weights.squeeze(1), choice)


def _build(score: str, d_query: int, d_key: int, **options: Any) -> Score:
    if score in PREPARED:
        return PREPARED[score](d_query, d_key, **options)
    if score in ALIKE and d_query != d_key:
        return Bridged(build_score(score, d_query, d_query), d_query, d_key)
    return build_score(score, d_query, d_key, **options)


def build_normaliser(
    name: str, d_query: int, reach: int | None, *, expectation: float = 0.0
) -> Normaliser:
    """The normaliser of that name, for queries of this width; local ones need a reach."""
    if name == "soft":
        return Soft()
    if name == "hard":
        return Hard(expectation=expectation)
    if name not in NORMALISERS:
        raise UsageError(f"there is no normaliser {name!r}: choose one of {', '.join(NORMALISERS)}")
    if reach is None:
        raise UsageError(f"{name} looks at a window: say how many places it reaches to each side")
    return LocalMonotonic(reach) if name == "local-m" else LocalPredictive(d_query, reach)


class Decoded(NamedTuple):
    """The vectors that predict words, the queries that looked, and what was drawn for each."""

    hidden: Float[Tensor, "B T D"]
    queries: Float[Tensor, "B T H"]
    choice: Choice | None  # each ``B T``

    @classmethod
    def joined(cls, parts: "Sequence[Decoded]") -> "Decoded":
        """Words that came one after the other, as one."""
        return cls(
            torch.cat([part.hidden for part in parts], 1),
            torch.cat([part.queries for part in parts], 1),
            _joined(part.choice for part in parts),
        )


class WordBaseline(nn.Module):
    """What log p(word) was lately for each word, and how it depends on the query that looked.

    ``b = m_y + u_yᵀ h`` with the moving average m_y of the word y that is to be said, and a
    regression u_y. The word is known before anything is drawn, so that b is a baseline.
    """

    def __init__(self, n_words: int, d_query: int) -> None:
        super().__init__()
        self.averages = MovingAverages(n_words)
        self.slopes = nn.Embedding(n_words, d_query)
        nn.init.zeros_(self.slopes.weight)

    def forward(
        self,
        reward: Float[Tensor, "N"],
        labels: Int[Tensor, "N"],
        queries: Float[Tensor, "N H"],
    ) -> Float[Tensor, "N"]:
        """What was expected of each word before these rewards, which are remembered."""
        slopes: Tensor = self.slopes(labels)
        expected: Tensor = self.averages(reward, labels)
        return expected + (slopes * queries).sum(-1)


class LookingTranslator(EncoderDecoder):
    """A recurrent translator that looks at its source before every word.

    If it ``draws`` one place to look at (hard attention), a baseline says beforehand what
    log p(word) will be, and a draw is worth what it brings beyond that: a small regression from
    the query ("learned"), a moving average, or both for each of ``n_words`` words ("word").
    """

    def __init__(
        self,
        padding: int,
        d_query: int,
        *,
        draws: bool,
        baseline: str = "learned",
        n_words: int = 0,
    ) -> None:
        super().__init__(padding)
        if baseline not in BASELINES:
            raise UsageError(f"there is no baseline {baseline!r}: choose {' or '.join(BASELINES)}")
        self.expected = nn.Linear(d_query, 1) if draws and baseline == "learned" else None
        self.average: MovingAverage | WordBaseline | None = None
        if draws and baseline != "learned":
            is_one = baseline == "moving-average"
            self.average = MovingAverage() if is_one else WordBaseline(n_words, d_query)

    def hidden_and_choices(self, source: Source, target: Int[Tensor, "B T"]) -> Decoded:
        """The vectors that predict the next words, and log p of every place that was drawn."""
        raise NotImplementedError

    def hidden(self, source: Source, target: Int[Tensor, "B T"]) -> Float[Tensor, "B T D"]:
        """The vectors from which the next words are predicted; ``target`` is shifted right."""
        return self.hidden_and_choices(source, target).hidden

    def predict(
        self,
        source: Source,
        target: Int[Tensor, "B T"],
        is_real: Bool[Tensor, "B T"],
    ) -> Predicted:
        """The vectors of the places that are real, and what was drawn for them."""
        return self.predicted(self.hidden_and_choices(source, target), is_real)

    def predicted(self, decoded: Decoded, is_real: Bool[Tensor, "B T"]) -> Predicted:
        """What was decoded, as the loss takes it."""
        hidden = decoded.hidden[is_real]
        if decoded.choice is None:
            return Predicted(hidden)
        # What is expected must not change the queries, only learn from them.
        queries = decoded.queries[is_real].detach()
        baseline = None if self.expected is None else self.expected(queries)[:, 0]
        log_choice = decoded.choice.log_probability[is_real]
        return Predicted(hidden, None, log_choice, baseline, queries)

    def expected_reward(
        self,
        reward: Float[Tensor, "N"],
        labels: Int[Tensor, "N"],
        queries: Float[Tensor, "N H"],
    ) -> Float[Tensor, "N"]:
        """What log p of these words was expected to be, where earlier rewards say it."""
        if isinstance(self.average, WordBaseline):
            return self.average(reward, labels, queries)  # type: ignore[no-any-return]
        assert self.average is not None
        return self.average(reward).expand_as(reward)  # type: ignore[no-any-return]

    @property
    def sites(self) -> tuple[Site, ...]:
        """One look a word."""
        return (Site("cross", 0, "decoder.attention.weights"),)


def _joined(choices: Iterable[Choice | None]) -> Choice | None:
    """What was chosen at one step after the other, as one; soft attention chooses nothing."""
    there = [choice for choice in choices if choice is not None]
    parts = zip(*there, strict=True)
    return Choice(*(torch.cat(part, 1) for part in parts)) if there else None


def _mapped(value: Float[Tensor, "B 1 N E"], weight: Float[Tensor, "1 M E"]) -> Tensor:
    """``W x`` as one product: with an axis of heads there would be one for every row, and a
    gradient of W for every row, to be summed."""
    return F.linear(value, weight[0])
