"""Sentences with the trees that people drew, from CoNLL-U files or an embedded corpus.

CoNLL-U (universaldependencies.org/format) has a word a line in ten columns. The text is put
together from forms and ``SpaceAfter=No``, so that every word has its place in it; the words of a
multiword token are cut out of it where they spell it (``don't``: ``do n't``), and otherwise all
stand for the whole (``im``: ``in dem``). ``Entity=`` of the last column (CorefUD, GUM) says which
words name the same thing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from regard.corpora import Example, Side, is_extract, parse_extract
from regard.data.lines import read_lines
from regard.errors import DataError
from regard.text.tokens import Word

ROOT = -1  # the governor of a word that depends on none
_ENTITY = re.compile(r"\((?P<opened>[^()|-]+)[^()]*(?P<at_once>\))?|(?P<closed>[^()|-]+)\)")
_NOMINAL = frozenset({"nsubj", "obj", "obl"})


@dataclass(frozen=True)
class Mention:
    """Words that name something: which thing (None: nobody says), and their places."""

    entity: str | None
    places: tuple[int, ...]


@dataclass(frozen=True)
class Antecedent:
    """A word that stands for something named before: the right mentions and the wrong ones."""

    place: int
    right: tuple[tuple[int, ...], ...]  # the places of the words of each mention
    wrong: tuple[tuple[int, ...], ...]
    is_pronoun: bool = True


@dataclass(frozen=True)
class AnnotatedSentence:
    """A sentence, or a passage, and what people said about its words; places count from 0."""

    text: str
    words: tuple[Word, ...]
    heads: tuple[int, ...] = ()  # of each word the place of its governor, or ROOT; none: no tree
    relations: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()  # universal parts of speech; none where nobody says
    antecedents: tuple[Antecedent, ...] = ()
    mentions: tuple[Mention, ...] = ()
    document: int = 0  # sentences of the same number follow one another in one text
    where: str = ""  # the file and the line, or the corpus


@dataclass(frozen=True)
class AnnotatedPair:
    """A sentence and its translation, both with trees, and which words belong together."""

    source: AnnotatedSentence
    target: AnnotatedSentence
    alignment: tuple[tuple[int, int], ...]
    tags: tuple[str, ...]  # constructions it shows


def read_treebank(spec: str | Path) -> Iterator[AnnotatedSentence]:
    """The sentences of a CoNLL-U file (plain, .gz or .xz), or the sources of a corpus with trees.

    Raises:
        DataError: with the file and the line of what is no tree.
    """
    if isinstance(spec, str) and is_extract(spec) and not Path(spec).exists():
        return (pair.source for pair in read_annotated_pairs(spec))
    return _read_file(Path(spec))


def read_annotated_pairs(spec: str) -> Iterator[AnnotatedPair]:
    """The pairs of an embedded corpus that knows trees: ``phrasebook:en-fr:test:500``."""
    extract = parse_extract(spec)
    for number, example in enumerate(extract.draw()):
        pair = annotated_pair(example, f"{extract.name}, example {number + 1}")
        if pair is None:
            raise DataError(
                f"{extract.name} has no trees: name a CoNLL-U file, or the phrasebook "
                "(phrasebook:en-fr:test)."
            )
        yield pair


def annotated_pair(example: Example, where: str = "") -> AnnotatedPair | None:
    """What a corpus knows of an example; None where it has no trees."""
    sides = (example.source, example.source_side), (example.target, example.target_side)
    both = [
        None if side is None or not side.heads else _of_side(text, side, where)
        for text, side in sides
    ]
    source, target = both
    if source is None or target is None:
        return None
    return AnnotatedPair(source, target, example.alignment, example.tags)


def arcs_between_units(
    sentence: AnnotatedSentence, places: Sequence[int]
) -> list[tuple[int, int, str]]:
    """(dependent, governor, relation) of a model's units; ``places`` has the unit of each word.

    The places are those of :func:`regard.text.sentences.place_units`. Arcs within a unit, and the
    root's, are no arcs between units.
    """
    return [
        (places[word], places[head], relation)
        for word, (head, relation) in enumerate(
            zip(sentence.heads, sentence.relations, strict=True)
        )
        if head != ROOT and places[word] != places[head]
    ]


def _of_side(text: str, side: Side, where: str) -> AnnotatedSentence:
    words, end = [], 0
    for one in side.words:
        start = text.index(one, end)
        end = start + len(one)
        words.append(Word(one, start, end))
    antecedents = tuple(
        Antecedent(
            pronoun,
            ((noun,),),
            tuple(
                (place,)
                for place, (head, relation) in enumerate(
                    zip(side.heads, side.relations, strict=True)
                )
                if head == side.heads[noun] and relation in _NOMINAL and noun != place < pronoun
            ),
        )
        for pronoun, noun in side.antecedents
    )
    return AnnotatedSentence(
        text, tuple(words), side.heads, side.relations, antecedents=antecedents, where=where
    )


@dataclass(frozen=True)
class _Row:
    """A word or a multiword token, as its line has it."""

    line: int
    first: int
    last: int
    columns: tuple[str, ...]

    @property
    def form(self) -> str:
        return self.columns[1]

    @property
    def gap(self) -> str:
        return "" if "SpaceAfter=No" in self.columns[9].split("|") else " "


def _read_file(path: Path) -> Iterator[AnnotatedSentence]:
    if not path.is_file():
        raise DataError(f"{path}: no such file. Name a treebank in CoNLL-U, plain, .gz or .xz.")
    rows: list[_Row] = []
    document = n_sentences = 0
    for number, line in enumerate(read_lines(path), 1):
        if line.startswith("#"):
            document += line.startswith("# newdoc")
        elif line.strip():
            rows += _row(f"{path}, line {number}", number, line)
        elif rows:
            n_sentences += 1
            yield _sentence(path, rows, document)
            rows = []
    if rows:
        n_sentences += 1
        yield _sentence(path, rows, document)
    if not n_sentences:
        raise DataError(f"{path} holds no sentences. Is it a treebank in CoNLL-U?")


def _row(where: str, number: int, line: str) -> list[_Row]:
    """The row of a line; none of an empty node, which stands for no word of the text."""
    columns = tuple(line.split("\t"))
    if len(columns) != 10:
        raise DataError(
            f"{where}: {line[:40]!r} has {len(columns)} columns; a line of CoNLL-U has ten, "
            "told apart by tabs."
        )
    match = re.fullmatch(r"(\d+)(?:-(\d+)|(\.\d+))?", columns[0], re.ASCII)
    if match is None or not columns[1]:
        raise DataError(
            f"{where}: {columns[0]!r} is no number of a word: write 1, or 1-2 for a multiword "
            "token, and the word after it."
        )
    if match[3]:
        return []
    return [_Row(number, int(match[1]), int(match[2] or match[1]), columns)]


def _sentence(path: Path, rows: Sequence[_Row], document: int) -> AnnotatedSentence:
    words = [row for row in rows if "-" not in row.columns[0]]
    for expected, row in enumerate(words, 1):
        if row.first != expected:
            raise DataError(
                f"{path}, line {row.line}: the word is numbered {row.first} where {expected} "
                "follows; number the words of a sentence from 1."
            )
    heads = _heads(path, words)
    text, places = _placed(path, rows, words)
    return AnnotatedSentence(
        text,
        tuple(places),
        heads,
        tuple(row.columns[7] for row in words),
        tuple(row.columns[3] for row in words),
        mentions=_mentions(words, heads),
        document=document,
        where=f"{path}, line {rows[0].line}",
    )


def _heads(path: Path, words: Sequence[_Row]) -> tuple[int, ...]:
    """The governors, if they make a tree."""
    heads = []
    for row in words:
        written = row.columns[6]
        if not re.fullmatch(r"\d+", written, re.ASCII) or int(written) > len(words):
            raise DataError(
                f"{path}, line {row.line}: {row.form!r} has {written!r} for its governor; write 0 "
                f"for the root, or the number of one of the {len(words)} words."
            )
        heads.append(int(written) - 1)
    for place, row in enumerate(words):
        at, n_steps = place, 0
        while at != ROOT and n_steps <= len(words):
            at, n_steps = heads[at], n_steps + 1
        if at != ROOT:
            raise DataError(
                f"{path}, line {row.line}: from {row.form!r} upward, the governors go round in a "
                "circle and reach no root; a sentence is a tree whose root has the governor 0."
            )
    return tuple(heads)


def _placed(path: Path, rows: Sequence[_Row], words: Sequence[_Row]) -> tuple[str, list[Word]]:
    """The text, and the words in their places."""
    text, places, covered = "", list[Word](), 0
    for row in rows:
        if row.first <= covered:
            continue  # a word of a multiword token, which was placed with it
        inside = words[row.first - 1 : row.last]
        if len(inside) != row.last - row.first + 1:
            raise DataError(
                f"{path}, line {row.line}: the multiword token {row.columns[0]} is not followed "
                "by its words."
            )
        start, covered = len(text), row.last
        text += row.form
        ends = [start + sum(len(one.form) for one in inside[: n + 1]) for n in range(len(inside))]
        spells = "".join(one.form for one in inside) == row.form
        for one, end in zip(inside, ends, strict=True):
            begin, stop = (end - len(one.form), end) if spells else (start, len(text))
            places.append(Word(one.form, begin, stop))
        text += row.gap
    return text.rstrip(), places


def _mentions(words: Sequence[_Row], heads: Sequence[int]) -> tuple[Mention, ...]:
    """Each mention by its head: the word whose governor is outside; in the order of their heads."""
    found: list[Mention] = []
    begun: dict[str, list[int]] = {}
    for place, row in enumerate(words):
        entity = next((one for one in row.columns[9].split("|") if one.startswith("Entity=")), "")
        for match in _ENTITY.finditer(entity.removeprefix("Entity=")):
            name = match["opened"] or match["closed"]
            if match["opened"]:
                begun.setdefault(name, []).append(place)
            if (match["at_once"] or match["closed"]) and begun.get(name):
                span = range(begun[name].pop(), place + 1)
                head = next((one for one in span if heads[one] not in span), place)
                found.append(Mention(name, (head,)))
    return tuple(sorted(found, key=lambda one: one.places))
