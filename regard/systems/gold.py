"""What heads are taught, from files or corpora, as links between the tokens of a model.

Links of words become links of tokens: every piece of a word looks at every piece of the other.
Words that share a token are one.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from zlib import crc32

import numpy as np

from regard.config import FIXED, Lesson
from regard.counting import counted
from regard.data import (
    AnnotatedSentence,
    Corpus,
    GoldLinks,
    NeighbourLinks,
    Pair,
    PairLinks,
    Spec,
    StreamLinks,
    annotated_pair,
    read_treebank,
)
from regard.data.gold import Link
from regard.data.lines import read_lines
from regard.data.readers import read_once
from regard.data.treebank import ROOT
from regard.errors import DataError
from regard.evaluation import parse_gold
from regard.text import Tokenizer
from regard.text.sentences import Units, place_units
from regard.text.tokens import Word
from regard.text.words import split

_WHAT = {"heads": "trees", "shuffled": "trees", "antecedents": "antecedents", "align": "alignments"}
_OPTIONAL = ("linear", "random")  # they follow from words alone


@dataclass(frozen=True)
class _Known:
    """What is known of a pair for one lesson."""

    sides: tuple[AnnotatedSentence | None, AnnotatedSentence | None] = (None, None)
    alignment: tuple[Link, ...] = ()  # of words of the sides or, where there are none, of spaces'
    where: str = ""


def pair_gold(
    lessons: Sequence[Lesson],
    specs: Sequence[Spec],
    corpus: Corpus,
    tokenizers: tuple[Tokenizer, Tokenizer],
) -> list[GoldLinks]:
    """The links of each lesson for all pairs of a corpus, by their numbers.

    A file of gold has a sentence for each pair of the training files, in their order.
    """
    wanted = {_key(*corpus[i]) for i in range(len(corpus))}
    return [
        NeighbourLinks(FIXED[one.gold], is_target=one.kind == "decoder")
        if one.gold in FIXED
        else _pair_links(one, specs, corpus, tokenizers, wanted)
        for one in lessons
    ]


def _pair_links(
    lesson: Lesson,
    specs: Sequence[Spec],
    corpus: Corpus,
    tokenizers: tuple[Tokenizer, Tokenizer],
    wanted: set[bytes],
) -> PairLinks:
    found: dict[bytes, list[Link]] = {}
    for pair, known in _known_pairs(lesson, specs):
        # Pairs are cleaned of spaces around them, and of repetitions: the first is kept.
        texts = pair.source.strip(), pair.target.strip()
        key = _key(*(np.asarray(t.encode(x)) for t, x in zip(tokenizers, texts, strict=True)))
        if key in wanted and key not in found:
            found[key] = _of_pair(lesson, texts, known, tokenizers)
    links = PairLinks([found.get(_key(*corpus[i]), []) for i in range(len(corpus))])
    if not len(links):
        raise DataError(
            f"{lesson.head} has nothing to learn from {lesson.file or lesson.gold}: no sentence of "
            "the training data has a link there."
        )
    return links


def _key(source: np.typing.NDArray[np.integer], target: np.typing.NDArray[np.integer]) -> bytes:
    both = np.concatenate([source, [-1], target]).astype(np.int32)
    return both.tobytes()


def _of_pair(
    lesson: Lesson, texts: tuple[str, str], known: _Known, tokenizers: tuple[Tokenizer, Tokenizer]
) -> list[Link]:
    """As the model counts: a decoder's input is a place behind, and its step writes a word."""
    if lesson.kind == "cross":
        both = [
            _units(tokenizer, text, side, known.where)
            for tokenizer, text, side in zip(tokenizers, texts, known.sides, strict=True)
        ]
        return [(q, k) for k, q in _spread(known.alignment, *both)]
    is_target = lesson.kind == "decoder"
    side, text = known.sides[is_target], texts[is_target]
    links = _of_sentence(lesson, tokenizers[is_target], text, side, known.where)
    return [(q + 1, k + 1) for q, k in links if k <= q] if is_target else links


def _known_pairs(lesson: Lesson, specs: Sequence[Spec]) -> Iterator[tuple[Pair, _Known]]:
    """The pairs of all specs, each with what is known of it."""
    if lesson.file is not None:
        pairs = (pair for spec in specs for pair in read_once(spec))
        read = _aligned if lesson.kind == "cross" else _parsed
        yield from read(lesson, Path(lesson.file), pairs)
        return
    for spec in specs:
        if lesson.gold in _OPTIONAL:
            yield from ((pair, _Known()) for pair in read_once(spec))
            continue
        for example in () if spec.extract is None else spec.extract.draw():
            both = annotated_pair(example, spec.name)
            if both is None:
                break
            known = _Known((both.source, both.target), both.alignment, spec.name)
            yield Pair(example.source, example.target), known
        else:
            if spec.extract is not None:
                continue
        what = _WHAT[lesson.gold]
        raise DataError(
            f"{spec.name} does not come with {what}: name a file of them, as in --teach "
            f"{lesson.head}={lesson.gold}:train.{'align' if what == 'alignments' else 'conllu'}."
        )


def _parsed(lesson: Lesson, path: Path, pairs: Iterator[Pair]) -> Iterator[tuple[Pair, _Known]]:
    """Each pair with the tree of its side; an empty sentence has none."""
    is_target = lesson.kind == "decoder"
    trees, n = read_treebank(path), 0
    for pair in pairs:
        if not pair[is_target].strip():
            yield pair, _Known()
            continue
        n += 1
        tree = next(trees, None)
        if tree is None:
            raise DataError(
                f"{path} has {counted(n - 1, 'sentence')}, and the training data have more: "
                "sentence n of one has to be the tree of sentence n of the other."
            )
        yield pair, _Known((None, tree) if is_target else (tree, None), where=tree.where)
    if next(trees, None) is not None:
        raise DataError(
            f"{path} has more sentences than the {n:,} of the training data: sentence n of one has "
            "to be the tree of sentence n of the other."
        )


def _aligned(lesson: Lesson, path: Path, pairs: Iterator[Pair]) -> Iterator[tuple[Pair, _Known]]:
    """Each pair with its links of words, which are those between spaces if that fits all lines."""
    if not path.is_file():
        raise DataError(f"{path}: no such file. Name alignments, a line a pair: 0-0 1-2.")
    rows: list[tuple[Pair, tuple[Link, ...]]] = []
    for number, (pair, line) in enumerate(zip_longest(pairs, read_lines(path)), 1):
        if pair is None or line is None:
            raise DataError(
                f"{path} and the training data have not as many lines (they part at line "
                f"{number:,}): line n of one has to align line n of the other."
            )
        try:
            rows.append((pair, tuple(sorted(parse_gold(line).sure))))
        except DataError as error:
            raise DataError(f"{path}, line {number:,}: {error}") from error
    cuts: tuple[Callable[[str], list[Word]], ...] = (_at_spaces, split)
    for cut in cuts:
        wrong = next((n for n, row in enumerate(rows, 1) if not _fits(row, cut)), None)
        if wrong is None:
            break
    else:
        raise DataError(
            f"{path}, line {wrong:,}: a link names a word that its pair has not: words are counted "
            "from 0, between spaces or as `regard align` cuts them."
        )
    for number, (pair, links) in enumerate(rows, 1):
        sides = tuple(AnnotatedSentence(t.strip(), tuple(cut(t.strip()))) for t in pair)
        yield pair, _Known((sides[0], sides[1]), links, f"{path}, line {number:,}")


def _at_spaces(text: str) -> list[Word]:
    found, end = [], 0
    for word in text.split():
        start = text.index(word, end)
        end = start + len(word)
        found.append(Word(word, start, end))
    return found


def _fits(row: tuple[Pair, tuple[Link, ...]], cut: Callable[[str], list[Word]]) -> bool:
    pair, links = row
    sizes = len(cut(pair.source)), len(cut(pair.target))
    return all(i < sizes[0] and j < sizes[1] for i, j in links)


def _of_sentence(
    lesson: Lesson, tokenizer: Tokenizer, text: str, side: AnnotatedSentence | None, where: str
) -> list[Link]:
    """The links of tokens of one sentence."""
    words = split(text) if side is None else _placed(text, side, where)
    units = place_units(tokenizer, text, words)
    return _spread(word_links(lesson.gold, len(words), side, seed=crc32(text.encode())), units)


def word_links(gold: str, n_words: int, side: AnnotatedSentence | None, seed: int) -> list[Link]:
    """Which word should look at which; the rivals of trees that people drew are drawn by lot."""
    if gold == "linear":
        return [(place, place - 1) for place in range(1, n_words)]
    order = np.random.default_rng(seed).permutation(n_words)
    if gold == "random":
        # Word after word, in any order, hangs on one of those that hang already.
        chosen = np.random.default_rng([seed, 1])
        return [(int(order[i]), int(order[chosen.integers(i)])) for i in range(1, n_words)]
    assert side is not None
    if gold == "antecedents":
        return [*_antecedents(side)]
    hung = [(place, head) for place, head in enumerate(side.heads) if head != ROOT]
    if gold == "shuffled":  # a tree of the same shape, of the same words in other places
        return [(int(order[place]), int(order[head])) for place, head in hung]
    return hung


def _antecedents(side: AnnotatedSentence) -> Iterator[Link]:
    for one in side.antecedents:
        yield from ((one.place, place) for mention in one.right for place in mention)
    latest: dict[str, tuple[int, ...]] = {}
    for mention in side.mentions:
        if mention.entity is None:
            continue
        before = latest.get(mention.entity, ())
        yield from ((mine, place) for mine in mention.places for place in before if place < mine)
        latest[mention.entity] = mention.places


def _units(tokenizer: Tokenizer, text: str, side: AnnotatedSentence | None, where: str) -> Units:
    assert side is not None
    return place_units(tokenizer, text, _placed(text, side, where))


def _placed(text: str, side: AnnotatedSentence, where: str) -> Sequence[Word]:
    """The words of a sentence in a text that may differ from it in spaces alone."""
    if text == side.text:
        return side.words
    mine, theirs = ([n for n, c in enumerate(t) if not c.isspace()] for t in (text, side.text))
    if [text[n] for n in mine] != [side.text[n] for n in theirs]:
        raise DataError(
            f"{where}: {side.text[:40]!r} is not the sentence {text[:40]!r} of the training data: "
            "sentence n of one has to be sentence n of the other."
        )
    place = {there: here for here, there in zip(mine, theirs, strict=True)}
    return [Word(w.text, place[w.start], place[w.end - 1] + 1) for w in side.words]


def _spread(links: Sequence[Link], of: Units, to: Units | None = None) -> list[Link]:
    """Links of words as links of their tokens; none from a unit to itself."""
    other = of if to is None else to
    mine, theirs = (_tokens(units) for units in (of, other))
    pairs = {(of.places[i], other.places[j]) for i, j in links}
    return sorted(
        (q, k)
        for i, j in pairs
        if to is not None or i != j
        for q in mine.get(i, ())
        for k in theirs.get(j, ())
    )


def _tokens(units: Units) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for place, unit in enumerate(units.of_tokens):
        found.setdefault(unit, []).append(place)
    return found


def text_gold(
    lessons: Sequence[Lesson], lines: Callable[[], Iterator[list[str]]], tokenizer: Tokenizer
) -> list[GoldLinks]:
    """The links of each lesson in a stream of documents, whose lines are sentences."""
    return [
        NeighbourLinks(FIXED[one.gold])
        if one.gold in FIXED
        else _stream_links(one, lines(), tokenizer)
        for one in lessons
    ]


def _stream_links(
    lesson: Lesson, documents: Iterator[list[str]], tokenizer: Tokenizer
) -> StreamLinks:
    if lesson.file is None and lesson.gold not in _OPTIONAL:
        raise DataError(
            f"text does not come with {_WHAT[lesson.gold]}: name a file of them, as in --teach "
            f"{lesson.head}={lesson.gold}:train.conllu, with a tree for each line."
        )
    found, place = [np.empty((0, 2), np.int64)], 0
    pairs = _lines_as_pairs(documents)
    rows = (
        ((pair, _Known()) for pair in pairs)
        if lesson.file is None
        else _parsed(lesson, Path(lesson.file), pairs)
    )
    for (line, mark), known in rows:
        place += mark.count("b")
        text = line.strip()
        if text:
            links = _of_sentence(lesson, tokenizer, text, known.sides[0], known.where)
            found.append(np.asarray(links, np.int64).reshape(-1, 2) + place)
        place += len(tokenizer.encode(line)) + mark.count("e")
    return StreamLinks(np.concatenate(found))


def _lines_as_pairs(documents: Iterator[list[str]]) -> Iterator[Pair]:
    """Lines, each marked where a document begins or ends with it."""
    for lines in documents:
        for n, line in enumerate(lines):
            yield Pair(line, "b" * (n == 0) + "e" * (n == len(lines) - 1))
