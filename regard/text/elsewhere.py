"""A vocabulary that came with a model made elsewhere: where its special tokens stood there.

Ours are ids 0 to 3, and the word taken out is the id after the last. There, each may stand anywhere
and be written otherwise, and some may be one and the same or not be there at all. The other tokens
keep their order, so the places of the special ones say all that is needed for the way back.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, SupportsIndex

from regard.errors import TextError
from regard.special import BOS, EOS, NAMES, PAD, UNKNOWN
from regard.text.tokens import Token
from regard.text.vocabulary import ListedVocabulary

ROLES = ("padding", "unknown", "begin", "end", "mask")
"""Of the special tokens, in the order of our ids; the mask comes after all others."""

_OWNERS = (EOS, UNKNOWN, BOS, PAD)  # who predicts a token that several of our ids are


@dataclass(frozen=True)
class Placed:
    """A special token as it is there: how it is written, and its id."""

    token: str
    id: int


class Elsewhere(ListedVocabulary):
    """Tokens in the order they have there, without the special ones, which ``special`` places."""

    def __init__(
        self,
        tokens: Sequence[str],
        special: Mapping[str, Placed],
        *,
        is_lowercase: bool = False,
    ) -> None:
        super().__init__(tokens, is_lowercase=is_lowercase)
        self.special = dict(special)

    @property
    def rows(self) -> tuple[int | None, ...]:
        """Their id for each of ours, and last for the mask, if there is one; ``None`` is no id."""
        taken = {one.id for one in self.special.values()}
        n_there = len(self) - len(NAMES) + len(taken)
        places = [self.special.get(role) for role in ROLES[: len(NAMES)]]
        first = [None if one is None else one.id for one in places]
        mask = [self.special["mask"].id] if "mask" in self.special else []
        return (*first, *(i for i in range(n_there) if i not in taken), *mask)

    @property
    def silent(self) -> tuple[int, ...]:
        """Our special ids without a token of their own there: nothing may be predicted by them."""
        rows = self.rows
        taken: set[int | None] = {None}
        silent = []
        for id_ in _OWNERS:
            if rows[id_] in taken:
                silent.append(id_)
            taken.add(rows[id_])
        return tuple(sorted(silent))

    @property
    def names(self) -> list[str]:
        """All tokens in their order and as they are written there."""
        written = dict(zip(self.rows, self._tokens, strict=False))
        written |= {one.id: one.token for one in self.special.values()}
        return [written[i] for i in range(len(written) - (None in written))]

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The sentence; PAD, BOS and EOS leave nothing."""
        raise NotImplementedError

    def pieces(self, text: str) -> list[Token]:
        """Ids as ``encode`` gives them, each with its place in the text."""
        raise NotImplementedError

    def _saved(self) -> dict[str, Any]:
        special = {role: [one.token, one.id] for role, one in self.special.items()}
        return super()._saved() | {"special": special}


def special_of(saved: Mapping[str, Any]) -> dict[str, Placed]:
    """The special tokens a JSON file holds."""
    try:
        found = {role: Placed(str(one), int(id_)) for role, (one, id_) in saved["special"].items()}
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise TextError(
            "A tokenizer that came with a model made elsewhere does not say where its special "
            "tokens stood: take it from a copy, or import the model again."
        ) from error
    return found
