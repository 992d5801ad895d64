"""Pronouns: whether the right one is written, and what they look at."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import torch

from regard.corpora import Example
from regard.data import MemoryCorpus, collate
from regard.inspection import record
from regard.inspection.antecedents import Case
from regard.inspection.looking import Looking, by_words
from regard.inspection.recording import at
from regard.inspection.report import PronounLook, PronounScore
from regard.shapes import Float, Tensor
from regard.special import EOS
from regard.text.special import NAMES
from regard.translation import Translator
from regard.translation.alignment import align_batch
from regard.translation.units import Units, read_units

FRENCH = frozenset({"il", "elle", "ils", "elles"})
ABOUT_IT = "because-it"
_NOUNS = ("nsubj", "obj", "obl")  # what else a pronoun could stand for in the same clause
_TOGETHER = 32


def last_pronoun(sentence: str) -> str | None:
    """The last French pronoun of the third person, in lower case."""
    words = re.findall(r"[^\W\d_]+", sentence.lower())
    return next((word for word in reversed(words) if word in FRENCH), None)


def score_pronouns(outputs: Sequence[str], truths: Sequence[str]) -> PronounScore:
    """How often an output has the pronoun of the truth; one without a pronoun is wrong."""
    wanted = [(last_pronoun(truth), output) for output, truth in zip(outputs, truths, strict=True)]
    asked = [(pronoun, output) for pronoun, output in wanted if pronoun is not None]
    total = Counter(pronoun for pronoun, _ in asked)
    right = Counter(pronoun for pronoun, output in asked if last_pronoun(output) == pronoun)
    by_pronoun = {pronoun: (n, right[pronoun]) for pronoun, n in sorted(total.items())}
    return PronounScore(len(asked), right.total(), by_pronoun)


def rivals(example: Example) -> tuple[int, int, tuple[int, ...]] | None:
    """Places of the pronoun, its antecedent, and the other nouns of the antecedent's clause."""
    side = example.source_side
    if side is None or not side.antecedents or not side.relations:
        return None
    pronoun, antecedent = side.antecedents[0]
    others = tuple(
        place
        for place, (head, relation) in enumerate(zip(side.heads, side.relations, strict=True))
        if head == side.heads[antecedent] and relation in _NOUNS and place != antecedent
        if place < pronoun
    )
    return (pronoun, antecedent, others) if others else None


def encoder_weights(
    translator: Translator, texts: Iterable[Units]
) -> Iterator[Float[Tensor, "N H L L"]]:
    """The self-attention of every layer and head among units; the last is the end of sentence."""
    model = translator.models[0]
    sites = [site for site in model.sites if site.kind == "encoder"]
    left = iter(texts)
    while some := list(islice(left, _TOGETHER)):
        ids = [(units.read.ids, [EOS]) for units in some]
        batch = collate(MemoryCorpus(ids), range(len(ids))).to(translator.device)
        with torch.inference_mode(), record(model, *(site.probe for site in sites)) as heard:
            model.hidden(batch.source, batch.target[:, :1])
        stacked = torch.stack([at(heard, site) for site in sites]).double().cpu()
        for row, units in enumerate(some):
            words = [piece.word for piece in units.read.pieces]
            words.append(len(units.read.words))
            real = stacked[:, row, :, : len(words), : len(words)]
            yield by_words(real, words, words)


def cases(translator: Translator, examples: Iterable[Example]) -> list[Case]:
    """What every head gives to the antecedent and to the other noun, for each pronoun."""
    known = []
    for example in examples:
        found = rivals(example)
        if found is None or ABOUT_IT not in example.tags or example.source_side is None:
            continue
        units = read_units(translator.source_tokenizer, example.source, example.source_side.words)
        if units.places:
            pronoun, antecedent, others = found
            is_subject = example.source_side.relations[antecedent] == "nsubj"
            at = [units.places[i] for i in (pronoun, antecedent, *others)]
            if len(set(at)) == len(at):  # each a token of its own
                known.append((units, at, is_subject))
    weights = encoder_weights(translator, [units for units, _, _ in known])
    return [
        Case(
            mine[:, :, at[0], at[1]],
            mine[:, :, at[0], at[2:]].amax(-1),
            is_subject,
        )
        for mine, (_, at, is_subject) in zip(weights, known, strict=True)
    ]


def look(
    translator: Translator, example: Example, output: str, layer: int, head: int
) -> PronounLook:
    """What the pronoun of a sentence looks at, and what its translation looks at."""
    side = example.source_side
    assert side is not None
    pronoun, antecedent = side.antecedents[0]
    units = read_units(translator.source_tokenizer, example.source, side.words)
    focus, true = (units.places[i] for i in (pronoun, antecedent))
    (weights,) = encoder_weights(translator, [units])
    words = (*units.read.words, NAMES[EOS])
    rows = tuple(tuple(row) for row in weights[layer, head].tolist())
    layers = weights[:, :, focus].mean(1)
    return PronounLook(
        side.words[pronoun],
        example.source,
        output,
        example.target,
        Looking(words, words, rows, ((focus, true),), focus),
        Looking(
            tuple(f"{i}" for i in range(len(layers))),
            words,
            tuple(tuple(row) for row in layers.tolist()),
            tuple((i, true) for i in range(len(layers))),
        ),
        _crossing(translator, example, output, units, true),
    )


def _crossing(
    translator: Translator, example: Example, output: str, source: Units, true: int
) -> Looking | None:
    """The decoder's look at the source while it writes the pronoun, if it wrote the truth's."""
    target_side = example.target_side
    if target_side is None or not target_side.antecedents or output != example.target:
        return None
    target = read_units(translator.target_tokenizer, output, target_side.words)
    if not target.places:
        return None
    focus = target.places[target_side.antecedents[0][0]]
    (found,) = align_batch(translator.models[0], [(source.read, target.read)])
    return Looking(found.target_words, found.source_words, found.matrix, ((focus, true),), focus)
