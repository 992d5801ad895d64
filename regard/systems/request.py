"""What is asked of a translator: a sentence, what its translation must have, and the search."""

from dataclasses import dataclass
from typing import TypedDict

from regard.decoding import Limits, Phrase, Sampling, Search
from regard.errors import UsageError
from regard.special import UNKNOWN
from regard.systems.results import check_options
from regard.text import Tokenizer
from regard.text.given import checked_text, checked_texts
from regard.text.words import join

_NEVER_MERGED = "，"  # a sign that forms no piece with a letter


@dataclass(frozen=True)
class Request:
    """A source sentence; its translation begins with ``prefix`` and contains each of ``must``."""

    source: str
    prefix: str = ""
    must: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        checked_text(self.source, "source")
        checked_text(self.prefix, "prefix")
        object.__setattr__(self, "must", tuple(checked_texts(self.must, "must")))


def spellings(tokenizer: Tokenizer, phrase: str) -> Phrase:
    """A phrase in tokens, as it begins a sentence or follows a space, and as it follows a sign.

    Inside a Chinese sentence no space stands before a word, and no piece begins with one.
    """
    stripped = phrase.strip()
    if not stripped:
        raise UsageError(
            "an empty phrase cannot be asked for: say which words the translation must contain"
        )
    ids = tuple(tokenizer.encode(phrase))
    if not ids or UNKNOWN in ids:
        raise UsageError(
            f"the translation cannot be made to contain {phrase!r}: the model's vocabulary has no "
            "tokens for it"
        )
    if join(["a", stripped[0]]) == f"a {stripped[0]}":
        return (ids,)
    pieces = tokenizer.pieces(_NEVER_MERGED + stripped)
    inside = tuple(piece.id for piece in pieces if piece.start >= len(_NEVER_MERGED))
    is_apart = all(piece.start or piece.end <= len(_NEVER_MERGED) for piece in pieces)
    return (ids, inside) if is_apart and inside and inside != ids else (ids,)


class SearchOptions(TypedDict, total=False):
    """How translations are searched for, in the words of the command line."""

    beam: int  # 5
    n_best: int  # 1: how many translations of a sentence
    alpha: float  # 1.0: of the length penalty
    penalty: str  # "wu" or "power"
    no_repeat: int  # no n-gram of so many tokens twice; 0: as it comes
    max_length: int  # tokens of an output
    sample: bool  # draw by chance instead of searching
    temperature: float
    top_k: int
    top_p: float
    seed: int


_DRAWN = ("temperature", "top_k", "top_p", "seed")


def chosen_search(options: SearchOptions) -> Search:
    """The search that these options ask for; what is not named is as usual."""
    check_options(options, SearchOptions, "a search")
    drawn = {name: options[name] for name in _DRAWN if name in options}  # type: ignore[literal-required]
    is_drawn = options.get("sample", bool(drawn))
    if drawn and not is_drawn:
        raise UsageError(f"{next(iter(drawn))} is for drawing by chance: add sample=True")
    sampling = Sampling(**drawn) if is_drawn else None
    n_best = options.get("n_best", 1)
    usual = Limits()
    return Search(
        width=1 if is_drawn else options.get("beam", max(5, n_best)),
        n_best=n_best,
        alpha=options.get("alpha", 1.0),
        penalty=options.get("penalty", "wu"),
        limits=Limits(most=options.get("max_length", usual.most)),
        no_repeat=options.get("no_repeat", 0),
        sampling=sampling,
    )
