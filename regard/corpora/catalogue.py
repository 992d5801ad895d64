"""The embedded corpora by name, and how an amount of one is named: "phrasebook:zh-en:test:500"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from itertools import islice
from typing import Any

from regard.corpora.interface import EmbeddedCorpus, Example
from regard.corpora.tables import read_words, with_tuples
from regard.errors import DataError

SEED = 1  # what is drawn unless another seed is asked for
SIZES = {"train": 100_000, "valid": 500, "test": 1_000}
HELD_OUT_SIZE = SIZES["test"]  # of any further split


@dataclass(frozen=True)
class Embedded:
    """A corpus that ships with the package; its module is imported when it is opened."""

    sentence: str
    module: str
    kind: str  # the class in it
    sides: tuple[str, str] | None = None  # what source and target are called; None: by the pair
    pairs: tuple[str, ...] = ()  # of languages, where there is a choice
    needs_pair: bool = True  # or all of them together, where none is chosen
    gives: str = "pairs"  # the kind of training data; of "images" the targets are their classes

    @property
    def version(self) -> str:
        """Changes whenever the same seed gives other examples."""
        module = import_module(self.module)
        return str(module.VERSION if hasattr(module, "VERSION") else module.version())

    def open(self, pair: str | None) -> EmbeddedCorpus:
        """The corpus, for a pair that it has."""
        made: Any = getattr(import_module(self.module), self.kind)
        corpus: EmbeddedCorpus = made(pair) if pair else made()
        return corpus


CORPORA = {
    name: Embedded(**with_tuples(fields))
    for name, fields in read_words(__package__, "corpora.toml").items()
}


@dataclass(frozen=True)
class Extract:
    """So many examples of a split of a corpus: NAME[:PAIR][:SPLIT][:SIZE]."""

    corpus: str
    pair: str | None = None
    split: str = "train"
    size: int | None = None  # None: as many as is usual, or all if there are fewer

    @property
    def name(self) -> str:
        """As it is written, in full."""
        size = None if self.size is None else str(self.size)
        return ":".join(filter(None, (self.corpus, self.pair, self.split, size)))

    @property
    def sides(self) -> tuple[str, str]:
        """What source and target are called."""
        source, _, target = (self.pair or "").partition("-")
        return CORPORA[self.corpus].sides or (source, target)

    @property
    def version(self) -> str:
        """Changes whenever the same seed gives other examples."""
        return CORPORA[self.corpus].version

    @property
    def most(self) -> int:
        """How many examples it has, unless its split has fewer."""
        return SIZES.get(self.split, HELD_OUT_SIZE) if self.size is None else self.size

    def draw(self, seed: int = SEED) -> Iterator[Example]:
        """The examples; too few of them is an error once they are at an end."""
        examples = open_corpus(self.corpus, self.pair).examples(self.split, seed)
        n = 0
        for example in islice(examples, self.most):
            n += 1
            yield example
        if self.size is not None and n < self.size:
            raise DataError(
                f"{self.name}: there are only {n:,} different examples: ask for {n} or fewer."
            )


def open_corpus(name: str, pair: str | None = None) -> EmbeddedCorpus:
    """The embedded corpus of that name: "dates", or "phrasebook" with the pair "zh-en"."""
    embedded = CORPORA.get(name)
    if embedded is None:
        raise DataError(f"there is no corpus {name!r}; {_instead(name, CORPORA)}")
    pairs = embedded.pairs
    if not pairs:
        if pair is not None:
            raise DataError(f"the corpus {name} is not of two languages: leave out {pair!r}.")
    elif pair is None:
        if not embedded.needs_pair:
            return embedded.open(None)
        raise DataError(f"the corpus {name} needs a pair of languages: {_any_of(name, pairs)}")
    elif pair not in pairs:
        raise DataError(f"the corpus {name} has no pair {pair!r}; {_instead(pair, pairs)}")
    return embedded.open(pair)


def is_extract(text: str) -> bool:
    """Whether a text begins with the name of a corpus."""
    return text.partition(":")[0] in CORPORA


def parse_extract(text: str) -> Extract:
    """Read NAME[:PAIR][:SPLIT][:SIZE], and check each part of it."""
    name, *rest = text.split(":")
    pair = None
    embedded = CORPORA.get(name)
    if embedded and embedded.pairs and rest and (embedded.needs_pair or rest[0] in embedded.pairs):
        pair = rest.pop(0)
    splits = open_corpus(name, pair).splits
    size = _size(text, rest.pop()) if rest and not rest[-1][:1].isalpha() else None
    split = rest.pop(0) if rest else "train"
    if rest:
        raise DataError(f"{text!r} says too much: a corpus is named as {form(name)}.")
    if split not in splits:
        raise DataError(f"{text}: there is no split {split!r}; {_instead(split, splits)}")
    return Extract(name, pair, split, size)


def form(name: str) -> str:
    """How an amount of that corpus is named."""
    embedded = CORPORA[name]
    if not embedded.pairs:
        return f"{name}[:SPLIT][:SIZE]"
    return f"{name}:PAIR[:SPLIT][:SIZE]" if embedded.needs_pair else f"{name}[:PAIR][:SPLIT][:SIZE]"


def _size(text: str, number: str) -> int:
    if not re.fullmatch(r"[0-9]{1,12}", number) or int(number) < 1:
        raise DataError(
            f"{text}: {number!r} is not a number of examples: write 1 or more in digits alone, "
            "for example 50000."
        )
    return int(number)


def _instead(given: str, known: Any) -> str:
    close = get_close_matches(given, list(known), n=1)
    return f"did you mean {close[0]}?" if close else f"choose {', '.join(known)}."


def _any_of(name: str, pairs: tuple[str, ...]) -> str:
    return f"{', '.join(pairs)} (as {name}:{pairs[0]})."
