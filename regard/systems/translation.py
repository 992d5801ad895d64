"""Translation: a model folder, or several that vote, from sentences to sentences."""

import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, TypeVar, Unpack, overload

import torch

from regard.data import Batch, MemoryCorpus, collate
from regard.decoding import Hypothesis, Search, SourceLine, search_as_found, search_many
from regard.engine import Precision, checked_precision
from regard.errors import UsageError, WrongModelError
from regard.folder import LoadedModel
from regard.inspection.importance import Losses
from regard.inspection.trace import Sentence, Trace, TracedSite
from regard.models import EncoderDecoder, Model
from regard.shapes import Int, Tensor
from regard.special import BOS, EOS, UNKNOWN
from regard.systems.alignment import Alignment, Extraction, align_batch
from regard.systems.evaluation import Evaluation, Lines, evaluate_pairs
from regard.systems.loading import load
from regard.systems.networks import build_pair_network
from regard.systems.opened import Engines, OpenedModel, refusal
from regard.systems.pairs import prepare_pairs
from regard.systems.request import Request, SearchOptions, chosen_search, spellings
from regard.systems.results import Output, Result, Scored
from regard.systems.scoring import pair_losses, token_log_probabilities, windows
from regard.systems.shortlists import load_shortlist
from regard.systems.system import PAIRS_ONLY, System, Wording, system_of
from regard.systems.watching import positions, provenance, steps, watch
from regard.text import Tokenizer, sentences
from regard.text.given import checked_items, checked_pairs, checked_text
from regard.text.sentences import Units
from regard.text.words import split

MAX_TOKENS = 512
_TOGETHER = 32  # pairs that are aligned or derived at once


@dataclass(frozen=True, repr=False)
class Translation(Output):
    """One translation of a sentence."""

    shows: ClassVar[tuple[str, ...]] = ("text", "score")

    score: float = 0.0  # what the search ranks by
    n_left_out: int = 0  # source tokens beyond the limit, which were not translated
    unknown: tuple[str, ...] = ()  # words of the source that the vocabulary does not have
    others: tuple["Translation", ...] = ()  # the next best, where several were asked for


@dataclass(frozen=True)
class _Asked:
    """What the search is asked, and what of the source it does not see."""

    line: SourceLine
    n_left_out: int
    unknown: tuple[str, ...]


EMPTY = Translation("", (), (), 0.0)


Held = TypeVar("Held", bound="Translator")


@dataclass(frozen=True)
class Translator(OpenedModel):
    """One model, or an ensemble of models with one vocabulary."""

    others: tuple[LoadedModel, ...] = ()  # that vote with it
    max_tokens: int | None = None  # of a source; what is beyond is left out
    # What a service lays around all that decodes.
    through: Callable[[Any], Any] | None = field(default=None, kw_only=True)

    takes: ClassVar[frozenset[str]] = frozenset({"search"})
    reads_sources: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            raise UsageError(f"max_tokens = {self.max_tokens} is not possible: give 1 or more")
        for one in (self.loaded, *self.others):
            if not issubclass(system_of(one.recipe).open, Translator):
                raise WrongModelError(refusal(one, "translate"))
        for other in self.others:
            for side in ("source", "target"):
                if _fingerprint(self.loaded, side) != _fingerprint(other, side):
                    raise UsageError(
                        f"{other.path} cannot vote with {self.loaded.path}: its {side} vocabulary "
                        "is another; the models of an ensemble are trained with the same vocabulary"
                    )

    @classmethod
    def open(
        cls: type[Held],
        folder: str | Path | Sequence[str | Path],
        *,
        device: str | torch.device = "cpu",
        max_tokens: int | None = None,
        precision: Precision = "float32",
        shortlist: bool = False,
    ) -> Held:
        """Open one model folder, or several that translate together."""
        paths = [folder] if isinstance(folder, str | Path) else folder
        if not paths:
            raise UsageError("there is no model to translate with: give at least one folder")
        first, *others = (load(path, device) for path in paths)
        translator = cls(first, tuple(others), max_tokens)
        for model in translator.models:
            model.eval().requires_grad_(False)
        return translator.with_engine(precision, is_short=shortlist)

    def with_engine(self: Held, precision: str = "float32", *, is_short: bool = False) -> Held:
        """A translator that decodes with products of such numbers, or by its shortlist."""
        if is_short and self.others:
            raise UsageError(
                "a shortlist is of one model, and several vote here: leave out one or the other"
            )
        shortlist = load_shortlist(self.loaded) if is_short else None
        chosen = replace(self, engines=Engines(checked_precision(precision), shortlist))
        _ = chosen.decoders  # which refuse what cannot be computed so
        return chosen

    @property
    def models(self) -> tuple[EncoderDecoder, ...]:
        """The models that vote."""
        networks = (one.model for one in (self.loaded, *self.others))
        return tuple(one for one in networks if isinstance(one, EncoderDecoder))

    @property
    def decoders(self) -> tuple[Any, ...]:
        """What decodes for each of them."""
        own = tuple(self.engines.of(model) for model in self.models)
        return own if self.through is None else tuple(map(self.through, own))

    @property
    def source_tokenizer(self) -> Tokenizer:
        """What turns sources into ids."""
        return self.loaded.source_tokenizer

    @property
    def target_tokenizer(self) -> Tokenizer:
        """What turns ids into targets."""
        return self.loaded.target_tokenizer

    @property
    def limit(self) -> int:
        """The most tokens of a sentence that are read; learned positions end somewhere."""
        asked = self.usual_limit if self.max_tokens is None else self.max_tokens
        return max(1, min([asked, *(n - 1 for n in self._positions())]))

    @property
    def usual_limit(self) -> int:
        """The most tokens of a source, where nobody asks for another number."""
        return MAX_TOKENS

    @overload
    def translate(  # type: ignore[overload-overlap]  # a str iterates too, but is one sentence
        self, sentences: str | Request, **options: Unpack[SearchOptions]
    ) -> Translation: ...

    @overload
    def translate(
        self, sentences: Iterable[str | Request], **options: Unpack[SearchOptions]
    ) -> list[Translation]: ...

    def translate(
        self, sentences: str | Request | Iterable[str | Request], **options: Unpack[SearchOptions]
    ) -> Translation | list[Translation]:
        """The best translation of a sentence, or of each of several; the next best are in it.

        Options are those of a search: beam, n_best, alpha, ... (see :class:`SearchOptions`).
        """
        search = chosen_search(options)
        if isinstance(sentences, str | Request):
            return _with_others(next(self._translate([sentences], search, 1, 0)))
        return [_with_others(found) for found in self.translate_each(sentences, search)]

    def use(self, inputs: Sequence[str]) -> Sequence[Result]:
        """Translate."""
        return self.translate(inputs)

    def outputs(
        self, sources: Iterable[str], search: Search, batch_rows: int = 64
    ) -> Iterator[str]:
        """The best translation of each, as they are found."""
        return (
            best[0].text for best in self.translate_each(sources, search, batch_rows=batch_rows)
        )

    def with_limit(self: Held, max_tokens: int) -> Held:
        """A translator that reads so many tokens of a source; what is beyond is left out."""
        return replace(self, max_tokens=max_tokens)

    def evaluate(
        self,
        source: Lines | None = None,
        target: Lines | None = None,
        corpus: str | None = None,
        **options: Unpack[SearchOptions],
    ) -> Evaluation:
        """BLEU, chrF, TER, exact match and perplexity, of files, lists or a corpus."""
        return evaluate_pairs(self, chosen_search(options), source, target, corpus)

    def translate_each(
        self,
        sentences: Iterable[str | Request],
        search: Search | None = None,
        *,
        batch_rows: int = 64,
        first: int = 0,
    ) -> Iterator[list[Translation]]:
        """The translations of each sentence, best first, as they are found.

        A sentence without a token has one translation, which is empty. Sentences are numbered
        from ``first`` on: what sampling draws for one depends on its number alone.
        """
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
                yield self._scored_target(target[:limit], values, left_out)

    def score_texts(
        self, texts: Iterable[str], sources: Sequence[str] | None = None
    ) -> Iterator[Scored]:
        """``log P(text | source)``, token by token with <EOS>."""
        if sources is None:
            raise UsageError(
                f"{self.loaded.path} says how probable a translation is, given its source, and "
                "there are no sources: give a set that has them, or a model such as gpt or bert"
            )
        return self.score(zip(sources, texts, strict=True))

    def score_translations(self, pairs: Sequence[tuple[str, Sequence[int]]]) -> list[Scored]:
        """The same for tokens that were found, which text may not give back exactly."""
        limit = self.limit
        texts = [checked_text(source, f"pairs[{n}][0]") for n, (source, _) in enumerate(pairs)]
        sources = self.source_tokenizer.encode_many(texts)
        kept = [(s[:limit], t) for s, (_, t) in zip(sources, pairs, strict=True)]
        found = token_log_probabilities(self.models, kept)
        return [
            self._scored_target(tokens, values, 0)
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
        model = self.models[0]
        for window in windows(checked_pairs(pairs, "pairs"), _TOGETHER):
            read = [
                (self._read(self.source_tokenizer, s), self._read(self.target_tokenizer, t))
                for s, t in window
            ]
            yield from align_batch(model, read, layer, extraction)

    def _search(
        self, lines: Iterable[SourceLine], search: Search, batch_rows: int
    ) -> Iterator[list[Hypothesis]]:
        """What is found for each line, in order: the part that another engine may take over."""
        return search_many(self.decoders, lines, search, batch_rows=batch_rows, device=self.device)

    def _search_as_found(
        self, lines: Sequence[SourceLine], search: Search
    ) -> Iterator[tuple[int, list[Hypothesis]]]:
        """The same for one batch, each as it is found."""
        return search_as_found(self.decoders, lines, search, device=self.device)

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
        possible = (one for one in found if one.score > -math.inf)  # a broken model may find none
        return [self._translation(one, asked) for one in possible] or [EMPTY]

    def _translation(self, found: Hypothesis, asked: _Asked) -> Translation:
        tokenizer = self.target_tokenizer
        return Translation(
            tokenizer.decode(found.tokens),
            found.tokens,
            tuple(tokenizer.token(id_) for id_ in found.tokens),
            found.log_probability,
            found.score,
            asked.n_left_out,
            asked.unknown,
        )

    def _scored_target(
        self, target: Sequence[int], values: Sequence[float], n_left_out: int
    ) -> Scored:
        tokens = (*target, EOS)
        pieces = tuple(self.target_tokenizer.token(id_) for id_ in tokens)
        return Scored(tokens, pieces, tuple(values), n_left_out)

    def _read(self, tokenizer: Tokenizer, text: str) -> Units:
        words = tuple(word.text for word in split(text))
        return Units(words, tuple(tokenizer.pieces(text)[: self.limit]) if words else ())

    def _positions(self) -> list[int]:
        """How many places each model that learned them knows."""
        known = (one.recipe.model.n_places for one in (self.loaded, *self.others))
        return [n for n in known if n is not None]

    def within_positions(self, search: Search) -> Search:
        """The search with outputs no longer than places are known."""
        most = min([search.limits.most, *self._positions()])
        least = min(search.limits.least, most)
        return replace(search, limits=replace(search.limits, most=most, least=least))

    def _alone(self) -> EncoderDecoder:
        if self.others:
            raise UsageError(
                f"one model is looked into at a time, and {1 + len(self.others)} were given: "
                "choose one folder"
            )
        return self.models[0]

    def _check_source(self, source: str) -> None:
        self._alone()
        if not self.source_tokenizer.encode(checked_text(source, "source")):
            raise UsageError("there is nothing to translate: the source sentence is empty")

    def _made(
        self, source: str, target: str | None, search: Search | None, n_new: int | None
    ) -> tuple[str, tuple[int, ...]]:
        if target is None:
            best = next(self._translate([source], search, 1, 0))[0]
            return best.text, best.tokens
        return target, tuple(self.target_tokenizer.encode(target)[: self.limit])

    def _scored(self, source: str, made: tuple[str, tuple[int, ...]]) -> Scored:
        return self.score_translations([(source, made[1])])[0]

    def _output(self, source: str, made: tuple[str, tuple[int, ...]], scored: Scored) -> Output:
        text, tokens = made
        pieces = tuple(self.target_tokenizer.token(id_) for id_ in tokens)
        return Output(text, tokens, pieces, scored.log_probability)

    def _read_rows(self, model: Model, rows: Int[Tensor, "B L"]) -> None:
        assert isinstance(model, EncoderDecoder)
        model.hidden(rows, rows.new_full((len(rows), 1), BOS))

    def _losses(self, examples: Iterable[tuple[str, str]]) -> Iterator[tuple[int, Losses]]:
        """``-log P(target | source)`` of each pair."""
        model = self._alone()
        for window in windows(checked_pairs(examples, "pairs"), _TOGETHER):
            yield len(window), partial(pair_losses, model, self._batch(window))

    def _batch(self, pairs: Sequence[tuple[str, str]]) -> Batch:
        sources = self.source_tokenizer.encode_many([source for source, _ in pairs])
        targets = self.target_tokenizer.encode_many([target for _, target in pairs])
        ids = [(s[: self.limit], t[: self.limit]) for s, t in zip(sources, targets, strict=True)]
        return collate(MemoryCorpus(ids), range(len(ids))).to(self.device)

    def _read_sides(
        self, source: str, target: str | None, search: Search | None
    ) -> tuple[Sentence, Sentence, int]:
        """Both sentences as they are read, and how many tokens are not; found, or as given."""
        read, n_left_out = sentences.cut(self.source_tokenizer, source, self.limit)
        if target is None:
            tokens = next(self._translate([source], search, 1, 0))[0].tokens
            made = spelled(self.target_tokenizer, tokens)
        else:
            made, more = sentences.cut(self.target_tokenizer, target, self.limit)
            n_left_out += more
        return sentences.ending(read), sentences.ending(made), n_left_out

    def _trace(
        self, source: str, target: str | None, search: Search | None, n_new: int | None
    ) -> Trace:
        model = self._alone()
        read, made, n_left_out = self._read_sides(source, target, search)
        source_ids = torch.tensor([[token.id for token in read.tokens]], device=self.device)
        target_ids = torch.tensor([[token.id for token in made.read]], device=self.device)
        seen = watch(model, lambda: model(source_ids, target_ids))
        return Trace(
            read,
            made,
            seen.sites,
            steps(seen.logits, [token.id for token in made.tokens], self.target_tokenizer),
            provenance(self.loaded, target is not None, n_left_out, seen.difference),
            aligning_layer(model, seen.sites),
            seen.depths,
            positions(model, max(len(read.tokens), len(made.tokens))),
        )


def _with_others(found: Sequence[Translation]) -> Translation:
    best, *others = found
    return replace(best, others=tuple(others)) if others else best


def _fingerprint(loaded: LoadedModel, side: str) -> str:
    is_source = side == "source"
    tokenizer = loaded.source_tokenizer if is_source else loaded.target_tokenizer
    return tokenizer.fingerprint


def spelled(tokenizer: Tokenizer, ids: Sequence[int]) -> Sentence:
    """What a search wrote; text does not always give the tokens back that spelled it."""
    text = tokenizer.decode(ids)
    pieces = list(sentences.given(tokenizer, text)) if split(text) else []
    if [id_ for id_, *_ in pieces] == list(ids):
        return sentences.whole(text, pieces)
    return sentences.whole(*sentences.written(tokenizer, ids))


def aligning_layer(model: EncoderDecoder, sites: Sequence[TracedSite]) -> int | None:
    """The layer the model aligns by, or the last that came about before it."""
    chosen = model.aligning
    layers = [site.layer for site in sites if site.kind == "cross"]
    return None if chosen is None or not layers else min(chosen.layer, layers[-1])


SYSTEM = System(
    name="translation",
    build=build_pair_network,
    prepare=prepare_pairs,
    open=Translator,
    words=Wording(
        command="translate",
        methods=("translate", "align", "score"),
        use="`regard translate` reads with it",
        example="echo {text} | regard {command} {model}",
    ),
    data=("pairs",),
    refusals=PAIRS_ONLY,
)
