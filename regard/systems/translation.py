"""A model folder, or several that vote, from sentences to sentences."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import overload

import torch

from regard.decoding import Hypothesis, Search, SourceLine, search_as_found, search_many
from regard.errors import UsageError
from regard.folder import LoadedModel, load
from regard.models import EncoderDecoder
from regard.special import EOS, UNKNOWN
from regard.systems.alignment import Alignment, Extraction, align_batch
from regard.systems.request import Request, spellings
from regard.systems.scoring import Scored, token_log_probabilities, windows
from regard.text import Tokenizer
from regard.text.given import checked_items, checked_pairs, checked_text
from regard.text.sentences import Units
from regard.text.words import split

MAX_TOKENS = 512
_ALIGNED_TOGETHER = 32


@dataclass(frozen=True)
class Translation:
    """One translation of a sentence."""

    text: str
    tokens: tuple[int, ...]  # without <EOS>
    pieces: tuple[str, ...]
    score: float  # what the search ranks by
    log_probability: float
    n_left_out: int = 0  # source tokens beyond the limit, which were not translated
    unknown: tuple[str, ...] = ()  # words of the source that the vocabulary does not have


@dataclass(frozen=True)
class _Asked:
    """What the search is asked, and what of the source it does not see."""

    line: SourceLine
    n_left_out: int
    unknown: tuple[str, ...]


EMPTY = Translation("", (), (), 0.0, 0.0)


@dataclass(frozen=True)
class Translator:
    """One model, or an ensemble of models with one vocabulary."""

    loaded: tuple[LoadedModel, ...]
    max_tokens: int = MAX_TOKENS  # of a source; what is beyond is left out

    def __post_init__(self) -> None:
        if not self.loaded:
            raise UsageError("there is no model to translate with: give at least one folder")
        if self.max_tokens < 1:
            raise UsageError(f"max_tokens = {self.max_tokens} is not possible: give 1 or more")
        assert self.models  # each of them translates, or says what it is for
        first = self.loaded[0]
        for other in self.loaded[1:]:
            for side in ("source", "target"):
                if _fingerprint(first, side) != _fingerprint(other, side):
                    raise UsageError(
                        f"{other.path} cannot vote with {first.path}: its {side} vocabulary is "
                        "another; the models of an ensemble are trained with the same vocabulary"
                    )

    @classmethod
    def open(
        cls,
        folders: str | Path | Sequence[str | Path],
        *,
        device: str | torch.device = "cpu",
        max_tokens: int = MAX_TOKENS,
    ) -> "Translator":
        """Open one model folder, or several that translate together."""
        paths = [folders] if isinstance(folders, str | Path) else folders
        translator = cls(tuple(load(path, device) for path in paths), max_tokens)
        for model in translator.models:
            model.freeze()
        return translator

    @property
    def models(self) -> tuple[EncoderDecoder, ...]:
        """The models that vote."""
        return tuple(one.translator for one in self.loaded)

    @property
    def device(self) -> torch.device:
        """Where the models are."""
        return next(self.models[0].parameters()).device

    @property
    def source_tokenizer(self) -> Tokenizer:
        """What turns sources into ids."""
        return self.loaded[0].source_tokenizer

    @property
    def target_tokenizer(self) -> Tokenizer:
        """What turns ids into targets."""
        return self.loaded[0].target_tokenizer

    @property
    def limit(self) -> int:
        """The most tokens of a sentence that are read; learned positions end somewhere."""
        return max(1, min([self.max_tokens, *(n - 1 for n in self._positions())]))

    @overload
    def translate(  # type: ignore[overload-overlap]  # a str iterates too, but is one sentence
        self,
        sentences: str | Request,
        search: Search | None = None,
        *,
        batch_rows: int = 64,
        first: int = 0,
    ) -> list[Translation]: ...

    @overload
    def translate(
        self,
        sentences: Iterable[str | Request],
        search: Search | None = None,
        *,
        batch_rows: int = 64,
        first: int = 0,
    ) -> Iterator[list[Translation]]: ...

    def translate(
        self,
        sentences: str | Request | Iterable[str | Request],
        search: Search | None = None,
        *,
        batch_rows: int = 64,
        first: int = 0,
    ) -> list[Translation] | Iterator[list[Translation]]:
        """The translations of one sentence, best first; of several, in order, as they are found.

        A sentence without a token has one translation, which is empty. Sentences are numbered
        from ``first`` on: what sampling draws for one depends on its number alone.
        """
        if isinstance(sentences, str | Request):
            return next(self._translate([sentences], search, batch_rows, first))
        checked_items(sentences, "sentences")
        return self._translate(sentences, search, batch_rows, first)

    def _translate(
        self,
        sentences: Iterable[str | Request],
        search: Search | None,
        batch_rows: int,
        first: int,
    ) -> Iterator[list[Translation]]:
        asked: deque[_Asked | None] = deque()  # None: there is no token

        def lines() -> Iterator[SourceLine]:
            for place, sentence in enumerate(sentences):
                one = self._asked(sentence, place)
                asked.append(one)
                if one is not None:
                    yield replace(one.line, number=first + place)

        chosen = self.within_positions(search or Search())
        for hypotheses in self._search(lines(), chosen, batch_rows):
            while (of := asked.popleft()) is None:
                yield [EMPTY]
            yield self._translations(hypotheses, of)
        yield from ([EMPTY] for _ in asked)

    def translate_as_found(
        self, sentences: Sequence[str | Request], search: Search | None = None
    ) -> Iterator[tuple[int, list[Translation]]]:
        """The same for one batch, by this thread alone: each with its place, once it is found.

        Sentences that end early are not kept by those that are still searched for.
        """
        checked_items(sentences, "sentences")
        asked = [self._asked(sentence, place) for place, sentence in enumerate(sentences)]
        yield from ((place, [EMPTY]) for place, one in enumerate(asked) if one is None)
        full = [(place, one) for place, one in enumerate(asked) if one is not None]
        lines = [replace(one.line, number=place) for place, one in full]
        if not lines:
            return
        chosen = self.within_positions(search or Search())
        for row, hypotheses in self._search_as_found(lines, chosen):
            place, of = full[row]
            yield place, self._translations(hypotheses, of)

    def score(self, pairs: Iterable[tuple[str, str]]) -> Iterator[Scored]:
        """How probable each target is, given its source; in order, batches of like length."""
        for window in windows(checked_pairs(pairs, "pairs")):
            sources = self.source_tokenizer.encode_many([source for source, _ in window])
            targets = self.target_tokenizer.encode_many([target for _, target in window])
            limit = self.limit
            kept = [(s[:limit], t[:limit]) for s, t in zip(sources, targets, strict=True)]
            found = token_log_probabilities(self.models, kept)
            for source, target, values in zip(sources, targets, found, strict=True):
                left_out = max(0, len(source) - limit) + max(0, len(target) - limit)
                yield self._scored(target[:limit], values, left_out)

    def score_translations(self, pairs: Sequence[tuple[str, Sequence[int]]]) -> list[Scored]:
        """The same for tokens that were found, which text may not give back exactly."""
        limit = self.limit
        texts = [checked_text(source, f"pairs[{n}][0]") for n, (source, _) in enumerate(pairs)]
        sources = self.source_tokenizer.encode_many(texts)
        kept = [(s[:limit], t) for s, (_, t) in zip(sources, pairs, strict=True)]
        found = token_log_probabilities(self.models, kept)
        return [
            self._scored(tokens, values, 0)
            for (_, tokens), values in zip(pairs, found, strict=True)
        ]

    def align(
        self,
        source: str,
        target: str,
        layer: int | None = None,
        extraction: Extraction | None = None,
    ) -> Alignment:
        """Which source word each target word looked at, by the first model."""
        pair = checked_text(source, "source"), checked_text(target, "target")
        return next(self.align_many([pair], layer, extraction))

    def align_many(
        self,
        pairs: Iterable[tuple[str, str]],
        layer: int | None = None,
        extraction: Extraction | None = None,
    ) -> Iterator[Alignment]:
        """The alignment of each pair, in order."""
        model = self.loaded[0].translator
        for window in windows(checked_pairs(pairs, "pairs"), _ALIGNED_TOGETHER):
            read = [
                (self._read(self.source_tokenizer, s), self._read(self.target_tokenizer, t))
                for s, t in window
            ]
            yield from align_batch(model, read, layer, extraction)

    def _search(
        self, lines: Iterable[SourceLine], search: Search, batch_rows: int
    ) -> Iterator[list[Hypothesis]]:
        """What is found for each line, in order: the part that another engine may take over."""
        return search_many(self.models, lines, search, batch_rows=batch_rows, device=self.device)

    def _search_as_found(
        self, lines: Sequence[SourceLine], search: Search
    ) -> Iterator[tuple[int, list[Hypothesis]]]:
        """The same for one batch, each as it is found."""
        return search_as_found(self.models, lines, search, device=self.device)

    def _asked(self, given: str | Request, place: int) -> _Asked | None:
        """What the search is asked; nothing where there is no token."""
        if isinstance(given, Request):
            asked = given
        else:
            asked = Request(checked_text(given, f"sentences[{place}]"))
        ids = self.source_tokenizer.encode(asked.source)
        if not ids:
            return None
        prefix = tuple(self.target_tokenizer.encode(asked.prefix)) if asked.prefix else ()
        must = tuple(spellings(self.target_tokenizer, phrase) for phrase in asked.must)
        line = SourceLine((*ids[: self.limit], EOS), prefix, must)
        return _Asked(line, max(0, len(ids) - self.limit), self._unknown(asked.source, line.tokens))

    def _unknown(self, source: str, ids: Sequence[int]) -> tuple[str, ...]:
        if UNKNOWN not in ids:
            return ()
        pieces = self.source_tokenizer.pieces(source)[: self.limit]
        return tuple(source[one.start : one.end] for one in pieces if one.id == UNKNOWN)

    def _translations(self, found: Sequence[Hypothesis], asked: _Asked) -> list[Translation]:
        return [self._translation(one, asked) for one in found] or [EMPTY]

    def _translation(self, found: Hypothesis, asked: _Asked) -> Translation:
        tokenizer = self.target_tokenizer
        return Translation(
            tokenizer.decode(found.tokens),
            found.tokens,
            tuple(tokenizer.token(id_) for id_ in found.tokens),
            found.score,
            found.log_probability,
            asked.n_left_out,
            asked.unknown,
        )

    def _scored(self, target: Sequence[int], values: Sequence[float], n_left_out: int) -> Scored:
        tokens = (*target, EOS)
        pieces = tuple(self.target_tokenizer.token(id_) for id_ in tokens)
        return Scored(tokens, pieces, tuple(values), n_left_out)

    def _read(self, tokenizer: Tokenizer, text: str) -> Units:
        words = tuple(word.text for word in split(text))
        return Units(words, tuple(tokenizer.pieces(text)[: self.limit]) if words else ())

    def _positions(self) -> list[int]:
        """How many places each model that learned them knows."""
        known = (one.recipe.model.n_places for one in self.loaded)
        return [n for n in known if n is not None]

    def within_positions(self, search: Search) -> Search:
        """The search with outputs no longer than places are known."""
        most = min([search.limits.most, *self._positions()])
        least = min(search.limits.least, most)
        return replace(search, limits=replace(search.limits, most=most, least=least))


def _fingerprint(loaded: LoadedModel, side: str) -> str:
    is_source = side == "source"
    tokenizer = loaded.source_tokenizer if is_source else loaded.target_tokenizer
    return tokenizer.fingerprint
