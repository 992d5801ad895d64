"""What a head is taught while a model learns: ``encoder.1.0=heads:train.conllu,weight=0.5``."""

import re
from collections.abc import Mapping
from typing import Annotated, Literal, get_args

from pydantic import Field, ValidationError

from regard.config.section import Count, Section

Gold = Literal["heads", "align", "antecedents", "previous", "next", "linear", "random", "shuffled"]
Way = Literal["loss", "scale", "fixed"]
_OPTION = re.compile(r"(.*),\s*(weight|until|way)\s*=\s*([^,]*)", re.DOTALL)
_LIKE = "write it as encoder.1.0=heads:train.conllu or encoder.0.3=previous,weight=0.5,until=2000"
FIXED: dict[str, int] = {"previous": -1, "next": 1}  # what a head can look at without learning it


class Lesson(Section):
    """A head, where it should look, and how it is told.

    ``loss`` adds ``−log α(gold)`` to what is learned, ``scale`` multiplies the head's scores around
    the gold (Bugliarello and Okazaki 2020), and ``fixed`` leaves it nothing to learn (Raganato et
    al. 2020).
    """

    head: str  # as it was written: encoder.1.0
    gold: Gold
    file: str | None = None
    way: Way = "loss"
    weight: Annotated[float, Field(gt=0)] = 1.0
    until: Count | None = None  # the last update that teaches

    @property
    def kind(self) -> str:
        """Whose attention it is: encoder, decoder or cross."""
        return self.head.partition(".")[0]

    @property
    def place(self) -> tuple[int, int]:
        """Layer and head, from 0."""
        _, layer, head = self.head.split(".")
        return int(layer), int(head)

    @property
    def needs_words(self) -> bool:
        """Whether the words of sentences must be known: the token before another is no word."""
        return self.gold not in FIXED


def parse_lesson(text: str) -> Lesson:
    """Read what a head is taught; raises ``ValueError`` with the sentence to print."""
    options: dict[str, object] = {}
    rest = text.strip()
    while (found := _OPTION.fullmatch(rest)) is not None:
        rest = found[1]
        options[found[2]] = _value(found[2], found[3].strip(), text)
    head, equals, gold = (part.strip() for part in rest.partition("="))
    kind, _, file = gold.partition(":")
    if not equals or re.fullmatch(r"(encoder|decoder|cross)\.\d+\.\d+", head) is None:
        raise ValueError(f"{text!r} does not name a head and what it is taught: {_LIKE}")
    if kind not in get_args(Gold):
        raise ValueError(
            f"{text!r} teaches {kind!r}, and a head is taught {', '.join(get_args(Gold))}: {_LIKE}"
        )
    try:
        lesson = Lesson.model_validate(
            {"head": head, "gold": kind, "file": file or None, **options}
        )
    except ValidationError as error:
        key = error.errors()[0]["loc"][0]
        raise ValueError(
            f"{text!r} has a {key} that is not possible: weight is a number above 0, until the "
            f"number of an update, and way {', '.join(get_args(Way))}"
        ) from error
    return _fitting(lesson, text)


def require_head(lesson: Lesson, layers: Mapping[str, int], n_heads: int) -> None:
    """Refuse a head that a model of so many layers and heads has not."""
    layer, head = lesson.place
    if layer >= layers.get(lesson.kind, 0) or head >= n_heads:
        there = ", ".join(f"{kind} has layers 0 to {n - 1}" for kind, n in layers.items())
        raise ValueError(
            f"there is no head {lesson.head} to teach: {there}, of heads 0 to {n_heads - 1}"
        )


def _value(key: str, written: str, text: str) -> object:
    try:
        return {"weight": float, "until": int, "way": str}[key](written)
    except ValueError as error:
        raise ValueError(f"{text!r}: {key} = {written!r} is no number: {_LIKE}") from error


def _fitting(lesson: Lesson, text: str) -> Lesson:
    """Refuse what does not go together."""
    if (lesson.kind == "cross") != (lesson.gold == "align"):
        raise ValueError(
            f"{text!r}: align is what cross heads are taught, and the others what heads of encoder "
            "and decoder are: name another head, or another gold"
        )
    if lesson.file is not None and lesson.gold in (*FIXED, "linear", "random"):
        raise ValueError(
            f"{text!r}: {lesson.gold} follows from the words alone: leave the file out"
        )
    if lesson.way == "fixed" and lesson.gold not in FIXED:
        raise ValueError(
            f"{text!r}: a head is fixed to {' or '.join(FIXED)}; what depends on the sentence it "
            "can only learn: leave way=fixed out"
        )
    if lesson.way == "fixed" and (lesson.until is not None or lesson.weight != 1.0):
        raise ValueError(f"{text!r}: a fixed head has neither weight nor until: leave them out")
    if lesson.way == "fixed" and (lesson.kind, lesson.gold) == ("decoder", "next"):
        raise ValueError(f"{text!r}: a decoder does not see what comes next: teach previous")
    return lesson
