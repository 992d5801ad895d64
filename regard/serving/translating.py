"""Sentences of many requests, translated together."""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from regard.decoding import Search
from regard.serving.catalogue import Served
from regard.serving.heard import Audience, Source
from regard.serving.refusals import RequestError
from regard.serving.settings import Bounds
from regard.serving.ticket import Item
from regard.special import EOS
from regard.systems import Alignment, Translation
from regard.text import Tokenizer


@dataclass(frozen=True)
class Asked:
    """A sentence, and whether somebody listens."""

    text: str
    is_heard: bool = False  # while it is decoded


@dataclass(frozen=True)
class Partial:
    """The best unfinished output so far; a wider beam may still change its mind."""

    text: str


@dataclass(frozen=True)
class Found:
    """The translations of a sentence, best first, and their alignments if they were wanted."""

    source: str
    translations: tuple[Translation, ...]
    alignments: tuple[Alignment, ...] = ()


@dataclass(frozen=True, eq=False)
class Translating:
    """Translate with one model and one search, and align what was found if that is wanted."""

    served: Served
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
            answer = Found(text, tuple(translations), alignments)
            item.tell(answer)
            item.answer(answer)

    def _found(self, items: Sequence[Item]) -> Iterator[tuple[Item, list[Translation]]]:
        texts = [item.payload.text for item in items]
        aloud = self.served.aloud(self._audience(items))
        if self.with_alignments:  # alone, so on all cores; and nothing is aligned before the end
            found = list(aloud.translate(texts, self.search, batch_rows=self.rows))
            yield from zip(items, found, strict=True)
        else:
            for place, translations in aloud.translate_as_found(texts, self.search):
                yield items[place], translations

    def _aligned(self, text: str, found: Sequence[Translation]) -> tuple[Alignment, ...]:
        return tuple(self.served.translator.align_many((text, one.text) for one in found))

    def _audience(self, items: Sequence[Item]) -> Audience:
        """Whoever waits for one of these; and of those who listen, to which source."""
        translator = self.served.translator
        listening: dict[Source, list[Item]] = {}
        for item in items:
            if item.payload.is_heard:
                ids = translator.source_tokenizer.encode(item.payload.text)[: translator.limit]
                listening.setdefault((*ids, EOS), []).append(item)

        def tell(source: Source, written: Sequence[int]) -> None:
            partial = Partial(translator.target_tokenizer.decode(written))
            for item in listening[source]:
                item.tell(partial)

        return Audience(lambda: any(item.is_wanted for item in items), tell, frozenset(listening))


def check_texts(served: Served, texts: Sequence[str], bounds: Bounds) -> None:
    """Refuse what is too much, with the number that is allowed."""
    check_size(texts, bounds)
    limit = min(bounds.tokens, served.translator.limit)
    for place, text in enumerate(texts):
        what = "the text" if len(texts) == 1 else f"sentence {place}"
        check_tokens(what, served.translator.source_tokenizer, text, limit)


def check_beam(width: int, bounds: Bounds) -> None:
    """The same for the width of a beam."""
    if width > bounds.beam:
        raise RequestError(
            f"a beam of {width} is too wide here: ask for up to {bounds.beam}", code="beam"
        )


def check_tokens(what: str, tokenizer: Tokenizer, text: str, limit: int) -> None:
    """The same for one text and its tokens."""
    n = len(tokenizer.encode(text))
    if n > limit:
        raise RequestError(
            f"{what} has {n:,} tokens, and {limit:,} are allowed here: split it",
            status=413,
            code="too-long",
        )


def check_size(texts: Sequence[str], bounds: Bounds) -> None:
    """The same for what can be counted without a model."""
    if len(texts) > bounds.sentences:
        raise RequestError(
            f"{len(texts):,} sentences are too many for one request: send up to "
            f"{bounds.sentences:,}",
            status=413,
            code="too-many",
        )
    n = sum(map(len, texts))
    if n > bounds.characters:
        raise RequestError(
            f"{n:,} characters are too many for one request: send up to {bounds.characters:,}",
            status=413,
            code="too-long",
        )
