"""What the demo finds out about the model it trained."""

import shlex
from collections.abc import Sequence
from itertools import chain, islice
from pathlib import Path

from regard.config import TransformerSection
from regard.corpora import SEED, SIZES, Example, Extract, open_corpus
from regard.corpora.phrasebook import Phrasebook
from regard.decoding import Search
from regard.evaluation import judge
from regard.inspection.looking import Looking
from regard.lessons.demo import pronouns, readings
from regard.lessons.report import Contents, PronounScore, ShownSentence, SplitScore, TrainingSummary
from regard.systems import Translator, load
from regard.systems.alignment import align_batch
from regard.text.sentences import read_units
from regard.training import read_metrics

N_SHOWN = 6
KINDS = ("question", "relative", "giving", "comparison", "negation", "existence")
NEEDS_ANTECEDENT = ("en-fr", "zh-fr", "fr-en", "fr-zh")  # it: il or elle; il: he or it


def find(
    extract: Extract, translator: Translator, folder: Path, n_test: int, planned: int
) -> Contents:
    """Measure the model on what was held out of its corpus, and look inside.

    ``planned`` updates are what its recipe takes to train it.
    """
    corpus = open_corpus(extract.corpus, extract.pair)
    test, combinations, valid = (
        list(islice(corpus.examples(split, SEED), size))
        for split, size in (
            ("test", n_test),
            ("combinations", n_test),
            ("valid", min(n_test, SIZES["valid"])),
        )
    )
    lectures = corpus.lectures() if isinstance(corpus, Phrasebook) else ()
    shown = _chosen(lectures, test)
    outputs = _translated(translator, chain(test, combinations, shown))
    of_test, rest = outputs[: len(test)], outputs[len(test) :]
    of_combinations, of_shown = rest[: len(combinations)], rest[len(combinations) :]
    found = _reading(extract, translator, valid, test) if lectures else None
    alignment, layer = _alignment(translator, shown[0], of_shown[0])
    return Contents(
        title=extract.pair or extract.corpus,
        trained=_trained(extract, translator, folder, planned),
        scores=(
            _scored("test", of_test, test),
            _scored("combinations", of_combinations, combinations),
        ),
        pronouns=_pronouns(extract, of_test, test),
        sentences=tuple(
            ShownSentence(example.source, output, example.target)
            for example, output in zip(shown, of_shown, strict=True)
        ),
        alignment=alignment,
        alignment_layer=layer,
        looks=tuple(
            look
            for example, output in zip(lectures, of_shown, strict=False)
            if found is not None
            and (look := readings.look(translator, example, output, found.valid.reading, layer))
        ),
        valid_reading=found.valid if found else None,
        test_reading=found.test if found else None,
        control=found.control if found else None,
        needs_antecedent=extract.pair in NEEDS_ANTECEDENT,
        commands=_commands(folder, shown[0].source),
    )


def _chosen(lectures: Sequence[Example], test: Sequence[Example]) -> list[Example]:
    """The lectures' sentences, then the first test sentence of each kind, then any."""
    chosen = list(lectures)
    firsts = (next((one for one in test if tag in one.tags), None) for tag in KINDS)
    for example in chain((one for one in firsts if one is not None), test):
        if len(chosen) < N_SHOWN and example not in chosen:
            chosen.append(example)
    return chosen


def _translated(translator: Translator, examples: "chain[Example]") -> list[str]:
    """The best translation of each, by the same search as `regard evaluate`."""
    sources = [example.source for example in examples]
    search = Search(width=5, alpha=1.0, penalty="wu")
    return [best[0].text for best in translator.translate_each(sources, search)]


def _scored(split: str, outputs: Sequence[str], examples: Sequence[Example]) -> SplitScore:
    quality = judge(outputs, [example.target for example in examples])
    return SplitScore(
        split, len(outputs), quality.bleu, quality.chrf, quality.exact, quality.signature
    )


def _pronouns(
    extract: Extract, outputs: Sequence[str], examples: Sequence[Example]
) -> PronounScore | None:
    if not (extract.pair or "").endswith("-fr"):
        return None
    asked = [
        (output, example.target)
        for output, example in zip(outputs, examples, strict=True)
        if pronouns.is_about_it(example) and pronouns.genders_differ(example)
    ]
    return pronouns.score_pronouns([o for o, _ in asked], [t for _, t in asked]) if asked else None


def _reading(
    extract: Extract, translator: Translator, valid: Sequence[Example], test: Sequence[Example]
) -> readings.FoundHead | None:
    """What tells antecedents best, chosen on validation sentences, then tested.

    Into French only sentences count that make the model find out: their nouns differ in gender.
    """
    if (extract.pair or "").endswith("-fr"):
        valid, test = (list(filter(pronouns.genders_differ, some)) for some in (valid, test))
    return readings.find_reading(translator, valid, test)


def _alignment(translator: Translator, example: Example, output: str) -> tuple[Looking, int]:
    """The alignment of the model's own translation, with the truth where it wrote the truth.

    If it wrote nothing there is nothing to align: then it reads the truth.
    """
    output = output.strip() or example.target
    is_right = output == example.target and example.target_side is not None
    source = read_units(
        translator.source_tokenizer,
        example.source,
        example.source_side.words if example.source_side else (),
    )
    words = example.target_side.words if is_right and example.target_side else ()
    target = read_units(translator.target_tokenizer, output, words)
    (found,) = align_batch(translator.models[0], [(source, target)])
    truth: set[tuple[int, int]] = set()
    if source.places and target.places:
        truth = {(target.places[j], source.places[i]) for i, j in example.alignment}
    return (
        Looking(found.target_words, found.source_words, found.matrix, tuple(sorted(truth))),
        found.layer,
    )


def _trained(
    extract: Extract, translator: Translator, folder: Path, planned: int
) -> TrainingSummary:
    records = read_metrics(folder / "metrics.jsonl")
    steps = [r for r in records if r["event"] == "stepped" and r["loss"] is not None]
    ends = [r for r in records if r["event"] == "finished"]
    validated = [r for r in records if r["event"] == "validated" and r["loss"] is not None]
    last = (ends or validated or steps or [{"update": 0, "seconds": 0.0}])[-1]
    speed = None
    if steps and last["seconds"]:
        mean = sum(r["n_tokens"] for r in steps) / len(steps)
        speed = mean * last["update"] / last["seconds"]
    # What decodes is laid out for speed, with copies: what was trained is counted from the folder.
    recipe, model = translator.loaded.recipe, load(folder).model
    network = recipe.model
    assert isinstance(network, TransformerSection)  # the demonstration's recipe says so
    return TrainingSummary(
        corpus=extract.name,
        recipe=recipe.name,
        folder=folder.as_posix(),
        n_parameters=model.n_parameters,
        n_layers=network.n_layers,
        n_decoder_layers=network.n_decoder_layers or network.n_layers,
        d_model=network.d_model,
        n_heads=network.n_heads,
        updates=last["update"],
        planned=planned,
        seconds=last["seconds"],
        tokens_a_second=speed,
        training_curve=tuple((r["update"], r["loss"]) for r in steps),
        validation_curve=tuple((r["update"], r["loss"]) for r in validated),
    )


def _commands(folder: Path, sentence: str) -> tuple[tuple[str, str], ...]:
    model = shlex.quote(folder.as_posix())
    return (
        ("translate", f"regard translate {model}"),
        ("look", f'regard explain sentence "{sentence}" --model {model}'),
        (
            "train",
            "regard train transformer-small --source train.en --target train.de --out runs/mine",
        ),
    )
