"""Every way to read off the attention what a pronoun stands for, and the one that tells it best."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import torch

from regard.corpora import Example
from regard.data import MemoryCorpus, collate
from regard.inspection import record
from regard.inspection.looking import Looking, by_words
from regard.inspection.recording import at
from regard.inspection.rollout import roll_out, roll_out_decoder
from regard.lessons.antecedents import (
    Case,
    Reading,
    ReadingScore,
    choose_reading,
    score_reading,
)
from regard.lessons.demo.pronouns import is_about_it, rivals
from regard.lessons.report import PronounLook
from regard.models import EncoderDecoder
from regard.shapes import Float, Tensor
from regard.special import EOS, NAMES
from regard.systems import Translator, build
from regard.text.sentences import Units, read_units

Place = tuple[str, int | None, int | None]  # kind, layer, head
_ROWS = {"encoder": ("pronoun", "adjective"), "cross": ("translation",)}
_TOGETHER = 32
_SEED = 0  # of the weights that have learned nothing


@dataclass(frozen=True)
class PronounQuestion:
    """A sentence with a pronoun, its true translation, and the words that matter, as units."""

    example: Example
    source: Units
    target: Units
    rows: dict[str, int]  # of the pronoun, its adjective, and the pronoun's translation
    antecedent: int
    others: tuple[int, ...]
    is_subject: bool


@dataclass(frozen=True)
class FoundHead:
    """The reading that was chosen on validation sentences, and what it and a control are worth."""

    valid: ReadingScore
    test: ReadingScore
    control: ReadingScore  # the best reading of the same network with random weights, on test


def find_reading(
    translator: Translator, valid: Iterable[Example], test: Iterable[Example]
) -> FoundHead | None:
    """Choose on one set of sentences, measure on the other; None where none has such a pronoun."""
    known, unseen = (list(_all_asked(translator, some)) for some in (valid, test))
    if not known:
        return None
    unseen = unseen or known
    scores = []
    for model in (translator.models[0], _untrained(translator)):
        readings, cases = _cases(model, known)
        best = choose_reading(readings, cases)
        scores.append((best, score_reading(*_cases(model, unseen), best.reading)))
    (chosen, tested), (_, control) = scores
    return FoundHead(chosen, tested, control)


def _untrained(translator: Translator) -> EncoderDecoder:
    """The network before it learned anything."""
    sizes = len(translator.source_tokenizer), len(translator.target_tokenizer)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)
        model = build(translator.loaded.recipe.model, *sizes)
    assert isinstance(model, EncoderDecoder)
    model.to(translator.device).eval().requires_grad_(False)
    return model


def ask(translator: Translator, example: Example) -> PronounQuestion | None:
    """The places of the words that matter; None where two of them share a token."""
    found, side, other = rivals(example), example.source_side, example.target_side
    if found is None or side is None or other is None or not other.antecedents:
        return None
    source = read_units(translator.source_tokenizer, example.source, side.words)
    target = read_units(translator.target_tokenizer, example.target, other.words)
    if not source.places or not target.places:
        return None
    pronoun, antecedent, others = found
    at_pronoun, at_noun, *at_others = (source.places[i] for i in (pronoun, antecedent, *others))
    if len({at_pronoun, at_noun, *at_others}) < 2 + len(at_others):
        return None
    rows = {
        "pronoun": at_pronoun,
        "adjective": source.places[side.heads[pronoun]],
        "translation": target.places[other.antecedents[0][0]],
    }
    is_subject = side.relations[antecedent] == "nsubj"
    return PronounQuestion(example, source, target, rows, at_noun, tuple(at_others), is_subject)


def _all_asked(translator: Translator, examples: Iterable[Example]) -> Iterator[PronounQuestion]:
    for example in examples:
        one = ask(translator, example) if is_about_it(example) else None
        if one is not None:
            yield one


def _cases(
    model: EncoderDecoder, asked: Sequence[PronounQuestion]
) -> tuple[tuple[Reading, ...], list[Case]]:
    readings: tuple[Reading, ...] = ()
    cases = []
    for one, tables in zip(asked, attention_by_words(model, asked), strict=True):
        readings = tuple(
            Reading(kind, layer, head, row)  # type: ignore[arg-type]
            for kind, layer, head in tables
            for row in _ROWS[kind]
        )
        rows = torch.stack([tables[r.kind, r.layer, r.head][one.rows[r.row]] for r in readings])
        others = rows[:, list(one.others)].amax(-1)
        cases.append(Case(rows[:, one.antecedent], others, one.is_subject))
    return readings, cases


@torch.inference_mode()
def attention_by_words(
    model: EncoderDecoder, asked: Iterable[PronounQuestion]
) -> Iterator[dict[Place, Float[Tensor, "R W"]]]:
    """Of each sentence all attention to the source among words; the last is its end.

    The rows of an encoder are the source's own words; those of a decoder are the words of the true
    translation, each while it is about to be written.
    """
    left = iter(asked)
    while some := list(islice(left, _TOGETHER)):
        ids = [(one.source.ids, one.target.ids) for one in some]
        batch = collate(MemoryCorpus(ids), range(len(ids)))
        device = next(model.parameters()).device
        batch = batch.to(device)
        sites = model.sites
        with record(model, *(site.probe for site in sites)) as heard:
            model.hidden(batch.source, batch.target[:, :-1])
        layers = {
            kind: [at(heard, site).double().cpu() for site in sites if site.kind == kind]
            for kind in ("encoder", "decoder", "cross")
        }
        rolled = roll_out(layers["encoder"])[-1]
        crossed = roll_out_decoder(layers["decoder"], layers["cross"], rolled)[-1][0]
        tables = {**_tables("encoder", layers, rolled), **_tables("cross", layers, crossed)}
        for row, one in enumerate(some):
            yield _of_sentence(one, {place: table[row] for place, table in tables.items()})


def _tables(
    kind: str, layers: dict[str, list[Tensor]], rolled: Float[Tensor, "B Q K"]
) -> dict[Place, Float[Tensor, "B Q K"]]:
    """Heads and their means of each layer, then the rollout."""
    found: dict[Place, Tensor] = {}
    for layer, weights in enumerate(layers[kind]):
        for head in range(weights.shape[1]):
            found[kind, layer, head] = weights[:, head]
        found[kind, layer, None] = weights.mean(1)
    found[kind, None, None] = rolled
    return found


def _of_sentence(
    one: PronounQuestion, tables: dict[Place, Float[Tensor, "Q K"]]
) -> dict[Place, Float[Tensor, "R W"]]:
    keys = [*one.source.of_tokens, len(one.source.words)]
    rows = {"encoder": keys, "cross": one.target.of_tokens}
    return {
        place: by_words(table[: len(rows[place[0]]), : len(keys)], rows[place[0]], keys)
        for place, table in tables.items()
    }


def look(
    translator: Translator, example: Example, output: str, reading: Reading, layer: int
) -> PronounLook | None:
    """What the row of a reading looks at in one sentence, and what its layers' means do.

    ``layer`` of the decoder tells which word of the source is looked at to write the pronoun.
    """
    one = ask(translator, example)
    if one is None:
        return None
    (tables,) = attention_by_words(translator.models[0], [one])
    focus = one.rows[reading.row]
    columns = (*one.source.words, NAMES[EOS])
    words = columns if reading.kind == "encoder" else one.target.words
    matrix = tables[reading.kind, reading.layer, reading.head]
    means = [
        table[focus].tolist()
        for (kind, of_layer, head), table in tables.items()
        if kind == reading.kind and of_layer is not None and head is None
    ]
    written = tables["cross", layer, None][one.rows["translation"]]
    return PronounLook(
        _word(example, reading.row),
        example.source,
        output,
        example.target,
        Looking(words, columns, _rows(matrix.tolist()), ((focus, one.antecedent),), focus),
        Looking(
            tuple(map(str, range(len(means)))),
            columns,
            _rows(means),
            tuple((place, one.antecedent) for place in range(len(means))),
        ),
        _word(example, "translation"),
        columns[int(written.argmax())],
    )


def _word(example: Example, row: str) -> str:
    """The word of the corpus whose row is read."""
    source, target = example.source_side, example.target_side
    assert source is not None
    assert target is not None
    if row == "translation":
        return target.words[target.antecedents[0][0]]
    pronoun = source.antecedents[0][0]
    return source.words[pronoun if row == "pronoun" else source.heads[pronoun]]


def _rows(weights: list[list[float]]) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(row) for row in weights)
