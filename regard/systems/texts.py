"""Text to learn from: what writing and filling read, encode and hold out."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
import torch

from regard.config import Recipe
from regard.config.alone import Alone
from regard.counting import counted
from regard.data import (
    Batch,
    PreparedText,
    TextSpec,
    documents,
    parse_text,
    prepare_text,
    require_text,
)
from regard.data.batch import Ids
from regard.errors import DataError
from regard.text import Tokenizer, measure_fertility
from regard.training.defaults import Facts, derive
from regard.training.prepared import Prepared
from regard.training.tokenizers import learned_tokenizers
from regard.training.validation import HeldOut

_HELD_OUT = 10  # the last tenth
_MOST_HELD_OUT = 1_000_000  # tokens
MOST_MEASURED = 100_000

Starts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TextAccount:
    """How much text was read."""

    n_documents: int
    n_characters: int
    n_tokens: int
    n_held_out: int

    def line(self) -> str:
        """All of it in one line."""
        return (
            f"{counted(self.n_documents, 'text')}, {counted(self.n_characters, 'character')}, "
            f"{counted(self.n_tokens, 'token')}; {counted(self.n_held_out, 'token')} to validate on"
        )

    def rows(self) -> list[tuple[str, int, str, str]]:
        """Nothing of a text is dropped."""
        return []


@dataclass(frozen=True)
class TextSpan:
    """A part of a stream of ids: its documents are ``ids[starts[i]:starts[i + 1]]``."""

    ids: Ids
    starts: Starts

    @classmethod
    def of(cls, text: PreparedText) -> "TextSpan":
        """All of a text."""
        return cls(text.ids, text.starts)

    def cut(self, place: int) -> tuple["TextSpan", "TextSpan"]:
        """What stands before a place and what stands after it."""
        before, after = self.starts[self.starts < place], self.starts[self.starts > place]
        return (
            TextSpan(self.ids[:place], np.append(before, place)),
            TextSpan(self.ids[place:], np.append(0, after - place)),
        )


Made = TypeVar("Made", bound="PreparedTexts")


@dataclass(frozen=True)
class PreparedTexts(Prepared):
    """Text to learn from; what becomes of it is for the system to say."""

    learned: TextSpan
    held: TextSpan

    keeps_layout: ClassVar[bool] = False  # whether ends of lines are read, or spaces in their place

    @classmethod
    def hold_out(cls, recipe: Recipe, held: TextSpan, tokenizer: Tokenizer) -> HeldOut | None:
        """What the model is measured on."""
        raise NotImplementedError

    @classmethod
    def prepare(cls: type[Made], recipe: Recipe, folder: Path, *, n_processes: int = 1) -> Made:
        """Learn a tokenizer, encode the text and fill in what the recipe leaves to the data.

        What was prepared in this folder before, from the same files, is used again.
        """
        if not recipe.data.train:
            raise DataError(
                "there is nothing to learn from: name the text with --text, or in the recipe as "
                "data.train"
            )
        folder = folder / "training"
        specs = [parse_text(name) for name in recipe.data.train]
        unit = recipe.data.unit
        tokenizer, *_ = learned_tokenizers(
            recipe, folder, {"text": lambda: _lines(specs, unit)}, keeps_layout=cls.keeps_layout
        )
        text = prepare_text(specs, folder / "data" / "train", tokenizer, unit=unit)
        learned, held, note = _parted(recipe, text, folder, tokenizer)
        context = context_of(recipe)
        require_text(len(learned.ids), context)
        facts = Facts(
            n_pairs=max(1, len(learned.ids) // context),
            n_target_tokens=len(learned.ids),
            n_vocabulary=len(tokenizer),
            n_processes=n_processes,
        )
        n_documents = len(text.starts) - 1
        prepared = cls(
            recipe=derive(recipe, facts),
            derived_from=facts,
            source_tokenizer=tokenizer,
            target_tokenizer=tokenizer,
            validation=cls.hold_out(recipe, held, tokenizer) if len(held.ids) > 1 else None,
            account=TextAccount(n_documents, text.n_characters, len(text.ids), len(held.ids)),
            note=note,
            fertility={"text": measure_fertility(tokenizer, _lines(specs, unit))},
            learned=learned,
            held=held,
        )
        prepared.plan(0, n_processes)  # too little text is refused before anything is built
        return prepared


def _parted(
    recipe: Recipe, text: PreparedText, folder: Path, tokenizer: Tokenizer
) -> tuple[TextSpan, TextSpan, str | None]:
    """What is learned from, what is held out, and what a user should know of that."""
    named = [parse_text(name) for name in recipe.data.valid]
    if named:
        held = prepare_text(named, folder / "data" / "valid", tokenizer, unit=recipe.data.unit)
        return TextSpan.of(text), TextSpan.of(held), None
    n_held = min(len(text.ids) // _HELD_OUT, _MOST_HELD_OUT)
    note = f"no validation text was named: the last {n_held:,} tokens are held out"
    return *TextSpan.of(text).cut(len(text.ids) - n_held), note


def _lines(specs: Sequence[TextSpec], unit: str) -> Iterator[str]:
    return (line for lines in documents(specs, unit) for line in lines)


def context_of(recipe: Recipe) -> int:
    """How many tokens the model sees at once."""
    assert isinstance(recipe.model, Alone)
    return recipe.model.context


@dataclass(frozen=True)
class TextValidation(HeldOut):
    """Held-out text: the loss a token."""

    held_out: Sequence[Batch]
    tokenizer: Tokenizer

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All of the text."""
        return (batch.to(device) for batch in self.held_out)


def count_letters(text: str) -> int:
    """How much of a text is prose, rather than signs and gaps."""
    return sum(character.isalpha() for character in text)
