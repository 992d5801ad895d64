"""Tags: a model folder that tells a tag for each word of a text."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, overload

import numpy as np
import torch

from regard.config import Network
from regard.config.labelling import TaggerSection
from regard.data import (
    NOTHING,
    Labelled,
    Tagged,
    labelled_batch,
    parse_labelled,
    read_tagged,
    word_rows,
)
from regard.errors import WrongModelError
from regard.evaluation import (
    accuracy,
    by_label,
    by_type,
    confusion,
    macro_f1,
    micro_f1,
    tells_spans,
)
from regard.folder import load_lexicon
from regard.models import Model, Tagger
from regard.systems.evaluation import LabelEvaluation
from regard.systems.labelled import Examples, PreparedLabels, Row, n_labels
from regard.systems.labels import LabellingModel, TextLabel
from regard.systems.networks import layers, sizes_alone
from regard.systems.opened import refusal
from regard.systems.results import Result
from regard.systems.system import LABELS_ONLY, System, Wording
from regard.text import Tokenizer, Word
from regard.text.given import checked_items, checked_text
from regard.text.segmenting import Lexicon, is_parted, parted
from regard.text.sentences import cut_at_words, joined
from regard.text.words import split

_ROWS = 64


@dataclass(frozen=True, repr=False)
class TaggedWord(Result):
    """A word of a text, its tag, and how probable that is."""

    shows: ClassVar[tuple[str, ...]] = ("word", "label", "probability")

    label: str
    probability: float
    word: str
    start: int  # in the text
    end: int


@dataclass(frozen=True, repr=False)
class TaggedText(Result):
    """A text, and its words with their tags."""

    shows: ClassVar[tuple[str, ...]] = ("text", "tags")

    text: str
    words: tuple[TaggedWord, ...]

    @property
    def tags(self) -> tuple[str, ...]:
        """The tag of each word."""
        return tuple(one.label for one in self.words)

    def __str__(self) -> str:
        return " ".join(f"{one.word}/{one.label}" for one in self.words)


@dataclass(frozen=True)
class WordTagger(LabellingModel):
    """A model that tells the tag of each word."""

    lexicon: Lexicon | None = None  # the words of its training data, where they are known

    def __post_init__(self) -> None:
        if not isinstance(self.loaded.model, Tagger):
            raise WrongModelError(refusal(self.loaded, "tag"))
        if self.lexicon is None:
            object.__setattr__(self, "lexicon", load_lexicon(self.loaded.path))

    @property
    def model(self) -> Tagger:
        """The network."""
        assert isinstance(self.loaded.model, Tagger)
        return self.loaded.model

    def words(self, text: str) -> list[Word]:
        """The words of a text, cut as the training data were.

        Where spaces part characters that are usually written without, they part the words. Else
        Chinese and Japanese are cut by the words of the training data; signs stand by themselves.
        """
        return cut_words(self.lexicon, text)

    @overload
    def tag(  # type: ignore[overload-overlap]  # a str iterates too, but is one text
        self, sentences: str
    ) -> TaggedText: ...

    @overload
    def tag(self, sentences: Iterable[str | tuple[str, Sequence[Word]]]) -> list[TaggedText]: ...

    def tag(
        self, sentences: str | Iterable[str | tuple[str, Sequence[Word]]]
    ) -> TaggedText | list[TaggedText]:
        """The words of a sentence, or of each of several, each with its likeliest tag.

        A sentence may be given with its words and their places, as ``words`` finds them.
        """
        if isinstance(sentences, str):
            return next(self.tag_each([sentences]))
        return list(self.tag_each(sentences))

    def use(self, inputs: Sequence[str]) -> Sequence[TaggedText]:
        """Tag."""
        return self.tag(inputs)

    def tag_each(
        self, sentences: Iterable[str | tuple[str, Sequence[Word]]]
    ) -> Iterator[TaggedText]:
        """The words of each sentence with their tags, as they are found."""
        items = enumerate(checked_items(sentences, "sentences"))
        return self._tag([self._given(one, f"sentences[{number}]") for number, one in items])

    def evaluate(self, data: str) -> LabelEvaluation:
        """Accuracy, F1 of tags and of spans, and who is taken for whom, of right tags."""
        examples = read_tagged([parse_labelled(data)], self.labels)
        told = self.tag([joined(one.words) for one in examples])
        rows = [list(one.tags) for one in told]
        given = [one for row in rows for one in row]
        truth = [one for example in examples for one in example.tags]
        found = by_label(given, truth)
        scores = {"accuracy": accuracy(given, truth), "macro F1": macro_f1(found)}
        tables = {"tag": found}
        if tells_spans(self.labels):
            typed = by_type(rows, [one.tags for one in examples])
            scores["span F1"], tables["span"] = micro_f1(typed), typed
        return LabelEvaluation(
            model=str(self.loaded.path),
            gold=data,
            n={"sentences": len(examples), "words": len(truth)},
            shares=scores,
            tables=tables,
            labels=list(self.labels),
            confusion=confusion(given, truth, self.labels),
        )

    def _given(self, sentence: object, name: str) -> tuple[str, Sequence[Word]]:
        if isinstance(sentence, tuple) and len(sentence) == 2:
            return checked_text(sentence[0], f"{name}[0]"), sentence[1]
        text = checked_text(sentence, name)
        return text, self.words(text)

    @torch.inference_mode()
    def _tag(self, sentences: Sequence[tuple[str, Sequence[Word]]]) -> Iterator[TaggedText]:
        for first in range(0, len(sentences), _ROWS):
            part = sentences[first : first + _ROWS]
            cut = [
                word_rows(cut_at_words(self.tokenizer, *_read(text, words)), self.limit)
                for text, words in part
            ]
            told = iter(self._told([row for rows in cut for row in rows]))
            for text, words in part:
                yield TaggedText(text, tuple(_tagged(word, next(told)) for word in words))

    def _told(self, rows: list[tuple[list[int], list[int]]]) -> Iterator[TextLabel]:
        """The tags of all words of these rows, end to end."""
        for first in range(0, len(rows), _ROWS):
            pairs = []
            for ids, firsts in rows[first : first + _ROWS]:
                places = np.full(len(ids), NOTHING)
                places[firsts] = 0
                pairs.append((np.asarray(ids), places))
            batch = labelled_batch(pairs).to(self.device)
            logits = self.engine.label(batch.source, batch.target != NOTHING)
            yield from (best for (best,) in self.likeliest(logits, 1))


def cut_words(lexicon: Lexicon | None, text: str) -> list[Word]:
    """The words of a text, by the words of the training data where they are known."""
    checked_text(text, "text")
    if lexicon is None and is_parted(text):
        return parted(text)
    return split(text) if lexicon is None else lexicon.words(text)


def _tagged(word: Word, told: TextLabel) -> TaggedWord:
    return TaggedWord(told.label, told.probability, word.text, word.start, word.end)


def _read(text: str, words: Sequence[Word]) -> tuple[str, Sequence[Word]]:
    """A text as training reads it: there, too, spaces that part Chinese words are not read."""
    return joined([word.text for word in words]) if is_parted(text) else (text, words)


@dataclass(frozen=True)
class PreparedWordTags(PreparedLabels):
    """Sentences with a tag for each word."""

    @property
    def lexicon(self) -> Lexicon | None:
        """The words that have tags; a text to tag is cut into such."""
        return Lexicon.of([one.words for one in self.examples if isinstance(one, Tagged)])

    @classmethod
    def read(cls, train: Sequence[str], valid: Sequence[str]) -> tuple[Examples, Examples]:
        """Words and their tags."""
        learned = read_tagged([parse_labelled(name) for name in train])
        tags = {tag for one in learned for tag in one.tags}
        return learned, read_tagged([parse_labelled(name) for name in valid], tags)

    @classmethod
    def rows(
        cls, example: Labelled, numbers: dict[str, int], tokenizer: Tokenizer, most: int
    ) -> tuple[list[Row], bool]:
        """As many rows as a long sentence needs; a tag stands at the first piece of its word."""
        assert isinstance(example, Tagged)
        found, tags = list[Row](), iter(example.tags)
        for row, firsts in word_rows(cut_at_words(tokenizer, *joined(example.words)), most):
            places = np.full(len(row), NOTHING, dtype=np.int32)
            places[firsts] = [numbers[next(tags)] for _ in firsts]
            found.append((row, places))
        return found, len(found) > 1


def _build(network: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    assert isinstance(network, TaggerSection)
    return Tagger(
        n_source_tokens,
        sizes_alone(network),
        n_labels=n_labels(network),
        n_types=network.n_types,
        **layers(network),
    )


SYSTEM = System(
    name="tags",
    build=_build,
    prepare=PreparedWordTags.prepare,
    open=WordTagger,
    words=Wording(
        command="tag",
        methods=("tag",),
        use="`regard tag` reads with it, and judges it with --gold FILE",
        reads="tokens of text",
        predicts="labels",
    ),
    data=("pairs",),
    refusals=LABELS_ONLY,
)
