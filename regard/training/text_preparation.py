"""From a recipe and text to everything a run needs, for models that read one text alone."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from regard.config import Recipe
from regard.config.alone import Alone
from regard.config.derive import Facts, derive, known
from regard.counting import counted
from regard.data import (
    Passages,
    Plan,
    PreparedText,
    TextSpec,
    Windows,
    documents,
    held_out_windows,
    parse_text,
    prepare_text,
    require_text,
)
from regard.data.batch import Ids
from regard.errors import DataError
from regard.text import Tokenizer, measure_fertility
from regard.training.masking import Joints, Masking
from regard.training.preparation import Prepared
from regard.training.tasks import Task, language
from regard.training.text_validation import TextValidation
from regard.training.tokenizers import learned_tokenizers

_HELD_OUT = 10  # the last tenth
_MOST_HELD_OUT = 1_000_000  # tokens
_MOST_MEASURED = 100_000
_ROWS = 4_096  # tokens of a batch to measure

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
class Span:
    """A part of a stream of ids: its documents are ``ids[starts[i]:starts[i + 1]]``."""

    ids: Ids
    starts: Starts

    @classmethod
    def of(cls, text: PreparedText) -> "Span":
        """All of a text."""
        return cls(text.ids, text.starts)

    def cut(self, place: int) -> tuple["Span", "Span"]:
        """What stands before a place and what stands after it."""
        before, after = self.starts[self.starts < place], self.starts[self.starts > place]
        return (
            Span(self.ids[:place], np.append(before, place)),
            Span(self.ids[place:], np.append(0, after - place)),
        )


@dataclass(frozen=True)
class PreparedTexts(Prepared):
    """Text to learn from."""

    learned: Span
    held: Span

    @property
    def task(self) -> Task:
        """What comes next, or what was taken out."""
        training, tokenizer = self.recipe.training, self.source_tokenizer
        if training.task == "language":
            return language
        joints = Joints.of(tokenizer) if training.masks_whole_words else None
        return Masking(len(tokenizer), training.mask_share, joints)

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """Windows of the text, or passages of its documents."""
        training, context = self.recipe.training, _context(self.recipe)
        budget = known(training.batch_tokens, "training.batch_tokens")
        share = (context, training.seed, budget, rank, n_ranks)
        if training.task == "language":
            return Windows(self.learned.ids, *share)
        return Passages(self.learned.ids, self.learned.starts, *share)


def prepare_text_run(recipe: Recipe, folder: Path, *, n_processes: int = 1) -> PreparedTexts:
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
    apart = [parse_text(name) for name in recipe.data.valid]
    unit = recipe.data.unit
    # A model that writes must learn where lines end; one that finds words reads them as spaces.
    tokenizer, *_ = learned_tokenizers(
        recipe,
        folder,
        {"text": lambda: _lines(specs, unit)},
        keeps_layout=recipe.training.task == "language",
    )
    text = prepare_text(specs, folder / "data" / "train", tokenizer, unit=unit)
    if apart:
        held = Span.of(prepare_text(apart, folder / "data" / "valid", tokenizer, unit=unit))
        learned, note = Span.of(text), None
    else:
        n_held = min(len(text.ids) // _HELD_OUT, _MOST_HELD_OUT)
        learned, held = Span.of(text).cut(len(text.ids) - n_held)
        note = f"no validation text was named: the last {n_held:,} tokens are held out"
    context = _context(recipe)
    require_text(len(learned.ids), context)
    facts = Facts(
        n_pairs=max(1, len(learned.ids) // context),
        n_target_tokens=len(learned.ids),
        n_vocabulary=len(tokenizer),
        n_processes=n_processes,
    )
    prepared = PreparedTexts(
        recipe=derive(recipe, facts),
        source_tokenizer=tokenizer,
        target_tokenizer=tokenizer,
        validation=_validation(recipe, held, tokenizer),
        account=TextAccount(len(text.starts) - 1, text.n_characters, len(text.ids), len(held.ids)),
        note=note,
        fertility={"text": measure_fertility(tokenizer, _lines(specs, unit))},
        learned=learned,
        held=held,
    )
    prepared.plan(0, n_processes)  # too little text is refused before anything is built
    return prepared


def _lines(specs: Sequence[TextSpec], unit: str) -> Iterator[str]:
    return (line for lines in documents(specs, unit) for line in lines)


def _context(recipe: Recipe) -> int:
    assert isinstance(recipe.model, Alone)
    return recipe.model.context


def _validation(recipe: Recipe, held: Span, tokenizer: Tokenizer) -> TextValidation | None:
    """Everything held out, or an even part of it where that is much."""
    context = _context(recipe)
    if len(held.ids) < 2:
        return None
    if recipe.training.task == "language":
        sample = held.ids[:_MOST_MEASURED].tolist()
        n_characters = len(tokenizer.decode(sample)) / len(sample)
        batches = held_out_windows(held.ids, context, _MOST_MEASURED)
        return TextValidation(batches, tokenizer, n_characters)
    try:
        passages = Passages(held.ids, held.starts, context, recipe.training.seed, _ROWS)
    except DataError:  # a few tokens of BOS and EOS: nothing to find
        return None
    rows = passages.epoch(0)[: max(1, _MOST_MEASURED // _ROWS)]
    return TextValidation([passages.batch(one) for one in rows], tokenizer)
