"""Word analogies by a model's input embeddings, or by word vectors of a file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from regard.counting import counted
from regard.data.analogies import MOST_VECTORS, read_analogies, read_word_vectors
from regard.errors import UsageError, WrongModelError
from regard.evaluation.analogies import METHODS, solve
from regard.models.sublayers import Embedding
from regard.shapes import Float
from regard.special import NAMES, UNKNOWN
from regard.systems.evaluation import ScoreTable, TabledScores
from regard.systems.opened import OpenedModel, refusal
from regard.text import Tokenizer

SUBWORDS = ("leave-out", "average")
ALL = "all"


@dataclass(frozen=True)
class AnalogyRow:
    """A section: its questions, those all of whose words have vectors, and how many are right."""

    n_questions: int
    n_covered: int
    n_right: dict[str, int]  # by method

    def share(self, method: str) -> float:
        """Right, of those covered."""
        return self.n_right[method] / self.n_covered if self.n_covered else 0.0


@dataclass(frozen=True, repr=False)
class AnalogyEvaluation(TabledScores):
    """How many analogies word vectors solve, a row a section."""

    vectors: str
    rows: dict[str, AnalogyRow]
    notes: tuple[str, ...] = ()

    @property
    def scores(self) -> Mapping[str, float]:
        """Coverage, and the share of right answers by method."""
        total = self.rows[ALL]
        coverage = {"coverage": total.n_covered / total.n_questions}
        return coverage | {name: total.share(name) for name in METHODS}

    def to_dict(self) -> dict[str, Any]:
        """All counts, and the scores."""
        return asdict(self) | {"scores": dict(self.scores)}

    def table(self) -> ScoreTable:
        """Coverage first: of what is not covered nothing is said."""
        total = self.rows[ALL]
        return ScoreTable(
            f"{self.vectors}: {total.n_covered:,} of {total.n_questions:,} analogies covered "
            f"({100 * self['coverage']:.1f} %); % right of those",
            ("section", "questions", "covered", *METHODS),
            [
                (
                    name,
                    f"{row.n_questions:,}",
                    f"{row.n_covered:,}",
                    *(f"{100 * row.share(one):.1f}" if row.n_covered else "–" for one in METHODS),
                )
                for name, row in self.rows.items()
            ],
            self.notes,
        )


@dataclass(frozen=True, eq=False)
class VectorTable:
    """Vectors by word; a word that is missing is looked for in small letters."""

    name: str
    rows: Mapping[str, int]
    vectors: Float[np.ndarray, "V D"]
    notes: tuple[str, ...] = ()

    def row(self, word: str) -> int:
        """Where the vector of a word is; -1: nowhere."""
        found = self.rows.get(word)
        return self.rows.get(word.lower(), -1) if found is None else found

    def analogies(self, path: str | Path) -> AnalogyEvaluation:
        """Solve the questions of a file."""
        sections = read_analogies(path)
        found: dict[str, AnalogyRow] = {}
        for name, questions in sections.items():
            rows = np.array([[self.row(word) for word in one] for one in questions], np.int64)
            covered = rows[(rows >= 0).all(1)]
            right = solve(self.vectors, covered)
            n_right = {method: int(right[method].sum()) for method in METHODS}
            found[name] = AnalogyRow(len(questions), len(covered), n_right)
        found[ALL] = AnalogyRow(
            sum(one.n_questions for one in found.values()),
            sum(one.n_covered for one in found.values()),
            {name: sum(one.n_right[name] for one in found.values()) for name in METHODS},
        )
        return AnalogyEvaluation(self.name, found, self.notes)


def vectors_of_file(path: str | Path, most: int = MOST_VECTORS) -> VectorTable:
    """Word vectors in text form."""
    rows, vectors = read_word_vectors(path, most)
    note = f"{counted(len(rows), 'vector')} of {counted(vectors.shape[1], 'number')}."
    return VectorTable(str(path), rows, vectors, (note,))


def vectors_of_model(
    opened: OpenedModel, words: Iterable[str], subwords: str = "leave-out"
) -> VectorTable:
    """Input embeddings of all words that are one token, and of some words.

    Args:
        opened: any model that reads or writes text.
        words: those that are asked for; what of them is several tokens is left out or averaged.
        subwords: "leave-out" or "average".
    """
    if subwords not in SUBWORDS:
        raise UsageError(f"subwords = {subwords!r} is not known: choose {' or '.join(SUBWORDS)}")
    tokenizer, table = _embedding(opened)
    vocabulary = [tokenizer.decode([id_]).strip() for id_ in range(len(NAMES), len(tokenizer))]
    rows: dict[str, int] = {}
    vectors: list[Float[np.ndarray, " D"]] = []
    for word, ids in zip(vocabulary, _encoded(tokenizer, vocabulary), strict=True):
        if word and len(ids) == 1 and ids[0] != UNKNOWN and word not in rows:
            rows[word] = len(vectors)
            vectors.append(table[ids[0]])
    asked = [word for word in dict.fromkeys(words) if word not in rows and word.lower() not in rows]
    spelled = dict(zip(asked, _encoded(tokenizer, asked), strict=True))
    several = {word: ids for word, ids in spelled.items() if len(ids) > 1 and UNKNOWN not in ids}
    notes = [f"Words of the set that no token or tokens spell: {len(asked) - len(several):,}."]
    if several and subwords == "average":
        notes.append(f"Words of several tokens, whose vectors are averaged: {len(several):,}.")
        for word, ids in several.items():
            rows[word] = len(vectors)
            vectors.append(table[ids].mean(0))
    elif several:
        notes.append(
            f"Words of several tokens, left out: {len(several):,} (--subwords average keeps them)."
        )
    return VectorTable(str(opened.loaded.path), rows, np.stack(vectors), tuple(notes))


def analogies_of_model(
    opened: OpenedModel, path: str | Path, subwords: str = "leave-out"
) -> AnalogyEvaluation:
    """Solve the questions of a file by a model's input embeddings."""
    sections = read_analogies(path)
    words = (word for questions in sections.values() for one in questions for word in one)
    return vectors_of_model(opened, words, subwords).analogies(path)


def _embedding(opened: OpenedModel) -> tuple[Tokenizer, Float[np.ndarray, "V D"]]:
    """The first table of embeddings, and the tokenizer whose tokens it has."""
    loaded = opened.loaded
    for module in opened.model.modules():
        if isinstance(module, Embedding):
            table = module.weight.detach().float().cpu().numpy()
            for tokenizer in (loaded.source_tokenizer, loaded.target_tokenizer):
                if len(tokenizer) in (len(table), len(table) - 1):  # one more stands for a gap
                    return tokenizer, table
    raise WrongModelError(refusal(loaded, "embed words"))


def _encoded(tokenizer: Tokenizer, words: Sequence[str]) -> list[list[int]]:
    """Ids of words as they stand in a text: the fewer of those after a space and without one."""
    after, plain = (tokenizer.encode_many([f"{gap}{word}" for word in words]) for gap in (" ", ""))
    blank = {
        id_ for id_ in range(len(NAMES), len(tokenizer)) if not tokenizer.decode([id_]).strip()
    }
    return [
        min(([id_ for id_ in ids if id_ not in blank] for ids in both), key=len)
        for both in zip(after, plain, strict=True)
    ]
