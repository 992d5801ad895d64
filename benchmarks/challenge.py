"""Minimal pairs: a GPT trained for a while on novels on BLiMP, and one on the phrasebook's sets.

    $ python benchmarks/challenge.py --novels DIR --blimp blimp.en.tsv.xz --counts-only
    $ python benchmarks/challenge.py --novels DIR --blimp blimp.en.tsv.xz --out runs/novels
    $ python benchmarks/challenge.py --phrasebook en --minutes 15 --out runs/phrasebook-en

DIR holds train.txt.xz and valid.txt.xz. The novels are cut into sentences first, a line each, and
every sentence is a document: it begins with <BOS>, as the sentences of the set do. Beside the model
stand chance, a unigram and a 5-gram model of the same sentences, the same model untrained, and what
others published. --counts-only leaves the GPT out: the n-gram models alone, in minutes.

--phrasebook trains a GPT on sentences of one language, from the training split alone, and measures
it on pairs of new sentences (known combinations) and of words in constructions that are new to
them (held-out combinations). --ablate-heads adds the head that each paradigm needs most.

--set changes the recipe, gpt-small with the sizes below; a run that is there is continued.
"""

import argparse
import resource
import time
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

import numpy as np
from machine import facts, print_facts, print_table

import regard
from regard.corpora import SEED, open_corpus
from regard.corpora.phrasebook.challenge import PARADIGMS, SETS, draw_pairs
from regard.data.lines import read_lines
from regard.data.minimal_pairs import MinimalPair, read_minimal_pairs
from regard.evaluation.ngrams import CountedText
from regard.systems.challenge import SentenceScores, challenge, score_by_words
from regard.systems.control_models import ngram_models
from regard.text.prose import sentences_of
from regard.text.words import cut
from regard.training.events import Finished, Validated

PUBLISHED = {"5-gram (published)": 61.2, "LSTM": 69.8, "Transformer-XL": 69.6}
PUBLISHED |= {"GPT-2 large": 81.5, "people": 88.6}  # Warstadt et al. 2020
SIZES: dict[str, object] = {
    **{"model.n_layers": 4, "model.d_model": 256, "model.n_heads": 4, "model.d_feedforward": 1024},
    **{"model.context": 64, "model.dropout": 0.0, "text.size": 8000, "data.unit": "line"},
    **{"training.updates": 4500, "training.learning_rate": 0.002},
}
_N_VALID = 1_000  # sentences of the phrasebook


def main() -> None:
    asked = _arguments()
    print_facts(facts())
    if asked.phrasebook:
        phrasebook(asked)
    elif asked.counts_only:
        counts(asked)
    else:
        novels(asked)


def counts(asked: argparse.Namespace) -> None:
    """The n-gram models alone."""
    pairs = read_minimal_pairs(asked.blimp, asked.limit)
    started = time.perf_counter()
    lines = sentences_of(read_lines(asked.novels / "train.txt.xz"))
    models = ngram_models(CountedText.of(map(cut, lines)))
    scored = {name: score_by_words(one, pairs) for name, one in models.items()}
    seconds = time.perf_counter() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    first = next(iter(scored.values()))
    unseen = 100 * first.n_unknown.sum() / first.lengths.sum()
    print(f"{len(pairs):,} pairs; {unseen:.1f} % unseen; {seconds:.0f} s, {memory:.1f} GB\n")
    _print_scores(pairs, scored)


def _print_scores(pairs: list[MinimalPair], scored: dict[str, SentenceScores]) -> None:
    rows = []
    for name in (*dict.fromkeys(one.phenomenon for one in pairs), "all"):
        mine = np.array([name in (one.phenomenon, "all") for one in pairs])
        shares = [
            one.right(per_token=way)[mine].mean() for one in scored.values() for way in (0, 1)
        ]
        rows.append([name, *(f"{100 * share:.1f}" for share in shares)])
    print_table(["% right", *(f"{one}{way}" for one in scored for way in ("", ", mean"))], rows)


def novels(asked: argparse.Namespace) -> None:
    """Train on novels, measure on BLiMP."""
    texts = asked.out.parent / f"{asked.out.name}-sentences"
    for part in ("train", "valid"):
        if not (texts / f"{part}.txt").is_file():
            _write(texts / f"{part}.txt", sentences_of(read_lines(asked.novels / f"{part}.txt.xz")))
    _train(asked, texts)
    found = _measured(asked, read_minimal_pairs(asked.blimp, asked.limit), texts / "train.txt")
    print_table(["BLiMP", "% right"], [[name, f"{one}"] for name, one in PUBLISHED.items()])
    print(f"the model: {100 * found:.1f}")


def phrasebook(asked: argparse.Namespace) -> None:
    """Train on sentences of the phrasebook, measure on its own sets."""
    language = asked.phrasebook
    texts = asked.out.parent / f"{asked.out.name}-sentences"
    corpus = open_corpus("phrasebook", "en-fr" if language == "en" else f"{language}-en")
    for part, size in (("train", asked.sentences), ("valid", _N_VALID)):
        if not (texts / f"{part}.txt").is_file():
            drawn = islice(corpus.examples(part, SEED), size)
            _write(texts / f"{part}.txt", (one.source for one in drawn))
    _train(asked, texts)
    for kind in SETS:
        size = asked.limit or 1_000
        drawn_pairs = [
            MinimalPair(one.paradigm.phenomenon, one.paradigm.label, one.good, one.bad)
            for _, one in draw_pairs(kind, [language], size, SEED)
        ]
        print(f"\n{kind}: {len(PARADIGMS[language])} paradigms of {size:,} pairs")
        _measured(asked, drawn_pairs, texts / "train.txt")


def _write(path: Path, sentences: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{one}\n" for one in sentences)


def _train(asked: argparse.Namespace, texts: Path) -> None:
    changes = SIZES | {"text.size": 2000} if asked.phrasebook else dict(SIZES)
    changes |= dict(one.split("=", 1) for one in asked.set)
    for event in regard.train(
        "gpt-small",
        text=texts / "train.txt",
        valid_text=texts / "valid.txt",
        out=asked.out,
        minutes=asked.minutes,
        changes={key: _value(value) for key, value in changes.items()},
        device="cpu",
    ):
        if isinstance(event, Validated | Finished):
            print(event, flush=True)


def _value(given: object) -> object:
    """Numbers of the command line are numbers."""
    if not isinstance(given, str):
        return given
    for kind in (int, float):
        try:
            return kind(given)
        except ValueError:
            continue
    return given


def _measured(asked: argparse.Namespace, pairs: list[MinimalPair], text: Path) -> float:
    """Print the table, and give the share of all."""
    model = regard.load(asked.out)
    found = challenge(model, pairs, text=text, ablate_heads=asked.ablate_heads)
    tables = [found.table(by_paradigm=bool(asked.phrasebook))]
    tables += [found.heads_table()] if found.heads else []
    for one in tables:
        print(f"\n{one.title}\n")
        print_table(one.heads, one.rows)
        print("\n".join(one.notes))
    return found["all"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--novels", type=Path, help="a folder with train.txt.xz and valid.txt.xz")
    parser.add_argument("--blimp", type=Path, help="the set, as a table or JSON lines")
    parser.add_argument("--counts-only", action="store_true", help="n-gram models alone")
    parser.add_argument("--phrasebook", choices=list(PARADIGMS), help="a language of it")
    parser.add_argument("--sentences", type=int, default=200_000, help="of the phrasebook")
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--limit", type=int, help="pairs of each paradigm")
    parser.add_argument("--ablate-heads", action="store_true")
    parser.add_argument("--out", type=Path, default=Path("runs/challenge"))
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")
    asked = parser.parse_args()
    if not asked.phrasebook and not (asked.novels and asked.blimp):
        parser.error("give --novels and --blimp, or --phrasebook")
    return asked


if __name__ == "__main__":
    main()
