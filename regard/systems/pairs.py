"""Pairs to learn from: what translation and dialogue read, clean and encode."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from regard.config import Recipe, known
from regard.counting import counted, noun
from regard.data import (
    Batches,
    Corpus,
    GoldLinks,
    MixedBatches,
    Plan,
    PreparedCorpus,
    Spec,
    Subset,
    parse_spec,
    prepare,
    read_corpus,
)
from regard.data.batch import Ids
from regard.data.batching import MOST_SOURCE
from regard.errors import DataError
from regard.systems.gold import pair_gold
from regard.text import Tokenizer, measure_fertility
from regard.training.defaults import Facts, derive
from regard.training.prepared import Prepared
from regard.training.tasks import Task, translation
from regard.training.tokenizers import learned_tokenizers
from regard.training.validation import Validation

_PLANS = {"by-length": Batches, "mixed": MixedBatches}
_MOST_JUDGED = 1000  # validation pairs that are decoded; the loss is taken over all
_MOST_HELD_OUT = 1000
_FEWEST_HELD_OUT = 4  # pairs of conversations: of fewer than some 200, none


@dataclass(frozen=True)
class PreparedPairs(Prepared):
    """Pairs to learn from."""

    corpus: Corpus
    validation: Validation | None
    specs: tuple[Spec, ...]  # where the corpus comes from

    @property
    def task(self) -> Task:
        """Every word of the target is learned."""
        return translation

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """Pairs of like length together, or of all."""
        training = self.recipe.training
        batch_tokens = known(training.batch_tokens, "training.batch_tokens")
        return _PLANS[training.batches](self.corpus, training.seed, batch_tokens, rank, n_ranks)

    def gold(self) -> Sequence[GoldLinks]:
        """The links of the pairs."""
        both = self.source_tokenizer, self.target_tokenizer
        return pair_gold(self.recipe.training.lessons, self.specs, self.corpus, both)


def prepare_pairs(
    recipe: Recipe, folder: Path, *, n_processes: int = 1, turns: int | None = None
) -> PreparedPairs:
    """Learn tokenizers, encode the corpora and fill in what the recipe leaves to the data.

    With ``turns`` the files hold conversations, of which so many turns are read before an answer.

    What was prepared in this folder before, from the same files, is used again.
    """
    if not recipe.data.train:
        raise DataError(
            "there is nothing to learn from: name the training files with --source and --target, "
            "or in the recipe as data.train"
        )
    folder = folder / "training"
    specs = [parse_spec(spec, turns=turns) for spec in recipe.data.train]
    valid = [parse_spec(spec, turns=turns) for spec in recipe.data.valid]
    is_parted = turns is not None and not valid
    if is_parted:  # pairs of one conversation are learned from, or held out, together
        specs, valid = _parted(specs)
    source_tokenizer, target_tokenizer = _tokenizers(
        recipe, specs, folder, has_turns=turns is not None
    )
    corpus = prepare(
        specs,
        folder / "data" / "train",
        source_tokenizer,
        target_tokenizer,
        max_length=_longest(recipe),
        max_ratio=recipe.data.max_ratio,
        drops_duplicates=recipe.data.drops_duplicates,
        held_out=valid,
        n_read=recipe.data.read,
    )
    note = corpus.account.warning()
    learned: Corpus = corpus
    validation: Validation | None
    if valid:
        validation = _validation(
            valid, folder, source_tokenizer, target_tokenizer, recipe.data.read
        )
        if is_parted:
            note = (
                "no validation files were named: one conversation in fifty is held out instead, "
                f"{counted(len(validation.corpus), 'pair')}"
            )
    else:
        learned, validation = _held_out(
            corpus,
            (source_tokenizer, target_tokenizer),
            recipe.training.seed,
            is_unique=recipe.data.drops_duplicates,
        )
        held = 0 if validation is None else len(validation.corpus)
        note = (
            f"no validation files were named: {counted(held, 'training pair')} "
            f"{noun(held, 'is', 'are')} held out instead"
            if held
            else "no validation files were named, and there are too few pairs to hold some out: "
            "the weights of the end will be kept"
        )
    facts = Facts(
        n_pairs=len(learned),
        n_target_tokens=_n_counted(learned, reads_long=recipe.data.read is not None),
        n_vocabulary=len(target_tokenizer),
        n_processes=n_processes,
    )
    return PreparedPairs(
        recipe=derive(recipe, facts),
        derived_from=facts,
        source_tokenizer=source_tokenizer,
        target_tokenizer=target_tokenizer,
        validation=validation,
        account=corpus.account,
        note=note,
        fertility={
            "source": measure_fertility(source_tokenizer, (p.source for p in read_corpus(specs))),
            "target": measure_fertility(target_tokenizer, (p.target for p in read_corpus(specs))),
        },
        corpus=learned,
        specs=tuple(specs),
    )


def _tokenizers(
    recipe: Recipe, specs: Sequence[Spec], folder: Path, *, has_turns: bool
) -> tuple[Tokenizer, Tokenizer]:
    """One for both sides, or one for each."""

    def sentences(*which: int) -> Iterator[str]:
        return (pair[side] for pair in read_corpus(specs) for side in which)

    sides = {"source": lambda: sentences(0), "target": lambda: sentences(1)}
    if recipe.text.is_joint:
        sides = {"joint": lambda: sentences(0, 1)}
    loaded = learned_tokenizers(
        recipe, folder, sides, n_sentences_a_pair=3 - len(sides), has_turns=has_turns
    )
    return loaded[0], loaded[-1]


def _parted(specs: Sequence[Spec]) -> tuple[list[Spec], list[Spec]]:
    """Without some conversations, and these alone; where there are few, nothing is kept apart."""
    held = [replace(spec, part="held out") for spec in specs]
    n_held, n_pairs = (sum(1 for _ in read_corpus(some)) for some in (held, specs))
    if not _FEWEST_HELD_OUT <= n_held <= n_pairs // 5:
        return list(specs), []
    return [replace(spec, part="learned") for spec in specs], held


def _n_counted(corpus: Corpus, *, reads_long: bool) -> int:
    """Tokens that fill the budget of batches: those of targets, or of sources where they are long.

    A batch has room for twice as many tokens of sources as of targets.
    """
    sources, targets = corpus.lengths()
    counted_ = np.maximum(targets, sources // MOST_SOURCE) if reads_long else targets
    return int(counted_.sum()) + len(corpus)


def _longest(recipe: Recipe) -> int:
    """Of sentences to learn from: what the recipe allows and the model, with its end, can read."""
    n_places = recipe.model.n_places
    longest = recipe.data.max_length
    return longest if n_places is None else min(longest, max(1, n_places - 1))


def _validation(
    specs: Sequence[Spec],
    folder: Path,
    source_tokenizer: Tokenizer,
    target_tokenizer: Tokenizer,
    n_read: int | None,
) -> Validation:
    """Every pair given is measured; none is dropped but empty ones."""
    corpus = prepare(
        specs,
        folder / "data" / "valid",
        source_tokenizer,
        target_tokenizer,
        max_length=100_000,
        max_ratio=None,
        drops_duplicates=False,
        n_read=n_read,
    )
    references: list[str] = []
    for pair in read_corpus(specs):
        if len(references) == min(_MOST_JUDGED, len(corpus)):
            break
        source, target = pair.source.strip(), pair.target.strip()
        # As the corpus does: what has no tokens (zero-width spaces, say) was dropped as empty.
        if source_tokenizer.encode(source) and target_tokenizer.encode(target):
            references.append(target)
    return Validation(corpus, references, target_tokenizer, source_tokenizer)


def _held_out(
    corpus: PreparedCorpus, tokenizers: tuple[Tokenizer, Tokenizer], seed: int, *, is_unique: bool
) -> tuple[Corpus, Validation | None]:
    """Keep one pair in fifty apart, at most a thousand; under 200 pairs none."""
    n_held = min(_MOST_HELD_OUT, len(corpus) // 50)
    if len(corpus) < 200:
        return corpus, None
    order = np.random.default_rng([seed % 2**64, 0x68656C64]).permutation(len(corpus))
    apart = Subset(corpus, np.sort(order[:n_held]))
    learned = _without(corpus, order[n_held:], apart, is_unique=is_unique)
    source, target = tokenizers
    references = [target.decode(apart[i][1].tolist()) for i in range(len(apart))]
    return learned, Validation(apart, references, target, source)


def _without(
    corpus: PreparedCorpus, rows: npt.NDArray[np.int64], apart: Subset, *, is_unique: bool
) -> Subset:
    """The rows whose pairs are not held out; a file of weight 2 has every pair twice."""
    if is_unique and len(corpus) == corpus.account.n_kept:
        return Subset(corpus, np.sort(rows))
    held = {_key(apart[i]) for i in range(len(apart))}
    kept = [row for row in np.sort(rows).tolist() if _key(corpus[row]) not in held]
    return Subset(corpus, np.asarray(kept, dtype=np.int64))


def _key(pair: tuple[Ids, Ids]) -> tuple[bytes, bytes]:
    return pair[0].tobytes(), pair[1].tobytes()
