"""From a recipe and labelled examples to everything a run needs, for models that tell labels."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from regard.config import Recipe
from regard.config.derive import Facts, derive, known
from regard.config.labelling import Labelling
from regard.data import (
    NOTHING,
    Classified,
    LabelledBatches,
    LabelledRows,
    Plan,
    Tagged,
    parse_labelled,
    read_classified,
    read_tagged,
    text_row,
    word_rows,
)
from regard.data.batch import Ids
from regard.errors import DataError
from regard.text import Tokenizer, measure_fertility
from regard.text.segmenting import Lexicon
from regard.text.sentences import cut_at_words, joined
from regard.training.initial import begin_from
from regard.training.label_account import Examples, LabelAccount, Split, notes_on
from regard.training.labelling import LabelValidation, labelling
from regard.training.preparation import Prepared
from regard.training.tasks import Task
from regard.training.tokenizers import learned_tokenizers

_HELD_OUT = 10  # one in ten
_MOST_HELD_OUT = 1_000
_FEWEST = 50  # of fewer examples, none is held out


@dataclass(frozen=True)
class PreparedLabels(Prepared):
    """Labelled rows to learn from."""

    learned: LabelledRows
    words: Lexicon | None  # of data with tags

    @property
    def lexicon(self) -> Lexicon | None:
        """The words that have tags; a text to tag is cut into such."""
        return self.words

    @property
    def task(self) -> Task:
        """Every label is learned."""
        return labelling

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """Rows of like length together."""
        training = self.recipe.training
        budget = known(training.batch_tokens, "training.batch_tokens")
        return LabelledBatches(self.learned, training.seed, budget, rank, n_ranks)


def prepare_label_run(recipe: Recipe, folder: Path, *, n_processes: int = 1) -> PreparedLabels:
    """Read labelled examples, learn a tokenizer or take that of the model the run begins from."""
    if not recipe.data.train:
        raise DataError(
            "there is nothing to learn from: name labelled examples with --data FILE or "
            "--corpus NAME, or in the recipe as data.train"
        )
    folder = folder / "training"
    read, named = _read(recipe)
    examples = list(dict.fromkeys(read)) if recipe.data.drops_duplicates else read
    counts = Counter(label for one in examples for label in one.labels)
    labels = _labels(recipe, counts)
    split = _split(examples, named, recipe.training.seed)
    recipe = begin_from(recipe, folder)
    tokenizer, *_ = learned_tokenizers(recipe, folder, {"text": lambda: _sentences(split.learned)})
    assert isinstance(recipe.model, Labelling)
    context = recipe.model.context
    rows, n_cut = encode(split.learned, labels, tokenizer, context)
    held, n_held_cut = encode(split.held, labels, tokenizer, context)
    facts = Facts(
        n_pairs=len(rows),
        n_target_tokens=int(rows.lengths()[0].sum()),
        n_vocabulary=len(tokenizer),
        n_processes=n_processes,
    )
    notes = split.notes() + notes_on(counts, n_cut + n_held_cut, context, recipe.training.init)
    return PreparedLabels(
        recipe=_told(derive(recipe, facts), labels, examples[0]),
        source_tokenizer=tokenizer,
        target_tokenizer=tokenizer,
        validation=LabelValidation(held, labels) if split.held else None,
        account=LabelAccount(len(read), len(examples), len(split.held), counts),
        note="; ".join(notes) or None,
        fertility={"text": measure_fertility(tokenizer, _sentences(split.learned))},
        learned=rows,
        words=Lexicon.of(words) if (words := _words(split.learned)) else None,
    )


def _read(recipe: Recipe) -> tuple[Examples, Examples]:
    """What is learned from, and what is named to validate on, which has no label of its own."""
    specs = [parse_labelled(name) for name in recipe.data.train]
    valid = [parse_labelled(name) for name in recipe.data.valid]
    if recipe.training.task == "tagging":
        tagged = read_tagged(specs)
        return tagged, read_tagged(valid, {tag for one in tagged for tag in one.tags})
    classified = read_classified(specs)
    labels = {one.label for one in classified}
    return classified, read_classified(valid, labels, len(classified[0].texts))


def _labels(recipe: Recipe, counts: Counter[str]) -> tuple[str, ...]:
    found = tuple(sorted(counts))
    if len(found) < 2:
        raise DataError(
            f"{', '.join(recipe.data.train)}: the only label is {found[0]!r}, and there is nothing "
            "to tell apart: give examples of another label too"
        )
    return found


def _split(examples: Examples, named: Examples, seed: int) -> Split:
    """Of examples without validation files, one in ten is kept apart; of few, none."""
    if named or len(examples) < _FEWEST:
        return Split(examples, named, is_named=True)
    n_held = min(_MOST_HELD_OUT, len(examples) // _HELD_OUT)
    order = np.random.default_rng([seed % 2**64, 0x68656C64]).permutation(len(examples))
    held, learned = np.sort(order[:n_held]).tolist(), np.sort(order[n_held:]).tolist()
    return Split([examples[i] for i in learned], [examples[i] for i in held], is_named=False)


def _sentences(examples: Examples) -> Iterator[str]:
    return (text for one in examples for text in one.texts)


def _words(examples: Examples) -> list[tuple[str, ...]]:
    return [one.words for one in examples if isinstance(one, Tagged)]


def _told(recipe: Recipe, labels: tuple[str, ...], example: Classified | Tagged) -> Recipe:
    """The recipe with what the data say of the network."""
    said: dict[str, object] = {"labels": labels}
    if isinstance(example, Classified):
        said["n_texts"] = len(example.texts)
    return recipe.model_copy(update={"model": recipe.model.model_copy(update=said)})


def encode(
    examples: Examples, labels: Sequence[str], tokenizer: Tokenizer, context: int
) -> tuple[LabelledRows, int]:
    """Rows of ids and labels' numbers, and how many examples were too long for one row."""
    numbers = {label: i for i, label in enumerate(labels)}
    ids, told, n_cut = list[Ids](), list[Ids](), 0

    def add(row: list[int], labels: Ids) -> None:
        ids.append(np.asarray(row, dtype=np.int32))
        told.append(labels)

    for example in examples:
        if isinstance(example, Classified):
            row, is_cut = text_row(tokenizer, example.texts, context)
            add(row, np.asarray([numbers[example.label]], dtype=np.int32))
            n_cut += is_cut
            continue
        rows = word_rows(cut_at_words(tokenizer, *joined(example.words)), context)
        tags = iter(example.tags)
        for row, firsts in rows:
            places = np.full(len(row), NOTHING, dtype=np.int32)
            places[firsts] = [numbers[next(tags)] for _ in firsts]
            add(row, places)
        n_cut += len(rows) > 1
    return LabelledRows(ids, told), n_cut
