"""A folder of a model that tells labels: of texts, or of the words of a text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar, overload

import numpy as np
import torch

from regard.config.labelling import ClassifierSection, Labelling
from regard.data import NOTHING, labelled_batch, text_row, word_rows
from regard.errors import UsageError
from regard.folder import LoadedModel, load_lexicon
from regard.models import Classifier, Labeller, Tagger
from regard.shapes import Float, Tensor
from regard.systems.opening import open_as
from regard.text import Tokenizer, Word
from regard.text.given import checked_items, checked_text, checked_texts
from regard.text.segmenting import Lexicon, is_parted, parted
from regard.text.sentences import cut_at_words, joined
from regard.text.words import split

_ROWS = 64

Kind = TypeVar("Kind", bound=Labeller)


@dataclass(frozen=True)
class Told:
    """A label, and how probable it is."""

    label: str
    probability: float


@dataclass(frozen=True)
class _Opened(Generic[Kind]):
    loaded: LoadedModel
    model: Kind

    @property
    def labels(self) -> tuple[str, ...]:
        """What it can tell."""
        network = self.loaded.recipe.model
        assert isinstance(network, Labelling)
        return network.labels

    @property
    def tokenizer(self) -> Tokenizer:
        """What turns text into ids."""
        return self.loaded.source_tokenizer

    def _best(self, logits: Float[Tensor, "N C"], k: int) -> list[list[Told]]:
        best = logits.double().softmax(-1).topk(min(k, len(self.labels)), dim=-1)
        rows = zip(best.indices.tolist(), best.values.tolist(), strict=True)
        return [[Told(self.labels[i], p) for i, p in zip(*row, strict=True)] for row in rows]


@dataclass(frozen=True)
class Judge(_Opened[Classifier]):
    """A model that tells the label of a text, or of a pair of texts."""

    @classmethod
    def open(cls, folder: str | Path, *, device: str | torch.device = "cpu") -> "Judge":
        """Open a model folder."""
        return cls(*open_as(Classifier, folder, device, cannot="tells no label of a text"))

    @property
    def n_texts(self) -> int:
        """Of how many texts together it tells a label: 1 or 2."""
        network = self.loaded.recipe.model
        assert isinstance(network, ClassifierSection)
        return network.n_texts

    @overload
    def classify(  # type: ignore[overload-overlap]  # a str iterates too, but is one text
        self, texts: str, k: int = 1
    ) -> list[Told]: ...

    @overload
    def classify(
        self, texts: Iterable[str | Sequence[str]], k: int = 1
    ) -> Iterator[list[Told]]: ...

    def classify(
        self, texts: str | Iterable[str | Sequence[str]], k: int = 1
    ) -> list[Told] | Iterator[list[Told]]:
        """The k likeliest labels of a text; of several texts or pairs, of each.

        What is too long is cut.
        """
        if isinstance(texts, str):
            return next(self._classify([(texts,)], k))
        items = enumerate(checked_items(texts, "texts"))
        return self._classify([_texts(one, f"texts[{number}]") for number, one in items], k)

    @torch.inference_mode()
    def _classify(self, texts: Sequence[tuple[str, ...]], k: int) -> Iterator[list[Told]]:
        for first in range(0, len(texts), _ROWS):
            rows = [self.row(one)[0] for one in texts[first : first + _ROWS]]
            read = labelled_batch([(np.asarray(row), np.asarray([NOTHING])) for row in rows]).source
            yield from self._best(self.model(read.to(self.model.output.weight.device)), k)

    def row(self, texts: str | Sequence[str]) -> tuple[list[int], bool]:
        """What the model reads of a text or pair, and whether it was cut."""
        texts = _texts(texts, "texts")
        if len(texts) != self.n_texts:
            wants = "one text" if self.n_texts == 1 else "two texts with a tab between them"
            given = "1 was" if len(texts) == 1 else f"{len(texts)} were"
            raise UsageError(
                f"{self.loaded.path} tells the label of {wants}, and {given} given: give each line "
                f"so, unlike {' '.join(texts)[:60]!r}"
            )
        if not all(one.strip() for one in texts):
            raise UsageError("an empty text has no label: give some words, or leave the line out")
        return text_row(self.tokenizer, texts, self.model.context)


def _texts(given: object, name: str) -> tuple[str, ...]:
    """A text, or those of a pair."""
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        return (checked_text(given, name),)
    return tuple(checked_texts(given, name))


@dataclass(frozen=True)
class TaggedWord(Told):
    """A word of a text, its tag, and how probable that is."""

    word: str
    start: int  # in the text
    end: int


@dataclass(frozen=True)
class WordJudge(_Opened[Tagger]):
    """A model that tells the tag of each word."""

    lexicon: Lexicon | None = None  # the words of its training data, where they are known

    @classmethod
    def open(cls, folder: str | Path, *, device: str | torch.device = "cpu") -> "WordJudge":
        """Open a model folder."""
        loaded, model = open_as(Tagger, folder, device, cannot="tells no tags of words")
        return cls(loaded, model, load_lexicon(folder))

    def words(self, text: str) -> list[Word]:
        """The words of a text, cut as the training data were.

        Where spaces part characters that are usually written without, they part the words. Else
        Chinese and Japanese are cut by the words of the training data; signs stand by themselves.
        """
        checked_text(text, "text")
        if self.lexicon is None and is_parted(text):
            return parted(text)
        return split(text) if self.lexicon is None else self.lexicon.words(text)

    @overload
    def tag(  # type: ignore[overload-overlap]  # a str iterates too, but is one text
        self, sentences: str
    ) -> list[TaggedWord]: ...

    @overload
    def tag(
        self, sentences: Iterable[str | tuple[str, Sequence[Word]]]
    ) -> Iterator[list[TaggedWord]]: ...

    def tag(
        self, sentences: str | Iterable[str | tuple[str, Sequence[Word]]]
    ) -> list[TaggedWord] | Iterator[list[TaggedWord]]:
        """The words of a sentence, each with its likeliest tag; of several sentences, of each.

        A sentence may be given with its words and their places, as ``words`` finds them.
        """
        if isinstance(sentences, str):
            return next(self._tag([(sentences, self.words(sentences))]))
        items = enumerate(checked_items(sentences, "sentences"))
        return self._tag([self._given(one, f"sentences[{number}]") for number, one in items])

    def _given(self, sentence: object, name: str) -> tuple[str, Sequence[Word]]:
        if isinstance(sentence, tuple) and len(sentence) == 2:
            return checked_text(sentence[0], f"{name}[0]"), sentence[1]
        text = checked_text(sentence, name)
        return text, self.words(text)

    @torch.inference_mode()
    def _tag(self, sentences: Sequence[tuple[str, Sequence[Word]]]) -> Iterator[list[TaggedWord]]:
        for first in range(0, len(sentences), _ROWS):
            part = sentences[first : first + _ROWS]
            cut = [
                word_rows(cut_at_words(self.tokenizer, *_read(text, words)), self.model.context)
                for text, words in part
            ]
            told = iter(self._told([row for rows in cut for row in rows]))
            for _, words in part:
                yield [_tagged(word, next(told)) for word in words]

    def _told(self, rows: list[tuple[list[int], list[int]]]) -> Iterator[Told]:
        """The tags of all words of these rows, end to end."""
        for first in range(0, len(rows), _ROWS):
            pairs = []
            for ids, firsts in rows[first : first + _ROWS]:
                places = np.full(len(ids), NOTHING)
                places[firsts] = 0
                pairs.append((np.asarray(ids), places))
            batch = labelled_batch(pairs).to(self.model.output.weight.device)
            logits = self.model.at(batch.source, batch.target != NOTHING)
            yield from (best for (best,) in self._best(logits, 1))


def _tagged(word: Word, told: Told) -> TaggedWord:
    return TaggedWord(told.label, told.probability, word.text, word.start, word.end)


def _read(text: str, words: Sequence[Word]) -> tuple[str, Sequence[Word]]:
    """A text as training reads it: there, too, spaces that part Chinese words are not read."""
    return joined([word.text for word in words]) if is_parted(text) else (text, words)
