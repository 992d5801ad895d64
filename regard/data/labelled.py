"""Examples with labels: a label a text (or pair of texts), or a tag a word; a fault has its line.

Texts stand in tab-separated lines: "text, label" or "text, text, label". Tags stand one word a line
("word, tag", an empty line between sentences), or one sentence a line ("words, tags", both told
apart by spaces), or in CoNLL-U files, whose fourth column is taken (the part of speech). CSV files
have the same columns, or names of columns in their first row.
"""

import operator
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeVar

from regard.data.comma_separated import is_comma_separated, read_labelled_rows
from regard.data.lines import read_lines
from regard.data.spec import Spec
from regard.errors import DataError
from regard.text.tokens import Word
from regard.text.words import join, split

_CONLLU = (".conllu", ".conllu.gz")
_CONLLU_COLUMNS = 10
_SIGNS, _HAN = "。，？！；", re.compile("[\u3400-\u9fff]")
_SPAN_TAG = re.compile(r"O|[BI]-.+")
Labels = Collection[str] | None  # those that may come; None: any
Example = TypeVar("Example")


@dataclass(frozen=True)
class Classified:
    """A text, or a pair of texts, and its label."""

    texts: tuple[str, ...]
    label: str

    @property
    def labels(self) -> tuple[str, ...]:
        """The one."""
        return (self.label,)


@dataclass(frozen=True)
class Tagged:
    """The words of a sentence, each with its tag."""

    words: tuple[str, ...]
    tags: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The sentence as it is written."""
        return (join(self.words),)

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags."""
        return self.tags


@dataclass(frozen=True)
class Parsed:
    """A sentence, its words with their places, the governor of each and its relation to it."""

    text: str
    words: tuple[Word, ...]
    heads: tuple[int, ...]  # from 0; -1 is the root
    relations: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The sentence as it is written."""
        return (self.text,)

    @property
    def labels(self) -> tuple[str, ...]:
        """The relations."""
        return self.relations


Labelled = Classified | Tagged | Parsed


@dataclass(frozen=True)
class _Line:
    where: str  # "pets.tsv, line 7"
    text: str


def read_classified(
    specs: Iterable[Spec], labels: Labels = None, n_texts: int | None = None
) -> list[Classified]:
    """The texts of files and corpora with their labels; as many texts each as the first has."""
    found: list[Classified] = []
    for spec in specs:
        examples: list[Classified] = []
        for line in _lines(spec):
            if line.text.strip():
                example = _classified(line, labels)
                n_texts = n_texts or len(example.texts)
                _require_texts(line, example, n_texts)
                examples.append(example)
        _refuse_tags(_some(examples, spec), spec)
        found += examples * spec.weight
    return found


def _refuse_tags(examples: Sequence[Classified], spec: Spec) -> None:
    """A file for tagging has labels too, but of words: as many as words, or B-, I- and O alone."""
    labels = {example.label for example in examples}
    n_labels = [len(example.label.split()) for example in examples]
    n_words = [
        {len(text.split()), len(words_of(text))}
        for text in (example.texts[0] for example in examples)
    ]
    are_lists = max(n_labels) > 1 and all(map(operator.contains, n_words, n_labels))
    are_of_words = all(_SPAN_TAG.fullmatch(one) for one in labels) and {"O"} < labels
    if are_lists or (are_of_words and not any(" " in one.texts[0] for one in examples)):
        shown = _shown(max(labels, key=len))
        raise DataError(
            f"{spec.name} has tags of words, such as {shown}, and not a label of each text. Train "
            "the recipe bert-tag with it, or give each text one label."
        )


def _require_texts(line: _Line, example: Classified, n_texts: int) -> None:
    if len(example.texts) != n_texts:
        raise DataError(
            f"{line.where}: {len(example.texts)} text{_s(example.texts)} before the label, and the "
            f"first example has {n_texts}. Each line is a text, a tab and its label, or each is "
            "two texts and a label."
        )


def _classified(line: _Line, labels: Labels) -> Classified:
    columns = [one.strip() for one in line.text.split("\t")]
    if len(columns) < 2:
        raise DataError(
            f"{line.where}: {_shown(line.text)} has no tab. Each line is a text, a tab and its "
            "label."
        )
    if len(columns) > 3:
        raise DataError(
            f"{line.where}: {len(columns)} columns. Each line is a text, a tab and its label, or "
            "two texts and a label."
        )
    *texts, label = columns
    if not label or not all(texts):
        what = "text" if label else "label"
        raise DataError(f"{line.where}: the {what} is empty. Give one, or take the line out.")
    return Classified(tuple(texts), _known(label, labels, line.where))


def read_tagged(specs: Iterable[Spec], tags: Labels = None) -> list[Tagged]:
    """The sentences of files and corpora with the tags of their words."""
    found: list[Tagged] = []
    for spec in specs:
        found += _some(list(_sentences(spec, tags)), spec) * spec.weight
    return found


def _sentences(spec: Spec, tags: Labels) -> Iterator[Tagged]:
    lines = list(_lines(spec))
    is_conllu = bool(spec.paths) and spec.paths[0].name.lower().endswith(_CONLLU)
    if is_conllu:
        lines = [_of_conllu(line) for line in lines if not _is_note(line.text)]
    elif spec.extract is not None or any(" " in _tags(line.text) for line in lines):
        yield from (_sentence(line, tags) for line in lines if line.text.strip())
        return
    for is_empty, block in groupby(lines, lambda line: not line.text.strip()):
        if not is_empty:
            # Words of CoNLL-U may have spaces, as 10 000 has; elsewhere such a line is a sentence.
            pairs = [_word(line, tags, is_conllu=is_conllu) for line in block]
            yield Tagged(tuple(word for word, _ in pairs), tuple(tag for _, tag in pairs))


def _tags(line: str) -> str:
    """What stands after the tab; spaces there tell tags apart."""
    return line.partition("\t")[2].strip()


def _word(line: _Line, tags: Labels, *, is_conllu: bool) -> tuple[str, str]:
    columns = [one.strip() for one in line.text.split("\t")]
    what = None
    if len(columns) == 1:
        what = f"{_shown(line.text)} has no tab"
    elif len(columns) != 2:
        what = f"{len(columns)} columns"
    elif not all(columns):
        what = "a word or a tag is missing"
    elif " " in columns[0] and not is_conllu:
        what = f"{_shown(columns[0])} has a space, so it is several words, and one tag"
    elif _is_sentence(columns[0]) and not is_conllu:
        what = f"{_shown(columns[0])} is several words, and has one tag"
    if what is not None:
        raise DataError(
            f"{line.where}: {what}. Each line is a word, a tab and its tag, with an empty line "
            "between sentences; or all words of a sentence, a tab and all tags."
        )
    word, tag = columns
    return word, _known(tag, tags, line.where)


def _sentence(line: _Line, tags: Labels) -> Tagged:
    text, tab, after = line.text.partition("\t")
    if not tab:
        raise DataError(
            f"{line.where}: {_shown(line.text)} has no tab. Each line is the words of a sentence, "
            "a tab and their tags."
        )
    words, given = text.split(), after.split()
    if len(words) != len(given) or (len(words) == 1 and _is_sentence(words[0])):
        words = words_of(text)
    if len(words) != len(given):
        raise DataError(
            f"{line.where}: {len(words)} word{_s(words)} and {len(given)} tag{_s(given)}. Each "
            "word has one tag; spaces tell words apart, and characters of Chinese without spaces "
            "are words."
        )
    return Tagged(tuple(words), tuple(_known(tag, tags, line.where) for tag in given))


def _is_sentence(word: str) -> bool:
    """Chinese without spaces: no word of it has a sign that ends a sentence or parts one."""
    return any(sign in word for sign in _SIGNS) and _HAN.search(word) is not None


def words_of(text: str) -> list[str]:
    """The words that spaces tell apart; without spaces, each character of Chinese and each sign."""
    words = text.split()
    return words if len(words) > 1 else [word.text for word in split(text)]


def _is_note(line: str) -> bool:
    """Of CoNLL-U: a comment, several words written as one, or a word that is not written."""
    number = line.partition("\t")[0]
    return line.startswith("#") or "-" in number or "." in number


def _of_conllu(line: _Line) -> _Line:
    columns = line.text.split("\t")
    if len(columns) == 1 and not line.text.strip():
        return line
    if len(columns) != _CONLLU_COLUMNS:
        raise DataError(
            f"{line.where}: {len(columns)} column{_s(columns)}, and CoNLL-U has "
            f"{_CONLLU_COLUMNS}, told apart by tabs."
        )
    return _Line(line.where, f"{columns[1]}\t{columns[3]}")


def _lines(spec: Spec) -> Iterator[_Line]:
    if spec.extract is not None:
        for number, example in enumerate(spec.extract.draw(), 1):
            yield _Line(f"{spec.name}, example {number}", f"{example.source}\t{example.target}")
        return
    if is_comma_separated(spec.paths[0]):
        rows = ((n, "\t".join(cells)) for n, cells in read_labelled_rows(spec.paths[0]))
    else:
        rows = ((n, line) for n, line in enumerate(read_lines(spec.paths[0]), 1))
    for number, line in rows:
        yield _Line(f"{spec.name}, line {number}", line)


def _known(label: str, labels: Labels, where: str) -> str:
    if labels is not None and label not in labels:
        some = ", ".join(one if len(one) <= 60 else f"{one[:60]}..." for one in sorted(labels)[:12])
        raise DataError(
            f"{where}: the label {_shown(label)} is not among those of the training data: {some}"
            f"{', ...' if len(labels) > 12 else ''}. Correct it, or take the line out."
        )
    return label


def _some(examples: list[Example], spec: Spec) -> list[Example]:
    if not examples:
        raise DataError(f"{spec.name} holds no examples. Is it the right file?")
    return examples


def _shown(text: str) -> str:
    return repr(text if len(text) <= 60 else f"{text[:60]}...")


def _s(things: Sequence[object]) -> str:
    return "" if len(things) == 1 else "s"
