"""What the page shows when no model is served: sentences, every number from a real model.

    $ python studio/canned.py zh-en=runs/demo/zh-en/model en-fr=runs/demo/en-fr/model
    $ python studio/canned.py zh-en-wide=runs/demo/zh-en/model en-fr-wide=runs/demo/en-fr/model
    $ python studio/canned.py en-fr-bahdanau=runs/family/phrasebook/bahdanau
    $ python studio/canned.py story-en=runs/story-en story-zh=runs/story-zh
    $ python studio/canned.py gaps-en=runs/gaps-en gaps-zh=runs/gaps-zh

Two sentences are recorded whole: the trace, the beam's other translations, the queries, keys and
values of every head, and what becomes of the output when one head is switched off. The others are
there to be compared with them, and are traces alone. Each is one that its models translate rightly:
whoever opens the page for the first time is to learn how they look, not how they err.

The texts of the language models are traces too; these learned from one side of the phrasebook
(`regard data phrasebook --pair zh-en --size 30000`):

    $ regard train gpt-tiny --text train.en --valid-text valid.en --set text.kind=sentencepiece \\
        --set text.size=1500 --set model.n_layers=3 --set training.updates=800 --out runs/story-en
    $ regard train bert-tiny --text train.en --valid-text valid.en --set text.size=1500 \\
        --set data.unit=line --set training.batch_tokens=1536 --set training.updates=700 \\
        --set training.warmup=100 --out runs/gaps-en
"""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from recorded import RecordedSentence, recorded_vectors

from regard.decoding import Sampling, Search, Slid, stream
from regard.inspection.arithmetic import head_vectors
from regard.inspection.trace import Trace
from regard.systems import TextGenerator, Translator, trace

RECORDED = Path(__file__).parents[1] / "regard" / "serving" / "recorded"
TESTS = Path(__file__).parent / "tests"
FILED = "en-fr"  # whose trace the tests read as a file too
# The page reads the same list: with a model served, it begins with the sentence in its language.
EXAMPLES: dict[str, str] = json.loads(Path(__file__).with_name("examples.json").read_text("utf-8"))
SENTENCES = {name: EXAMPLES[name] for name in ("zh-en", "en-fr")}
COMPARED = {
    **{name: EXAMPLES[name] for name in ("zh-en-wide", "en-fr-wide")},
    "en-fr-bahdanau": EXAMPLES["en-fr"],
}
STORIES = {  # how each begins, the seed it is drawn with, and how many tokens follow
    "story-en": ("The animal didn't cross the street because", 3, 52),
    "story-zh": ("这只动物没有过马路", 1, 54),
}
GAPS = {
    "gaps-en": "The [MASK] didn't cross the street because it was too [MASK].",
    "gaps-zh": "这只[MASK]没有过马路，因为它太[MASK]了。",
}
TEMPERATURE = 0.7
DIGITS = 4


def compared(name: str, folder: Path) -> dict[str, Any]:
    """A sentence to compare another with: its trace alone."""
    seen = trace(folder, COMPARED[name], search=Search(width=5))
    seen = replace(seen, provenance=replace(seen.provenance, model=name), positions=None)
    told = json.loads(seen.to_json())
    return {"name": name, "trace": told, "hypotheses": [], "sites": [], "ablations": {}}


def told(name: str, folder: Path) -> Trace:
    """A story that was drawn by chance, and what each of its words looked at."""
    writer = TextGenerator.open(folder)
    prompt, seed, most = STORIES[name]
    begun = writer.tokenizer.encode(prompt)
    drawn = stream(writer.model, begun, Sampling(TEMPERATURE, seed=seed), most=most)
    new = [event.token for event in drawn if not isinstance(event, Slid)]
    return writer.trace_written(prompt, new)


def canned(name: str, folder: Path) -> dict[str, Any]:
    """All that the page can show of one sentence."""
    translator, text = Translator.open(folder), SENTENCES[name]
    search = Search(width=5, n_best=5)
    found = next(translator.translate_each([text], search))
    seen = trace(translator, text, search=Search(width=5))
    if name == FILED:
        seen.save(TESTS / f"{name}.trace")
    seen = replace(seen, provenance=replace(seen.provenance, model=name), positions=None)
    return {
        "name": name,
        "trace": json.loads(seen.to_json()),
        "hypotheses": [
            {"text": one.text, "score": one.score, "log_probability": one.log_probability}
            for one in found
        ],
        "sites": vectors(translator, seen),
        "ablations": ablations(name, translator, seen),
    }


def vectors(translator: Translator, seen: Trace) -> list[dict[str, Any]]:
    """The numbers behind every weight of every site."""
    model = translator.models[0]
    found = head_vectors(model, model.sites, seen, translator.device)
    return [
        recorded_vectors(site.kind, site.layer, numbers)
        for site in seen.sites
        if (
            numbers := {
                name.removeprefix(f"{site.name}."): array
                for name, array in found.items()
                if name.startswith(f"{site.name}.")
            }
        )
    ]


def ablations(model: str, translator: Translator, seen: Trace) -> dict[str, Any]:
    """The output without each head in turn."""
    told = {}
    for site in seen.sites:
        for head in range(site.n_heads):
            name = f"{site.name}.{head}"
            found = translator.ablate(seen.source.text, [name], search=Search(width=5))
            told[name] = {
                "model": model,
                "heads": [name],
                "before": found.before.text,
                "after": found.after.text,
                "has_changed": found.has_changed,
                "tokens": list(found.scored_before.pieces),
                "changes": [round(change, DIGITS) for change in found.changes],
                "change": round(found.change, DIGITS),
            }
    return told


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name, _, folder in (spec.partition("=") for spec in sys.argv[1:]):
        if name in STORIES or name in GAPS:
            seen = told(name, Path(folder)) if name in STORIES else trace(folder, GAPS[name])
            seen = replace(seen, provenance=replace(seen.provenance, model=name), positions=None)
            (RECORDED / f"canned.{name}.trace").write_bytes(seen.to_bytes(is_half=True))
            continue
        found = (compared if name in COMPARED else canned)(name, Path(folder))
        RecordedSentence.model_validate(found)
        text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        (RECORDED / f"canned.{name}.json").write_text(f"{text}\n", "utf-8")
