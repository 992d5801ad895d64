"""What it helps to teach a head where to look, beside the rivals that decide what a gain means.

    $ python benchmarks/teaching.py --corpus phrasebook:en-fr --pairs 10000 --seeds 3
    $ python benchmarks/teaching.py --pairs 1000 2000 5000 10000 --arms none trees chain

Every arm trains the recipe phrasebook with the same data and the same seeds; only what a head is
taught differs. Trees are taught to encoder.1.0. Rivals: a chain (every word hangs on the one
before it), trees drawn by lot, right trees with their words in other places, a head fixed to the
previous token, another layer, teaching that ends halfway, scaled scores in place of a loss, and the
taught head switched off afterwards. Measured on held-out sentences: BLEU, the share of queries
whose taught head looks most at its gold, the error rate of alignments read off cross.1.0, and how
often encoder.2.3 finds what a pronoun stands for.

All runs are counted in updates, so a loaded machine changes the time and not the result.
"""

import argparse
import statistics
from pathlib import Path

import numpy as np
from machine import facts, print_facts, print_table

import regard
from regard.config import parse_lesson
from regard.data import (
    MemoryCorpus,
    TaughtBatches,
    parse_spec,
    read_annotated_pairs,
    read_corpus,
)
from regard.data.batching import Batches
from regard.evaluation import GoldAlignment, alignment_error
from regard.inspection import ablated, record
from regard.systems import Translator
from regard.systems.alignment import Extraction
from regard.systems.gold import pair_gold
from regard.systems.teaching import share_following
from regard.systems.word_alignment import align_words

HEAD = "encoder.1.0"
ARMS: dict[str, tuple[str, ...]] = {
    "none": (),
    "trees": (f"{HEAD}=heads",),
    "chain": (f"{HEAD}=linear",),
    "random": (f"{HEAD}=random",),
    "shuffled": (f"{HEAD}=shuffled",),
    "fixed": (f"{HEAD}=previous,way=fixed",),
    "scaled": (f"{HEAD}=heads,way=scale",),
    "layer 0": ("encoder.0.0=heads",),
    "half": (f"{HEAD}=heads,until={{half}}",),
    "alignments": ("cross.1.0=align",),
    "antecedents": ("encoder.2.3=antecedents",),
    "all": (f"{HEAD}=heads", "cross.1.0=align", "encoder.2.3=antecedents"),
}
# Asked of every model, taught or not.
ASKED = {"governor %": f"{HEAD}=heads", "antecedent %": "encoder.2.3=antecedents"}
ALIGNING = Extraction(layer=1, heads=(0,))  # what cross.1.0 says


def train(arm: str, options: argparse.Namespace, n_pairs: int, seed: int) -> Translator:
    out = options.out / f"{arm.replace(' ', '-')}-{n_pairs}-{seed}"
    half = options.updates // 2
    changes = {
        "training.updates": options.updates,
        "training.validate_every": options.updates,
        "training.save_every": options.updates,
        "training.seed": seed,
        "training.warmup": max(1, options.updates // 19),
    }
    events = regard.train(
        "phrasebook",
        data=f"{options.corpus}:train:{n_pairs}",
        valid=f"{options.corpus}:valid:{options.judged}",
        teach=[one.format(half=half) for one in ARMS[arm]],
        changes=changes,
        out=out,
        threads=options.threads,
    )
    for _ in events:
        pass
    return Translator.open(out)


def following(model: Translator, lesson: str, corpus: str) -> float:
    """The share of held-out queries with gold that look most at it."""
    asked, specs = parse_lesson(lesson), [parse_spec(corpus)]
    both = model.source_tokenizer, model.target_tokenizer
    texts = [(p.source.strip(), p.target.strip()) for p in read_corpus(specs)]
    pairs = MemoryCorpus([(both[0].encode(a), both[1].encode(b)) for a, b in texts])
    (links,) = pair_gold([asked], specs, pairs, both)
    plan = TaughtBatches(Batches(pairs, 1, 4096), [links])
    layer, head = asked.place
    (site,) = (s for s in model.model.sites if (s.kind, s.layer) == (asked.kind, layer))
    n_right = n_all = 0
    for rows in np.array_split(np.arange(len(pairs)), max(1, len(pairs) // 50)):
        batch = plan.batch(rows)
        with record(model.model, site.probe) as seen:
            model.model.hidden(batch.source, batch.target[:, :-1])
        right, n = share_following(seen[site.probe][:, head], batch.gold[0])
        n_right, n_all = n_right + right, n_all + n
    return n_right / n_all


def error_rate(model: Translator, corpus: str) -> float:
    """Of the alignments that the taught cross head tells, by those of the corpus."""
    gold = list(read_annotated_pairs(corpus))
    words = [tuple([w.text for w in side.words] for side in (p.source, p.target)) for p in gold]
    found = [links for (links,) in align_words(model, words, [ALIGNING])]
    sure = [GoldAlignment(frozenset(pair.alignment), frozenset()) for pair in gold]
    return alignment_error(found, sure).error_rate


def measure(model: Translator, arm: str, test: str) -> dict[str, float]:
    found = {"BLEU": regard.evaluate(model, corpus=test, beam=1)["bleu"]}
    for name, lesson in ASKED.items():
        found[name] = 100 * following(model, lesson, test)
    found["AER %"] = 100 * error_rate(model, test)
    if ARMS[arm]:
        with ablated(model.model, [parse_lesson(one.partition(",")[0]).head for one in ARMS[arm]]):
            found["BLEU, head off"] = regard.evaluate(model, corpus=test, beam=1)["bleu"]
    return found


def shown(values: list[float]) -> str:
    mean = statistics.mean(values)
    return f"{mean:.1f}" if len(values) < 2 else f"{mean:.1f} ± {statistics.stdev(values):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corpus", default="phrasebook:en-fr")
    parser.add_argument("--pairs", type=int, nargs="+", default=[10_000])
    parser.add_argument("--arms", nargs="+", choices=list(ARMS), default=list(ARMS))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--updates", type=int, default=1_900)
    parser.add_argument("--judged", type=int, default=1_000, help="held-out sentences")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("runs/teaching"))
    options = parser.parse_args()
    print_facts(facts())
    test = f"{options.corpus}:test:{options.judged}"
    columns = ("BLEU", *ASKED, "AER %", "BLEU, head off")
    rows = []
    for n_pairs in options.pairs:
        for arm in options.arms:
            runs = [
                measure(train(arm, options, n_pairs, seed), arm, test)
                for seed in range(1, options.seeds + 1)
            ]
            numbers = [shown([run[c] for run in runs]) if c in runs[0] else "" for c in columns]
            rows.append([arm, f"{n_pairs:,}", *numbers])
            print(*rows[-1], sep="\t", flush=True)
    print_table(["taught", "pairs", *columns], rows)


if __name__ == "__main__":
    main()
