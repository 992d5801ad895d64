"""Translation: sentences of many requests searched together, streamed while they are decoded."""

from collections.abc import Callable, Hashable, Iterator, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any

import torch

from regard.decoding import Search
from regard.models import BeamQuestion, Ended, SearchesItself
from regard.serving.catalogue import Served
from regard.serving.queue import Cancelled, Item
from regard.serving.settings import Bounds, check_tokens
from regard.shapes import Int, Tensor
from regard.special import EOS, PAD
from regard.systems import Alignment, Translation, Translator

Source = tuple[int, ...]  # its tokens


@dataclass(frozen=True)
class _StreamingState:
    inner: Any
    sources: tuple[Source, ...] = ()  # of the batch; none if none is streamed
    owners: Int[Tensor, "R"] | None = None  # which source each row is for
    written: Int[Tensor, "R L"] | None = None


class StreamingStep:
    """Streams the best unfinished outputs of some sources, and is cancelled when none is wanted.

    It wraps the model that computes, one for each batch. Whichever search runs over it, the first
    row of a source is its best. A source is known by its tokens, for a search may cut and order its
    batches as it likes.
    """

    def __init__(
        self,
        inner: Any,
        is_wanted: Callable[[], bool],
        emit: Callable[[Source, Sequence[int]], None],
        sources: Set[Source] = frozenset(),
    ) -> None:
        self.inner, self.is_wanted, self.emit, self.sources = inner, is_wanted, emit, sources

    def start(self, source: Int[Tensor, "B S"]) -> _StreamingState:
        """Read the source."""
        inner = self.inner.start(source)
        if not self.sources:
            return _StreamingState(inner)
        sources = tuple(tuple(id_ for id_ in row if id_ != PAD) for row in source.tolist())
        owners = torch.arange(len(sources))
        return _StreamingState(
            inner, sources, owners, torch.zeros(len(sources), 0, dtype=torch.long)
        )

    def step(
        self, state: _StreamingState, tokens: Int[Tensor, "R"]
    ) -> tuple[Tensor, _StreamingState]:
        """Take one more token a row, and give the logits of the next."""
        if not self.is_wanted():
            raise Cancelled
        logits, inner = self.inner.step(state.inner, tokens)
        if state.written is None or state.owners is None:
            return logits, _StreamingState(inner)
        written = torch.cat([state.written, tokens.cpu()[:, None]], dim=1)
        self._emit(state.sources, state.owners.tolist(), written)
        return logits, _StreamingState(inner, state.sources, state.owners, written)

    def reorder(self, state: _StreamingState, rows: Int[Tensor, "N"]) -> _StreamingState:
        """Take these rows, in this order."""
        inner = self.inner.reorder(state.inner, rows)
        if state.written is None or state.owners is None:
            return _StreamingState(inner)
        kept = rows.cpu()
        return _StreamingState(
            inner, state.sources, state.owners[kept], state.written.index_select(0, kept)
        )

    def beams(self, source: Int[Tensor, "B S"], asked: BeamQuestion) -> Iterator[Ended] | None:
        """A whole beam search, where the model can do that and none is streamed."""
        if self.sources or not isinstance(self.inner, SearchesItself):
            return None
        found = self.inner.beams(source, asked)
        return None if found is None else self._while_wanted(found)

    def _while_wanted(self, found: Iterator[Ended]) -> Iterator[Ended]:
        for ended in found:
            if not self.is_wanted():
                raise Cancelled
            yield ended

    def _emit(
        self, sources: Sequence[Source], owners: Sequence[int], written: Int[Tensor, "R L"]
    ) -> None:
        if written.shape[1] < 2:  # <BOS> alone
            return
        told: set[int] = set()
        for row, owner in enumerate(owners):
            if owner not in told and sources[owner] in self.sources:
                self.emit(sources[owner], written[row, 1:].tolist())
            told.add(owner)


@dataclass(frozen=True)
class TranslationRequest:
    """A sentence, and whether it is streamed while it is decoded."""

    text: str
    is_streamed: bool = False


@dataclass(frozen=True)
class PartialTranslation:
    """The best unfinished output so far; a wider beam may still change its mind."""

    text: str


@dataclass(frozen=True)
class TranslationResult:
    """The translations of a sentence, best first, and their alignments if they were wanted."""

    source: str
    translations: tuple[Translation, ...]
    alignments: tuple[Alignment, ...] = ()


@dataclass(frozen=True, eq=False)
class TranslationRunner:
    """Translate with one model and one search, and align what was found if that is wanted."""

    served: Served[Translator]
    search: Search
    rows: int = 64
    with_alignments: bool = False

    @property
    def key(self) -> Hashable:
        """The same model, asked in the same way."""
        return ("translate", self.served.name, self.search, self.with_alignments)

    @property
    def is_shared(self) -> bool:
        """Aligning watches the model: nothing else may pass through it meanwhile."""
        return not self.with_alignments

    def run(self, items: Sequence[Item]) -> None:
        """Translate, and answer each as soon as it is found."""
        for item, translations in self._found(items):
            text = item.payload.text
            alignments = self._aligned(text, translations) if self.with_alignments else ()
            answer = TranslationResult(text, tuple(translations), alignments)
            item.emit(answer)
            item.answer(answer)

    def _found(self, items: Sequence[Item]) -> Iterator[tuple[Item, list[Translation]]]:
        texts = [item.payload.text for item in items]
        streaming = self._streaming(items)
        if self.with_alignments:  # alone, so on all cores; and nothing is aligned before the end
            found = list(streaming.translate_each(texts, self.search, batch_rows=self.rows))
            yield from zip(items, found, strict=True)
        else:
            for place, translations in streaming.translate_as_found(texts, self.search):
                yield items[place], translations

    def _aligned(self, text: str, found: Sequence[Translation]) -> tuple[Alignment, ...]:
        return tuple(self.served.opened.align_many((text, one.text) for one in found))

    def _streaming(self, items: Sequence[Item]) -> Translator:
        """The translator over a model that streams to these items, and stops when none waits."""
        translator = self.served.opened
        streamed: dict[Source, list[Item]] = {}
        for item in items:
            if item.payload.is_streamed:
                ids = translator.source_tokenizer.encode(item.payload.text)[: translator.limit]
                streamed.setdefault((*ids, EOS), []).append(item)

        def emit(source: Source, written: Sequence[int]) -> None:
            partial = PartialTranslation(translator.target_tokenizer.decode(written))
            for item in streamed[source]:
                item.emit(partial)

        def is_wanted() -> bool:
            return any(item.is_wanted for item in items)

        sources = set(streamed)
        return replace(
            translator, through=lambda inner: StreamingStep(inner, is_wanted, emit, sources)
        )


def check_texts(served: Served[Translator], texts: Sequence[str], bounds: Bounds) -> None:
    """Refuse what is too much for one request, or too long for the model."""
    bounds.check_size(texts)
    limit = min(bounds.tokens, served.opened.limit)
    for place, text in enumerate(texts):
        what = "the text" if len(texts) == 1 else f"sentence {place}"
        check_tokens(what, served.opened.tokenizer, text, limit)
