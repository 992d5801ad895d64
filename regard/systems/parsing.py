"""Parsing: a model folder that tells the governor of each word, and its relation to it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar, overload

import numpy as np
import torch
from torch.nn import functional as F

from regard.config import Network
from regard.config.labelling import ParserSection
from regard.counting import counted
from regard.data import (
    NOTHING,
    Batch,
    Labelled,
    LabelledRows,
    Parsed,
    labelled_batch,
    read_treebank,
    word_rows,
)
from regard.data.treebank import ROOT
from regard.decoding import best_tree
from regard.errors import WrongModelError
from regard.evaluation import TreeQuality, by_label, macro_f1, universal
from regard.folder import load_lexicon
from regard.models import BiaffineParser, Model
from regard.shapes import Bool, Float, Int, Tensor
from regard.systems.evaluation import ScoreTable, TabledScores
from regard.systems.labelled import Examples, LabelValidation, PreparedLabels, Row, n_labels
from regard.systems.labels import LabellingModel
from regard.systems.networks import layers, sizes_alone
from regard.systems.opened import refusal
from regard.systems.results import Result
from regard.systems.system import LABELS_ONLY, System, Wording
from regard.systems.tags import cut_words
from regard.text import Tokenizer, Word
from regard.text.given import checked_items, checked_text
from regard.text.segmenting import Lexicon
from regard.text.sentences import cut_at_words
from regard.training.tasks import Task
from regard.training.validation import Stopped

_ROWS = 32
_APOSTROPHES = ("'", "’")
_FEWEST = 2  # times that an ending stands in the training data
_ROOT = "root"
_JOINS_ROWS = "parataxis"  # what the rest of a sentence is to its beginning, which is too long


@dataclass(frozen=True, repr=False)
class ParsedWord(Result):
    """A word of a text, the number of its governor (from 1; 0 is the root) and its relation."""

    shows: ClassVar[tuple[str, ...]] = ("word", "head", "relation")

    word: str
    head: int
    relation: str
    start: int  # in the text
    end: int


@dataclass(frozen=True, repr=False)
class ParsedText(Result):
    """A text, and the tree of its words."""

    shows: ClassVar[tuple[str, ...]] = ("text", "heads")

    text: str
    words: tuple[ParsedWord, ...]

    @property
    def heads(self) -> tuple[int, ...]:
        """The governor of each word, from 1; 0 is the root."""
        return tuple(one.head for one in self.words)

    def conllu(self) -> str:
        """The sentence in CoNLL-U: words, governors and relations, and an empty line."""
        lines = [f"# text = {' '.join(self.text.split())}"]
        for number, one in enumerate(self.words, 1):
            after = self.text[one.end : one.end + 1]
            note = "_" if number == len(self.words) or after.isspace() else "SpaceAfter=No"
            row = (number, one.word, *"____", one.head, one.relation, "_", note)
            lines.append("\t".join(map(str, row)))
        return "\n".join(lines) + "\n\n"

    def __str__(self) -> str:
        return self.conllu()


@dataclass(frozen=True, repr=False)
class ParserEvaluation(TabledScores):
    """Shares of words with the right governor (UAS) and the right relation too (LAS)."""

    model: str
    treebank: str
    n_sentences: int
    n_words: int
    uas: float
    las: float  # of relations without subtypes, as in the CoNLL 2018 shared task
    las_subtypes: float
    controls: dict[str, float]  # UAS of trees that follow from the places of words alone
    relations: dict[str, tuple[int, float, float]]  # how many, UAS and LAS

    @property
    def scores(self) -> Mapping[str, float]:
        """Attachment scores."""
        return {"uas": self.uas, "las": self.las, "las_subtypes": self.las_subtypes}

    def table(self) -> ScoreTable:
        """The parser beside its controls, then each relation."""

        def shown(n: int, *shares: float) -> tuple[str, ...]:
            return (f"{n:,}", *(f"{100 * one:.2f}" for one in shares))

        rows = [("all words", *shown(self.n_words, self.uas, self.las))]
        rows += [(name, *shown(self.n_words, uas), "") for name, uas in self.controls.items()]
        found = sorted(self.relations.items(), key=lambda one: -one[1][0])
        rows += [(name, *shown(*numbers)) for name, numbers in found]
        return ScoreTable(
            f"{self.model} on {self.treebank}: {counted(self.n_sentences, 'sentence')}",
            ("words", "n", "UAS", "LAS"),
            rows,
            (f"LAS with subtypes of relations: {100 * self.las_subtypes:.2f}",),
        )


@dataclass(frozen=True)
class TreeParser(LabellingModel):
    """A model that tells the tree of a sentence."""

    lexicon: Lexicon | None = None  # words written without spaces, and endings such as n't

    def __post_init__(self) -> None:
        if not isinstance(self.loaded.model, BiaffineParser):
            raise WrongModelError(refusal(self.loaded, "parse"))
        if self.lexicon is None:
            object.__setattr__(self, "lexicon", load_lexicon(self.loaded.path))

    @property
    def model(self) -> BiaffineParser:
        """The network."""
        assert isinstance(self.loaded.model, BiaffineParser)
        return self.loaded.model

    def words(self, text: str) -> list[Word]:
        """The words of a text; what the treebank cuts off ("do n't"), is cut off here."""
        known = () if self.lexicon is None else self.lexicon.counts
        endings = [one for one in known if any(sign in one for sign in _APOSTROPHES)]
        return [part for word in cut_words(self.lexicon, text) for part in _cut(word, endings)]

    @overload
    def parse(  # type: ignore[overload-overlap]  # a str iterates too, but is one text
        self, texts: str
    ) -> ParsedText: ...

    @overload
    def parse(self, texts: Iterable[str | tuple[str, Sequence[Word]]]) -> list[ParsedText]: ...

    def parse(
        self, texts: str | Iterable[str | tuple[str, Sequence[Word]]]
    ) -> ParsedText | list[ParsedText]:
        """The tree of a sentence, or of each of several.

        A sentence may be given with its words and their places, as ``words`` finds them.
        """
        if isinstance(texts, str):
            return next(self.parse_each([texts]))
        return list(self.parse_each(texts))

    def use(self, inputs: Sequence[str]) -> Sequence[ParsedText]:
        """Parse."""
        return self.parse(inputs)

    def parse_each(self, texts: Iterable[str | tuple[str, Sequence[Word]]]) -> Iterator[ParsedText]:
        """The tree of each sentence, as they are found."""
        items = enumerate(checked_items(texts, "texts"))
        given = [self._given(one, f"texts[{number}]") for number, one in items]
        return (
            tree
            for first in range(0, len(given), _ROWS)
            for tree in self._parse(given[first : first + _ROWS])
        )

    def evaluate(self, data: str) -> ParserEvaluation:
        """Attachment scores on a treebank whose words are given, beside trees of places alone."""
        gold = list(read_treebank(data))
        found = self.parse([(one.text, one.words) for one in gold])
        heads = [[head + 1 for head in one.heads] for one in gold]
        relations = [list(one.relations) for one in gold]
        counts: dict[str, list[int]] = {}
        n_exact = 0
        for tree, right, names in zip(found, heads, relations, strict=True):
            for word, head, name in zip(tree.words, right, names, strict=True):
                is_same = universal(word.relation) == universal(name)
                row = counts.setdefault(universal(name), [0, 0, 0])
                row[0] += 1
                row[1] += word.head == head
                row[2] += word.head == head and is_same
                n_exact += word.head == head and word.relation == name
        n, n_heads, n_both = (sum(row[k] for row in counts.values()) for k in range(3))
        return ParserEvaluation(
            model=str(self.loaded.path),
            treebank=data,
            n_sentences=len(gold),
            n_words=n,
            uas=n_heads / n,
            las=n_both / n,
            las_subtypes=n_exact / n,
            controls=place_controls(heads),
            relations={
                name: (row[0], row[1] / row[0], row[2] / row[0]) for name, row in counts.items()
            },
        )

    def _given(self, sentence: object, name: str) -> tuple[str, Sequence[Word]]:
        if isinstance(sentence, tuple) and len(sentence) == 2:
            return checked_text(sentence[0], f"{name}[0]"), sentence[1]
        text = checked_text(sentence, name)
        return text, self.words(text)

    @torch.inference_mode()
    def _parse(self, sentences: Sequence[tuple[str, Sequence[Word]]]) -> Iterator[ParsedText]:
        cut = [
            word_rows(cut_at_words(self.tokenizer, text, words), self.limit) if words else []
            for text, words in sentences
        ]
        trees = iter(self._trees([row for rows in cut for row in rows]))
        for (text, words), rows in zip(sentences, cut, strict=True):
            heads, relations = self._joined([next(trees) for _ in rows])
            parts = zip(words, heads, relations, strict=True)
            yield ParsedText(
                text, tuple(ParsedWord(w.text, h, r, w.start, w.end) for w, h, r in parts)
            )

    def _trees(
        self, rows: Sequence[tuple[list[int], list[int]]]
    ) -> list[tuple[list[int], list[str]]]:
        """Governors (from 1) and relations of the words of each row."""
        if not rows:
            return []
        pairs = []
        for ids, firsts in rows:
            places = np.full(len(ids), NOTHING)
            places[firsts] = 0
            pairs.append((np.asarray(ids), places))
        batch = labelled_batch(pairs).to(self.device)
        heads, labels = parse_batch(self.engine, batch.source, batch.target != NOTHING, self.labels)
        return [
            (mine, [self.labels[one] for one in told])
            for mine, told in zip(heads, labels, strict=True)
        ]

    def _joined(self, trees: Sequence[tuple[list[int], list[str]]]) -> tuple[list[int], list[str]]:
        """One tree of those of a sentence's rows: later roots hang on the first."""
        heads, relations = list[int](), list[str]()
        for mine, told in trees:
            first, n = len(heads), len(heads)
            root = heads.index(0) + 1 if heads else 0
            heads += [head + n if head else root for head in mine]
            relations += told
            if root:
                relations[first + mine.index(0)] = _JOINS_ROWS
        return heads, relations


def _cut(word: Word, endings: Sequence[str]) -> list[Word]:
    lowered = word.text.lower()
    fitting = [one for one in endings if lowered.endswith(one) and len(lowered) > len(one)]
    if not fitting:
        return [word]
    n = len(word.text) - max(map(len, fitting))
    middle = word.start + n
    return [Word(word.text[:n], word.start, middle), Word(word.text[n:], middle, word.end)]


def place_controls(heads: Sequence[Sequence[int]]) -> dict[str, float]:
    """UAS of chains: every word hangs on the one before it, or on the one after it."""
    n = sum(map(len, heads))
    before = sum(head == place for one in heads for place, head in enumerate(one))
    after = sum(
        head == (place + 2) % (len(one) + 1) for one in heads for place, head in enumerate(one)
    )
    return {"previous word (right-branching)": before / n, "next word (left-branching)": after / n}


def parse_batch(
    model: BiaffineParser,
    ids: Int[Tensor, "B L"],
    chosen: Bool[Tensor, "B L"],
    names: Sequence[str],
) -> tuple[list[list[int]], list[list[int]]]:
    """Governors (from 1; 0 is the root) and numbers of relations, of the best tree of each row.

    What hangs on the root has the relation root, where the names have it, and nothing else has.
    """
    scores = model.score(ids, chosen)
    arcs = scores.arcs.double().log_softmax(-1).cpu().numpy()
    sizes = scores.is_word.sum(1).tolist()
    heads = [best_tree(one[:n, :n]) for one, n in zip(arcs, sizes, strict=True)]
    row = torch.repeat_interleave(torch.arange(len(heads)), torch.tensor([len(h) for h in heads]))
    word = torch.cat([torch.arange(1, n) for n in sizes])
    head = torch.tensor([one for mine in heads for one in mine], dtype=torch.long)
    row, word, head = (one.to(ids.device) for one in (row, word, head))
    logits = model.relations(scores.dependents[row, word], scores.governors[row, head])
    if _ROOT in names:
        is_root = torch.arange(len(names), device=ids.device) == names.index(_ROOT)
        logits = logits.masked_fill(is_root ^ (head == 0)[:, None], -torch.inf)
    labels = logits.argmax(-1).tolist()
    ends = np.cumsum([0, *(len(one) for one in heads)])
    return heads, [labels[a:b] for a, b in pairwise(ends.tolist())]


def tree_loss(model: Model, batch: Batch, smoothing: float) -> tuple[Float[Tensor, ""], int]:
    """``−log P(governor) − log P(relation | governor)`` of every word.

    A word's place in the target holds ``g · C + r``: the place of its governor's first piece, with
    C relations, and its relation.
    """
    assert isinstance(model, BiaffineParser)
    chosen = batch.target != NOTHING
    scores = model.score(batch.source, chosen)
    begins = chosen.clone()
    begins[:, 0] = True
    number = begins.long().cumsum(1) - 1  # of the word that begins at each place; 0 is the root
    row, place = chosen.nonzero(as_tuple=True)
    code, n_relations = batch.target[row, place], len(model.relation)
    head = number[row, torch.div(code, n_relations, rounding_mode="floor")]
    word = number[row, place]
    arcs = F.cross_entropy(scores.arcs[row, word], head, reduction="sum")
    logits = model.relations(scores.dependents[row, word], scores.governors[row, head])
    told = F.cross_entropy(logits, code % n_relations, reduction="sum", label_smoothing=smoothing)
    return arcs + told, len(code)


@dataclass(frozen=True)
class TreeValidation(LabelValidation):
    """Held-out trees."""

    def quality(self, model: Model, should_stop: Callable[[], bool]) -> TreeQuality:
        """Attachment scores of the best trees."""
        assert isinstance(model, BiaffineParser)
        given, gold, n_heads, n_both = list[str](), list[str](), 0, 0
        for batch in self.batches(next(model.parameters()).device):
            if should_stop():
                raise Stopped
            chosen = batch.target != NOTHING
            heads, labels = parse_batch(model, batch.source, chosen, self.names)
            for codes, mine, told in zip(batch.target.tolist(), heads, labels, strict=True):
                places = [place for place, code in enumerate(codes) if code != NOTHING]
                numbers = {0: 0} | {place: n for n, place in enumerate(places, 1)}
                for place, head, label in zip(places, mine, told, strict=True):
                    right, relation = divmod(codes[place], len(self.names))
                    given.append(universal(self.names[label]))
                    gold.append(universal(self.names[relation]))
                    n_heads += numbers[right] == head
                    n_both += numbers[right] == head and given[-1] == gold[-1]
        n = len(gold)
        right_labels = sum(a == b for a, b in zip(given, gold, strict=True)) / n
        found = macro_f1(by_label(given, gold))
        return TreeQuality(right_labels, found, uas=n_heads / n, las=n_both / n)


@dataclass(frozen=True)
class PreparedTrees(PreparedLabels):
    """Sentences with trees."""

    @property
    def task(self) -> Task:
        """Governors and relations are learned."""
        return tree_loss

    @property
    def lexicon(self) -> Lexicon | None:
        """Words written without spaces, and endings that the treebank cuts off."""
        parsed = [one for one in self.examples if isinstance(one, Parsed)]
        known = Lexicon.of([[word.text for word in one.words] for one in parsed])
        endings = Counter(
            word.text.lower()
            for one in parsed
            for before, word in pairwise(one.words)
            if before.end == word.start
            and any(map(str.isalpha, word.text))
            and any(sign in word.text for sign in _APOSTROPHES)
        )
        often = {ending: n for ending, n in endings.items() if n >= _FEWEST}
        return Lexicon({**known.counts, **often})

    @classmethod
    def read(cls, train: Sequence[str], valid: Sequence[str]) -> tuple[Examples, Examples]:
        """Sentences of treebanks; a relation that training never shows is not validated on."""
        learned = [one for name in train for one in _read(name)]
        known = {relation for one in learned for relation in one.relations}
        held = [one for name in valid for one in _read(name) if known.issuperset(one.relations)]
        return learned, held

    @classmethod
    def hold_out(cls, rows: LabelledRows, labels: tuple[str, ...]) -> LabelValidation:
        """Trees to measure on."""
        return TreeValidation(rows, labels)

    @classmethod
    def rows(
        cls, example: Labelled, numbers: dict[str, int], tokenizer: Tokenizer, most: int
    ) -> tuple[list[Row], bool]:
        """One row; a sentence that is too long for one has no tree there and is left out."""
        assert isinstance(example, Parsed)
        (ids, firsts), *more = word_rows(cut_at_words(tokenizer, example.text, example.words), most)
        if more:
            return [], True
        places = np.full(len(ids), NOTHING, dtype=np.int32)
        for first, head, relation in zip(firsts, example.heads, example.relations, strict=True):
            governor = 0 if head == ROOT else firsts[head]
            places[first] = governor * len(numbers) + numbers[relation]
        return [(ids, places)], False


def _read(name: str) -> list[Parsed]:
    return [Parsed(one.text, one.words, one.heads, one.relations) for one in read_treebank(name)]


def _build(network: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    assert isinstance(network, ParserSection)
    return BiaffineParser(
        n_source_tokens,
        sizes_alone(network),
        n_labels=n_labels(network),
        d_arc=network.d_arc,
        d_label=network.d_label,
        arc_dropout=network.arc_dropout,
        n_types=network.n_types,
        **layers(network),
    )


SYSTEM = System(
    name="parsing",
    build=_build,
    prepare=PreparedTrees.prepare,
    open=TreeParser,
    words=Wording(
        command="parse",
        methods=("parse",),
        use="`regard parse` writes trees with it, and `regard evaluate --data` measures it",
        reads="tokens of text",
        predicts="words",
    ),
    data=("pairs",),
    refusals=LABELS_ONLY,
)
