"""What tells which noun "it" stands for: every head, several readings, against the phrasebook.

    $ python benchmarks/antecedents.py --model runs/demo/en-fr/model --pair en-fr
    $ python benchmarks/antecedents.py --model runs/demo/en-fr/model --pair en-fr --genders-differ
    $ python benchmarks/antecedents.py --model runs/demo/zh-en/model --pair zh-en
    $ python benchmarks/antecedents.py --model runs/it --train

In "The animal didn't cross the street because it was too tired" two nouns could be meant. A reading
gives each a share; it is right where the antecedent's is greater. Antecedents that are subjects and
those that are objects count alike, so that always choosing one of them is right in half the cases.
The reading is chosen on every other sentence, beginning with the first, and measured on the rest;
the same is done with a model of the same recipe that has learned nothing.

Rows: "it" is the pronoun's own row in the encoder, "said" that of the word that says what it is
("tired"), "predicting" and "reading" are the decoder's two steps of the pronoun in the true
translation. With norms, weights count by the values they bring; a rollout follows all layers. Only
where the two nouns differ in French gender does a translation need to know which one is meant:
--genders-differ keeps to those. --train first trains a model of three narrow layers, for a few
minutes, on the one sentence in seven of the phrasebook's training split that has such a pronoun.
"""

import argparse
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import torch
from machine import facts, print_facts, print_table

from regard.corpora import SEED, Example, open_corpus
from regard.data import MemoryCorpus, collate
from regard.inspection import record
from regard.inspection.looking import by_words
from regard.inspection.recording import at
from regard.inspection.rollout import roll_out, roll_out_decoder
from regard.inspection.value_norms import value_norms, value_probe
from regard.lessons.demo import genders_differ, is_about_it, rivals
from regard.models import EncoderDecoder
from regard.shapes import Float, Tensor
from regard.systems import Translator, build
from regard.systems.scoring import windows
from regard.text.sentences import Units, read_units

_TOGETHER = 32
_N_SHOWN = 8
_N_READ, _N_VALID = 200_000, 300
_SETTINGS = (
    *("model.n_layers=3", "model.d_feedforward=64", "text.size=1000"),
    *("training.updates=2500", "training.batch_tokens=1024", "training.learning_rate=0.003"),
)


class Decided(NamedTuple):
    """What one reading made of one sentence."""

    is_right: bool
    is_largest: bool  # whether no word of the source gets more
    weight: float  # on the antecedent
    is_subject: bool  # the antecedent


@dataclass(frozen=True)
class Asked:
    """A sentence with a pronoun, and the places of the words that matter, as units."""

    source: Units
    target: Units
    pronoun: int
    said: int
    antecedent: int
    others: tuple[int, ...]
    translated: int | None  # the pronoun in the translation, if it has one of its own
    is_subject: bool


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--pair", default="en-fr")
    parser.add_argument("--sentences", type=int, default=600)
    parser.add_argument("--genders-differ", action="store_true", help="il or elle must be decided")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--train", action="store_true", help="train the model first")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if given.train:
        _train(given.model, given.pair, given.threads)
    print_facts(facts())
    translator = Translator.open(given.model)
    examples = open_corpus("phrasebook", given.pair).examples("test", SEED)
    if given.genders_differ:
        examples = filter(genders_differ, examples)
    asked = list(islice(_asked(translator, examples), given.sentences))
    print(f"\n{given.pair}: {len(asked)} sentences of the test split")
    _show("trained", _decided(translator.models[0], asked))
    torch.manual_seed(0)
    n_tokens = len(translator.source_tokenizer), len(translator.target_tokenizer)
    control = build(translator.loaded.recipe.model, *n_tokens)
    assert isinstance(control, EncoderDecoder)
    control.eval().requires_grad_(False)
    _show("the same recipe, random weights", _decided(control, asked))


def _train(model: Path, pair: str, threads: int) -> None:
    """Train on sentences with such a pronoun alone, or go on training."""
    examples = islice(open_corpus("phrasebook", pair).examples("train", SEED), _N_READ)
    told = list(filter(is_about_it, examples))
    files = model.parent / f"{model.name}-sentences"
    files.mkdir(parents=True, exist_ok=True)
    for name, some in (("valid", told[:_N_VALID]), ("train", told[_N_VALID:])):
        lines = "".join(f"{one.source}\t{one.target}\n" for one in some)
        (files / f"{name}.tsv").write_text(lines, "utf-8")
    sides = ["--data", str(files / "train.tsv"), "--valid", str(files / "valid.tsv")]
    changes = [part for one in _SETTINGS for part in ("--set", one)]
    options = ["--out", str(model), "--threads", str(threads), *changes]
    command = [sys.executable, "-m", "regard", "train", "phrasebook", *sides, *options]
    subprocess.run(command, check=True)


def _asked(translator: Translator, examples: Iterator[Example]) -> Iterator[Asked]:
    for example in examples:
        found, side, other = rivals(example), example.source_side, example.target_side
        if found is None or "because-it" not in example.tags or side is None or other is None:
            continue
        pronoun, antecedent, others = found
        source = read_units(translator.source_tokenizer, example.source, side.words)
        target = read_units(translator.target_tokenizer, example.target, other.words)
        words = (pronoun, side.heads[pronoun], antecedent, *others)
        places = [source.places[i] for i in words] if source.places else []
        if not target.places or len(set(places)) < len(words):
            continue
        translated = target.places[other.antecedents[0][0]] if other.antecedents else None
        is_subject = side.relations[antecedent] == "nsubj"
        own = (places[0], places[1], places[2], tuple(places[3:]))
        yield Asked(source, target, *own, translated, is_subject)


def _decided(model: EncoderDecoder, asked: Sequence[Asked]) -> dict[str, list[Decided]]:
    """For every reading, what it decided in each sentence it applies to."""
    found: dict[str, list[Decided]] = {}
    for window in windows(asked, _TOGETHER):
        for row, one in enumerate(_rows(model, window)):
            mine = window[row]
            for name, weights in one.items():
                right = bool(weights[mine.antecedent] > max(weights[o] for o in mine.others))
                weight = float(weights[mine.antecedent])
                is_largest = int(weights.argmax()) == mine.antecedent
                decided = Decided(right, is_largest, weight, mine.is_subject)
                found.setdefault(name, []).append(decided)
    return found


@torch.inference_mode()
def _rows(model: EncoderDecoder, asked: Sequence[Asked]) -> Iterator[dict[str, Tensor]]:
    """For each sentence and reading, how much each source word gets."""
    ids = [(one.source.ids, one.target.ids) for one in asked]
    batch = collate(MemoryCorpus(ids), range(len(ids)))
    sites = model.sites
    values = [value_probe(model, site) for site in sites]
    with record(model, *(site.probe for site in sites), *values) as heard:
        model.hidden(batch.source, batch.target[:, :-1])
    weights = {site: at(heard, site) for site in sites}
    tables: dict[str, Tensor] = {}
    for site in sites:
        if site.kind != "decoder":
            for name, table in (("", weights[site]), (", norms", value_norms(model, site, heard))):
                tables[f"{site.name}, mean{name}"] = table.mean(1)
                for head in range(table.shape[1]):
                    tables[f"{site.name}, head {head}{name}"] = table[:, head]
    own, written, cross = (
        [weights[site] for site in sites if site.kind == kind]
        for kind in ("encoder", "decoder", "cross")
    )
    rolled = roll_out(own)[-1]
    tables["encoder rollout"] = rolled
    tables["cross rollout"] = roll_out_decoder(written, cross, rolled)[-1][0]
    for row, one in enumerate(asked):
        yield dict(_of_sentence(one, {name: table[row] for name, table in tables.items()}))


def _of_sentence(
    one: Asked, tables: dict[str, Float[Tensor, "Q K"]]
) -> Iterator[tuple[str, Float[Tensor, "W"]]]:
    source, target = one.source.of_tokens, one.target.of_tokens
    keys = [*source, len(one.source.words)]  # and <EOS>
    for name, table in tables.items():
        if name.startswith("encoder"):
            words = by_words(table[: len(keys), : len(keys)], keys, keys)
            yield f"{name}: it", words[one.pronoun]
            yield f"{name}: said", words[one.said]
        elif one.translated is not None:
            for step, first in (("predicting", 0), ("reading", 1)):
                rows = table[first : first + len(target), : len(keys)]
                yield f"{name}: {step}", by_words(rows, target, keys)[one.translated]


def _show(title: str, decided: dict[str, list[Decided]]) -> None:
    order = sorted(decided, key=lambda name: -_share(decided[name][::2]))
    encoder = [name for name in order if name.startswith("encoder.") and name.endswith(": it")]
    usual = [name for name in encoder if "head" in name and "norms" not in name]
    rows = [
        (name, *_shares(decided[name], "norms" not in name))
        for name in dict.fromkeys([*order[:_N_SHOWN], *encoder[:2], *usual[:2]])
    ]
    print(f"\n{title}: right in %, by chance 50; {len(decided)} readings")
    head = ["reading", "chosen half", "other half", "largest of all words"]
    head += ["over half of the weight", "mean weight"]
    print_table(head, rows)


def _shares(decided: Sequence[Decided], are_shares: bool) -> list[str]:
    """Right in both halves; in the other one, how often it gets most, and how much it gets."""
    chosen, other = decided[::2], decided[1::2]
    found = [_share(chosen), _share(other), _share(other, lambda one: one.is_largest)]
    if are_shares:
        found.append(_share(other, lambda one: one.weight > 0.5))
        found.append(_share(other, lambda one: one.weight))
    return [*(f"{share:.1f}" for share in found), *([] if are_shares else ["–", "–"])]


def _share(
    decided: Sequence[Decided], value: Callable[[Decided], float] = lambda one: one.is_right
) -> float:
    """The mean in percent, subjects and objects alike."""
    kinds = [[value(one) for one in decided if one.is_subject is kind] for kind in (True, False)]
    shares = [sum(kind) / len(kind) for kind in kinds if kind]
    return 100 * sum(shares) / max(1, len(shares))


if __name__ == "__main__":
    main()
