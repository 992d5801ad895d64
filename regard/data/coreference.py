"""Words that stand for something named before: GAP's pronouns, and passages of a treebank.

GAP (Webster et al. 2018) is a table of Wikipedia passages, each with a pronoun and two names, of
which it stands for one or none: ``ID Text Pronoun Pronoun-offset A A-offset A-coref B ...``.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from regard.data.lines import read_lines
from regard.data.treebank import AnnotatedSentence, Antecedent, Mention, read_treebank
from regard.errors import DataError
from regard.text.tokens import Word
from regard.text.words import split

_COLUMNS = (
    *("Text", "Pronoun", "Pronoun-offset", "A", "A-offset", "A-coref", "B", "B-offset", "B-coref"),
)
_MOST_WORDS = 120  # of a passage
_PRONOUN = "PRON"


def read_coreference(spec: str | Path) -> Iterator[AnnotatedSentence]:
    """Passages with antecedents: GAP's table (.tsv), a treebank with entities, or a corpus."""
    name = str(spec).lower().removesuffix(".gz").removesuffix(".xz")
    if name.endswith(".tsv"):
        return _read_gap(Path(spec))
    return _with_antecedents(str(spec), read_treebank(spec))


def _with_antecedents(
    spec: str, sentences: Iterator[AnnotatedSentence]
) -> Iterator[AnnotatedSentence]:
    n = 0
    for one in join_passages(sentences):
        n += len(one.antecedents)
        yield one
    if not n:
        raise DataError(
            f"{spec} does not say which words stand for the same: name GAP's table (.tsv), a "
            "treebank with Entity= in its last column (GUM), or phrasebook:en-fr:test."
        )


def join_passages(
    sentences: Iterable[AnnotatedSentence], most_words: int = _MOST_WORDS
) -> Iterator[AnnotatedSentence]:
    """Sentences of one document joined to passages; mentions named before are antecedents.

    Sentences that say their antecedents themselves stay as they are.
    """
    for _, together in groupby(sentences, key=lambda one: one.document):
        passage: AnnotatedSentence | None = None
        for one in together:
            if one.antecedents or not one.document:
                yield one
            elif passage is None:
                passage = one
            elif len(passage.words) + len(one.words) <= most_words:
                passage = _joined(passage, one)
            else:
                yield _linked(passage)
                passage = one
        if passage is not None:
            yield _linked(passage)


def _joined(first: AnnotatedSentence, second: AnnotatedSentence) -> AnnotatedSentence:
    offset, n = len(first.text) + 1, len(first.words)
    return replace(
        first,
        text=f"{first.text} {second.text}",
        words=(
            *first.words,
            *(Word(one.text, one.start + offset, one.end + offset) for one in second.words),
        ),
        heads=(*first.heads, *(head if head < 0 else head + n for head in second.heads)),
        relations=first.relations + second.relations,
        tags=first.tags + second.tags,
        mentions=(
            *first.mentions,
            *(Mention(one.entity, tuple(p + n for p in one.places)) for one in second.mentions),
        ),
    )


def _linked(passage: AnnotatedSentence) -> AnnotatedSentence:
    """The antecedents of every mention that something before it names too, and something else."""
    found = []
    for n, one in enumerate(passage.mentions):
        before = [other for other in passage.mentions[:n] if other.places < one.places]
        right = dict.fromkeys(o.places for o in before if o.entity == one.entity)
        wrong = dict.fromkeys(o.places for o in before if o.places not in right)
        if right and wrong:
            is_pronoun = passage.tags[one.places[0]] == _PRONOUN
            found.append(Antecedent(one.places[0], tuple(right), tuple(wrong), is_pronoun))
    return replace(passage, antecedents=tuple(found))


def _read_gap(path: Path) -> Iterator[AnnotatedSentence]:
    if not path.is_file():
        raise DataError(f"{path}: no such file. Name GAP's table, or a treebank with entities.")
    header: list[str] = []
    for number, line in enumerate(read_lines(path), 1):
        columns, where = line.split("\t"), f"{path}, line {number}"
        if not header:
            header = columns
            missing = [name for name in _COLUMNS if name not in columns]
            if missing:
                raise DataError(
                    f"{where}: the table has no column {missing[0]}; GAP's first line names "
                    f"{', '.join(_COLUMNS)}."
                )
        elif line.strip():
            if len(columns) != len(header):
                raise DataError(
                    f"{where}: there are {len(columns)} columns and {len(header)} names of them."
                )
            yield _passage(where, dict(zip(header, columns, strict=True)))
    if not header:
        raise DataError(f"{path} is empty. Is it GAP's table?")


def _passage(where: str, row: dict[str, str]) -> AnnotatedSentence:
    words = split(row["Text"])
    pronoun = _covered(where, row, "Pronoun", words)
    names = {name: _covered(where, row, name, words) for name in ("A", "B")}
    right = tuple(names[one] for one in names if row[f"{one}-coref"].upper() == "TRUE")
    wrong = tuple(places for places in names.values() if places not in right)
    # A pronoun that stands for neither says nothing about a choice between the two.
    known = (Antecedent(pronoun[0], right, wrong),) if right and wrong else ()
    return AnnotatedSentence(row["Text"], tuple(words), antecedents=known, where=where)


def _covered(where: str, row: dict[str, str], name: str, words: list[Word]) -> tuple[int, ...]:
    """The places of the words that a name stands in."""
    text, written, offset = row["Text"], row[name], row[f"{name}-offset"]
    start = int(offset) if offset.isdecimal() else -1
    if start < 0 or not written or not text.startswith(written, start):
        raise DataError(f"{where}: {name} is {written!r}, which does not stand at {offset!r}.")
    end = start + len(written)
    return tuple(n for n, word in enumerate(words) if word.start < end and start < word.end)
