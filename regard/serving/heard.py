"""A model that can be heard while a search runs over it, and broken off when nobody listens."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from regard.models import BeamQuestion, EncoderDecoder, Ended, SearchesItself
from regard.serving.ticket import Abandoned
from regard.shapes import Int, Tensor
from regard.special import PAD

Source = tuple[int, ...]
Tell = Callable[[Source, Sequence[int]], None]  # a source, and its best unfinished output so far


@dataclass(frozen=True)
class Audience:
    """Who listens to a batch: until when, and to which sources."""

    is_there: Callable[[], bool]
    tell: Tell
    sources: frozenset[Source] = frozenset()


@dataclass(frozen=True)
class _HeardState:
    inner: Any
    sources: tuple[Source, ...] = ()  # of the batch; none if nobody listens
    owners: Int[Tensor, "R"] | None = None  # which source each row is for
    written: Int[Tensor, "R L"] | None = None


class Heard(EncoderDecoder):
    """The same model, step by step; whichever search runs, the first row of a source is its best.

    A source is known by its tokens, for a search may cut and order its batches as it likes. Every
    batch has a model of its own to be heard by, over the one that computes.
    """

    def __init__(self, inner: EncoderDecoder, audience: Audience) -> None:
        super().__init__(inner.padding)
        self.inner, self.audience = inner, audience

    def start(self, source: Int[Tensor, "B S"]) -> _HeardState:
        """Read the source."""
        inner = self.inner.start(source)
        if not self.audience.sources:
            return _HeardState(inner)
        sources = tuple(tuple(id_ for id_ in row if id_ != PAD) for row in source.tolist())
        owners = torch.arange(len(sources))
        return _HeardState(inner, sources, owners, torch.zeros(len(sources), 0, dtype=torch.long))

    def step(self, state: _HeardState, tokens: Int[Tensor, "R"]) -> tuple[Tensor, _HeardState]:
        """Take one more token a row, and give the logits of the next."""
        if not self.audience.is_there():
            raise Abandoned
        logits, inner = self.inner.step(state.inner, tokens)
        if state.written is None or state.owners is None:
            return logits, _HeardState(inner)
        written = torch.cat([state.written, tokens.cpu()[:, None]], dim=1)
        self._tell(state.sources, state.owners.tolist(), written)
        return logits, _HeardState(inner, state.sources, state.owners, written)

    def reorder(self, state: _HeardState, rows: Int[Tensor, "N"]) -> _HeardState:
        """Take these rows, in this order."""
        inner = self.inner.reorder(state.inner, rows)
        if state.written is None or state.owners is None:
            return _HeardState(inner)
        kept = rows.cpu()
        return _HeardState(
            inner, state.sources, state.owners[kept], state.written.index_select(0, kept)
        )

    def beams(self, source: Int[Tensor, "B S"], asked: BeamQuestion) -> Iterator[Ended] | None:
        """A whole beam search, where the model can do that and nobody listens meanwhile."""
        if self.audience.sources or not isinstance(self.inner, SearchesItself):
            return None
        found = self.inner.beams(source, asked)
        return None if found is None else self._while_wanted(found)

    def _while_wanted(self, found: Iterator[Ended]) -> Iterator[Ended]:
        for ended in found:
            if not self.audience.is_there():
                raise Abandoned
            yield ended

    def _tell(
        self, sources: Sequence[Source], owners: Sequence[int], written: Int[Tensor, "R L"]
    ) -> None:
        if written.shape[1] < 2:  # <BOS> alone
            return
        told: set[int] = set()
        for row, owner in enumerate(owners):
            if owner not in told and sources[owner] in self.audience.sources:
                self.audience.tell(sources[owner], written[row, 1:].tolist())
            told.add(owner)
