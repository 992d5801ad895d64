"""Labelled examples: what labels and tags read, encode, learn and are measured by."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from torch.nn import functional as F

from regard.config import Recipe, known
from regard.config.labelling import Labelling
from regard.counting import counted, noun
from regard.data import (
    NOTHING,
    Batch,
    Labelled,
    LabelledBatches,
    LabelledRows,
    Plan,
    labelled_batch,
)
from regard.data.batch import Ids
from regard.errors import DataError, RecipeError
from regard.evaluation import (
    LabelQuality,
    accuracy,
    by_label,
    by_type,
    macro_f1,
    micro_f1,
    tells_spans,
)
from regard.models import Labeller, Model
from regard.shapes import Float, Int, Tensor
from regard.systems.pretrained import begin_from, put_encoder
from regard.text import Tokenizer, measure_fertility
from regard.training.defaults import Facts, derive
from regard.training.prepared import Prepared
from regard.training.tasks import Task
from regard.training.tokenizers import learned_tokenizers
from regard.training.validation import HeldOut, Stopped

_HELD_OUT = 10  # one in ten
_MOST_HELD_OUT = 1_000
_FEWEST = 50  # of fewer examples, none is held out
_MOST_NAMED = 12  # labels that are shown with their counts
_ROWS = 64

Examples = Sequence[Labelled]
Row = tuple[list[int], Ids]  # what is read, and the numbers of its labels


Made = TypeVar("Made", bound="PreparedLabels")


@dataclass(frozen=True)
class PreparedLabels(Prepared):
    """Labelled rows to learn from; the system says what an example is."""

    learned: LabelledRows
    examples: Examples

    @classmethod
    def read(cls, train: Sequence[str], valid: Sequence[str]) -> tuple[Examples, Examples]:
        """What is learned from, and what is named to validate on, with no label of its own."""
        raise NotImplementedError

    @classmethod
    def rows(
        cls, example: Labelled, numbers: dict[str, int], tokenizer: Tokenizer, most: int
    ) -> tuple[list[Row], bool]:
        """An example in rows of at most so many tokens, and whether it was too long for one."""
        raise NotImplementedError

    @classmethod
    def hold_out(cls, rows: LabelledRows, labels: tuple[str, ...]) -> "LabelValidation":
        """What the model is measured on."""
        return LabelValidation(rows, labels)

    @classmethod
    def facts(cls, example: Labelled) -> dict[str, object]:
        """What the data say of the network, besides its labels."""
        return {}

    @property
    def task(self) -> Task:
        """Every label is learned."""
        return label_loss

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """Rows of like length together."""
        training = self.recipe.training
        budget = known(training.batch_tokens, "training.batch_tokens")
        return LabelledBatches(self.learned, training.seed, budget, rank, n_ranks)

    def begin(self, model: Model) -> None:
        """Copy a pre-trained encoder into the model, where the recipe names one."""
        assert isinstance(model, Labeller)
        if self.recipe.training.init:
            put_encoder(model, self.recipe.training.init)

    @classmethod
    def prepare(cls: type[Made], recipe: Recipe, folder: Path, *, n_processes: int = 1) -> Made:
        """Read labelled examples, learn a tokenizer or take that of the model it begins from."""
        if not recipe.data.train:
            raise DataError(
                "there is nothing to learn from: name labelled examples with --data FILE or "
                "--corpus NAME, or in the recipe as data.train"
            )
        folder = folder / "training"
        read, named = cls.read(recipe.data.train, recipe.data.valid)
        examples = list(dict.fromkeys(read)) if recipe.data.drops_duplicates else read
        counts = Counter(label for one in examples for label in one.labels)
        labels = _labels(recipe, counts)
        split = _split(examples, named, recipe.training.seed)
        recipe = begin_from(recipe, folder)
        sides = {"text": lambda: _sentences(split.learned)}
        tokenizer, *_ = learned_tokenizers(recipe, folder, sides)
        assert isinstance(recipe.model, Labelling)
        context = recipe.model.context
        rows, n_cut = cls.encode(split.learned, labels, tokenizer, context)
        held, n_held_cut = cls.encode(split.held, labels, tokenizer, context)
        facts = Facts(
            n_pairs=len(rows),
            n_target_tokens=int(rows.lengths()[0].sum()),
            n_vocabulary=len(tokenizer),
            n_processes=n_processes,
        )
        notes = split.notes() + notes_on(counts, n_cut + n_held_cut, context, recipe.training.init)
        return cls(
            recipe=_with_facts(derive(recipe, facts), labels, cls.facts(examples[0])),
            derived_from=facts,
            source_tokenizer=tokenizer,
            target_tokenizer=tokenizer,
            validation=cls.hold_out(held, labels) if split.held else None,
            account=LabelAccount(len(read), len(examples), len(split.held), counts),
            note="; ".join(notes) or None,
            fertility={"text": measure_fertility(tokenizer, _sentences(split.learned))},
            learned=rows,
            examples=split.learned,
        )

    @classmethod
    def encode(
        cls, examples: Examples, labels: Sequence[str], tokenizer: Tokenizer, context: int
    ) -> tuple[LabelledRows, int]:
        """Rows of ids and labels' numbers, and how many examples were too long for one row."""
        numbers = {label: i for i, label in enumerate(labels)}
        ids, told, n_cut = list[Ids](), list[Ids](), 0
        for example in examples:
            rows, is_cut = cls.rows(example, numbers, tokenizer, context)
            n_cut += is_cut
            for row, places in rows:
                ids.append(np.asarray(row, dtype=np.int32))
                told.append(places)
        return LabelledRows(ids, told), n_cut


def _labels(recipe: Recipe, counts: Counter[str]) -> tuple[str, ...]:
    found = tuple(sorted(counts))
    if len(found) < 2:
        raise DataError(
            f"{', '.join(recipe.data.train)}: the only label is {found[0]!r}, and there is nothing "
            "to tell apart: give examples of another label too"
        )
    return found


def _split(examples: Examples, named: Examples, seed: int) -> "Split":
    """Of examples without validation files, one in ten is kept apart; of few, none."""
    if named or len(examples) < _FEWEST:
        return Split(examples, named, is_named=True)
    n_held = min(_MOST_HELD_OUT, len(examples) // _HELD_OUT)
    order = np.random.default_rng([seed % 2**64, 0x68656C64]).permutation(len(examples))
    held, learned = np.sort(order[:n_held]).tolist(), np.sort(order[n_held:]).tolist()
    return Split([examples[i] for i in learned], [examples[i] for i in held], is_named=False)


def _sentences(examples: Examples) -> Iterator[str]:
    return (text for one in examples for text in one.texts)


def _with_facts(recipe: Recipe, labels: tuple[str, ...], facts: dict[str, object]) -> Recipe:
    """The recipe with what the data say of the network."""
    model = recipe.model.model_copy(update={"labels": labels, **facts})
    return recipe.model_copy(update={"model": model})


@dataclass(frozen=True)
class LabelAccount:
    """How many examples were read, and how often which label."""

    n_read: int
    n_kept: int
    n_held_out: int
    counts: Counter[str]

    def line(self) -> str:
        """All of it in one line."""
        common = [f"{name} {n:,}" for name, n in self.counts.most_common(_MOST_NAMED)]
        more = ", ..." if len(self.counts) > _MOST_NAMED else ""
        text = f"{counted(self.n_read, 'example')} read, {self.n_kept:,} kept"
        if self.n_read > self.n_kept:
            text += f"; dropped: {self.n_read - self.n_kept:,} duplicate"
        labels = f"{counted(len(self.counts), 'label')}: {', '.join(common)}{more}"
        return f"{text}; {self.n_held_out:,} to validate on; {labels}"

    def rows(self) -> list[tuple[str, int, str, str]]:
        """Only what is equal to another example is dropped, and that needs no example."""
        return []


@dataclass(frozen=True)
class Split:
    """Examples to learn from and to validate on, which are kept apart from them or named."""

    learned: Examples
    held: Examples
    is_named: bool

    def notes(self) -> list[str]:
        """What a user should know of where they come from."""
        if not self.held:
            return [
                "no validation files were named, and there are too few examples to hold some out: "
                "the weights of the end will be kept"
            ]
        if not self.is_named:
            return [
                f"no validation files were named: {counted(len(self.held), 'example')} "
                f"{noun(len(self.held), 'is', 'are')} held out"
            ]
        known = {one.texts for one in self.learned}
        n = sum(one.texts in known for one in self.held)
        if not n:
            return []
        return [
            f"{n:,} of {len(self.held):,} validation texts ({n / len(self.held):.1%}) are also in "
            "the training data: validation will look better than it is"
        ]


def notes_on(counts: Counter[str], n_cut: int, context: int, init: str | None) -> list[str]:
    """What a user should know of the labels, of long texts, and of what is begun from."""
    notes = []
    if init is None:
        notes.append("no --init was given: the encoder begins from nothing")
    if rare := sorted(label for label, n in counts.items() if n == 1):
        shown = ", ".join(map(repr, rare[:5])) + (", ..." if len(rare) > 5 else "")
        have = noun(len(rare), "has", "have")
        notes.append(f"{shown} {have} one example only")
    if n_cut:
        texts = f"{counted(n_cut, 'text')} {noun(n_cut, 'is', 'are')}"
        notes.append(f"{texts} longer than the {counted(context, 'token')} the model sees")
    return notes


def n_labels(model: Labelling) -> int:
    """How many labels the network tells apart."""
    if not model.labels:
        raise RecipeError(
            "model.labels is still empty: labels are found in the training data; name them to "
            "build the model without data"
        )
    return len(model.labels)


def label_loss(model: Model, batch: Batch, smoothing: float) -> tuple[Float[Tensor, ""], int]:
    """Tell the label of each text, or the tag of each word."""
    assert isinstance(model, Labeller)
    labels = batch.target[batch.target != NOTHING]
    logits = model.label(batch.source, batch.target != NOTHING)
    loss = F.cross_entropy(logits, labels, reduction="sum", label_smoothing=smoothing)
    return loss, len(labels)


@dataclass(frozen=True)
class LabelValidation(HeldOut):
    """Held-out rows; ``names`` says what the labels' numbers stand for."""

    rows: LabelledRows
    names: tuple[str, ...]

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All rows, those of like length together."""
        lengths, _ = self.rows.lengths()
        order = lengths.argsort(kind="stable").tolist()
        for start in range(0, len(order), _ROWS):
            yield labelled_batch([self.rows[i] for i in order[start : start + _ROWS]]).to(device)

    def predicted(self, batch: Batch) -> Int[Tensor, "N"]:
        """The labels."""
        return batch.target[batch.target != NOTHING]

    def quality(self, model: Model, should_stop: Callable[[], bool]) -> LabelQuality:
        """Accuracy and F1 of the likeliest labels."""
        assert isinstance(model, Labeller)
        given, gold = list[list[str]](), list[list[str]]()
        for batch in self.batches(next(model.parameters()).device):
            if should_stop():
                raise Stopped
            labels = torch.full_like(batch.target, NOTHING)
            labels[batch.target != NOTHING] = model.label(
                batch.source, batch.target != NOTHING
            ).argmax(-1)
            given += self._named(labels)
            gold += self._named(batch.target)
        return judge_labels(given, gold)

    def _named(self, labels: Int[Tensor, "B L"]) -> Iterator[list[str]]:
        return ([self.names[one] for one in row if one != NOTHING] for row in labels.tolist())


def judge_labels(given: list[list[str]], gold: list[list[str]]) -> LabelQuality:
    """Measure the labels of rows; where they are of spans, whole spans are counted too."""
    flat_given, flat_gold = ([one for row in side for one in row] for side in (given, gold))
    return LabelQuality(
        accuracy(flat_given, flat_gold),
        macro_f1(by_label(flat_given, flat_gold)),
        micro_f1(by_type(given, gold)) if tells_spans(flat_gold) else None,
    )
