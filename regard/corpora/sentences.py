"""Sentences of the phrasebook with labels: of which kind each is, and who does what when in it.

The grammar that makes a sentence knows both. Kinds are for classifiers; roles, for taggers, are
spans in the tags of CoNLL: "B-WHO" begins the subject, "I-WHO" goes on with it, "O" is none.
"""

from collections.abc import Iterator

from regard.corpora.interface import Example, Side
from regard.corpora.phrasebook import VERSION, Phrasebook

PAIRS = ("en", "zh", "fr")
__all__ = ["PAIRS", "VERSION", "Kinds", "Roles"]

_PAIR_OF = {"en": "en-zh", "zh": "zh-en", "fr": "fr-en"}
# The first that a sentence shows is its kind; what shows none of them states something.
_KINDS = ("question", "negation", "existence", "comparison", "quality")
_ROLES = {"nsubj": "WHO", "obj": "WHAT", "obl:tmod": "WHEN", "obl:mod": "WHEN"}
_OUTSIDE = "O"


class _Sentences:
    def __init__(self, language: str) -> None:
        self.language = language
        self.phrasebook = Phrasebook(_PAIR_OF[language])

    @property
    def splits(self) -> tuple[str, ...]:
        """Those of the phrasebook."""
        return self.phrasebook.splits


class Kinds(_Sentences):
    """A sentence, and whether it asks, denies, compares, describes, tells what is there, states."""

    def examples(self, split: str, seed: int) -> Iterator[Example]:
        """Sentences and their kinds, in an order drawn from the seed."""
        for example in self.phrasebook.examples(split, seed):
            kind = next((one for one in _KINDS if one in example.tags), "statement")
            yield Example(example.source, kind, tags=example.tags)


class Roles(_Sentences):
    """The words of a sentence with spaces between them, and their tags; of Chinese, characters."""

    def examples(self, split: str, seed: int) -> Iterator[Example]:
        """Sentences and their words' tags, in an order drawn from the seed."""
        for example in self.phrasebook.examples(split, seed):
            side = example.source_side
            assert side is not None
            words, tags, gap = list(side.words), roles(side), " "
            if self.language == "zh":
                (words, tags), gap = _characters(words, tags), ""
            yield Example(gap.join(words), " ".join(tags), side, tags=example.tags)


def roles(side: Side) -> list[str]:
    """A tag for each word: of the subject, the object and the time of the main clause."""
    tags = [_OUTSIDE] * len(side.words)
    root = side.heads.index(-1)
    for place, head in enumerate(side.heads):
        role = _ROLES.get(side.relations[place])
        if head == root and role is not None:
            under = sorted(_under(side, place))
            for word in under:
                tags[word] = f"{'B' if word == under[0] else 'I'}-{role}"
    return tags


def _under(side: Side, place: int) -> set[int]:
    """A word and all that hang from it."""
    found = {place}
    while more := {i for i, head in enumerate(side.heads) if head in found} - found:
        found |= more
    return found


def _characters(words: list[str], tags: list[str]) -> tuple[list[str], list[str]]:
    """Each character by itself; a span goes on within its words."""
    cut = [(c, n, tag) for word, tag in zip(words, tags, strict=True) for n, c in enumerate(word)]
    inner = [f"I{tag[1:]}" if n and tag != _OUTSIDE else tag for _, n, tag in cut]
    return [c for c, _, _ in cut], inner
