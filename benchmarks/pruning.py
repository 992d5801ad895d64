"""How many heads an encoder needs: pruning in every way, beside as many heads drawn by chance.

    $ python benchmarks/pruning.py --data ../shared/data --minutes 40 --out runs/pruning
    $ python benchmarks/pruning.py --model runs/de-en --source x.de --target x.en --out runs/pruning
    $ python benchmarks/pruning.py --report --out runs/pruning

Without --model a translator from German to English (Multi30k, transformer-small with 6 + 6 layers
of 8 heads, as many heads as Voita et al. pruned) is trained first, for so many minutes. Heads of
its encoder are then taken out, half of them and four in five: by importance and by gates, with and
without further training, and ten times by chance. Each folder is measured by BLEU (beam of 5) on
test sentences, the size of its weights, and the seconds that one thread takes to translate them,
whole model and pruned ones in turns. What is measured is in OUT/results.json, and is not measured
again; the reach is a loss of at most 0.3 BLEU at half of the heads.
"""

import argparse
import json
import time
from pathlib import Path
from statistics import fmean, pstdev
from typing import Any

import torch
from machine import facts, print_facts, print_table

import regard
from regard.folder.weights import WEIGHTS
from regard.systems import Translator, prune
from regard.training.events import Validated

SHAPE = {
    "model.n_layers": 6,
    "model.n_decoder_layers": 6,
    "model.n_heads": 8,
    "model.d_feedforward": 512,
}
SHARES = ("50%", "20%")
ROUNDS = 3  # of translating everything, the fastest counts


def main() -> None:
    """Train, prune and measure what is not measured yet."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--data", type=Path, default=Path("../shared/data"))
    options.add_argument("--out", type=Path, default=Path("runs/pruning"))
    options.add_argument("--model", type=Path, help="one that is trained already")
    options.add_argument("--source", type=Path, help="test sentences, with --model")
    options.add_argument("--target", type=Path, help="their translations")
    options.add_argument("--minutes", type=float, default=40.0, help="of training")
    options.add_argument("--updates", type=int, default=1000, help="of gates, further training")
    options.add_argument("--seeds", type=int, default=10, help="draws by chance")
    options.add_argument("--sentences", type=int, help="of the test, all unless given")
    options.add_argument("--report", action="store_true", help="only show what is known")
    asked = options.parse_args()
    torch.set_num_threads(1)
    results = asked.out / "results.json"
    known: dict[str, Any] = json.loads(results.read_text()) if results.is_file() else {}
    if not asked.report:
        asked.out.mkdir(parents=True, exist_ok=True)
        whole = asked.model or train(asked.data, asked.out / "whole", asked.minutes)
        test = read_test(asked)
        for name, options_ in runs(asked.updates, asked.seeds).items():
            if name not in known:
                known[name] = measure(whole, asked.out / name, options_, test)
                results.write_text(json.dumps(known, indent=2))
        known["facts"] = facts()
        known["seconds"] = speeds(whole, asked.out, test[0])
        results.write_text(json.dumps(known, indent=2))
    show(known)


def runs(updates: int, seeds: int) -> dict[str, dict[str, Any] | None]:
    """All that is measured, by name; None is the model as it is."""
    found: dict[str, dict[str, Any] | None] = {"whole": None}
    for share in SHARES:
        common = {"keep": share, "of": "encoder", "draws": 1}
        for method in ("importance", "gates"):
            for more in (0, updates):
                name = f"{method}-{share.removesuffix('%')}{'-trained' if more else ''}"
                gated = {"gate_updates": updates} if method == "gates" else {}
                found[name] = {**common, "method": method, "updates": more, **gated}
        for seed in range(1, seeds + 1):
            name = f"random-{share.removesuffix('%')}-{seed}"
            found[name] = {**common, "method": "random", "seed": seed}
        found[f"random-{share.removesuffix('%')}-trained"] = {
            **common, "method": "random", "seed": 1, "updates": updates,
        }  # fmt: skip
    return found


def train(data: Path, out: Path, minutes: float) -> Path:
    """The translator that is pruned; a run that was stopped continues."""
    place = data / "multi30k"
    events = regard.train(
        "transformer-small",
        source=place / "train.de",
        target=place / "train.en",
        valid_source=place / "val.de",
        valid_target=place / "val.en",
        out=out,
        minutes=minutes,
        changes=SHAPE,
        threads=2,
    )
    for event in events:
        if isinstance(event, Validated):
            print(f"update {event.update}: loss {event.loss:.4f}", flush=True)
    torch.set_num_threads(1)
    return out


def read_test(asked: argparse.Namespace) -> tuple[list[str], list[str]]:
    """Test sentences and their translations."""
    place = asked.data / "multi30k"
    files = (
        asked.source or place / "test_2016_flickr.de",
        asked.target or place / "test_2016_flickr.en",
    )
    source, target = (
        file.read_text(encoding="utf-8").splitlines()[: asked.sentences] for file in files
    )
    return source, target


def measure(
    whole: Path, out: Path, options: dict[str, Any] | None, test: tuple[list[str], list[str]]
) -> dict[str, Any]:
    """Prune, and translate the test; the folder stays."""
    kept: list[str] = []
    if options is not None and not out.exists():
        kept = [head.name for head in prune(whole, out, **options).kept]
    model = Translator.open(whole if options is None else out)
    found = model.evaluate(*test, beam=5)
    weights = (whole if options is None else out) / WEIGHTS
    size = weights.stat().st_size
    print(f"{out.name}: BLEU {found['bleu']:.2f}, {size / 1e6:.1f} MB", flush=True)
    n = model.models[0].n_parameters
    return {"bleu": found["bleu"], "bytes": size, "parameters": n, "kept": kept}


def speeds(whole: Path, out: Path, sources: list[str]) -> dict[str, float]:
    """Seconds to translate all sentences with one thread, models in turns, the fastest round."""
    chosen = {"whole": whole} | {
        f"gates-{s.removesuffix('%')}": out / f"gates-{s.removesuffix('%')}" for s in SHARES
    }
    opened = {name: Translator.open(folder) for name, folder in chosen.items()}
    seconds = {name: float("inf") for name in opened}
    for _ in range(ROUNDS):
        for name, model in opened.items():
            begun = time.perf_counter()
            model.translate(sources, beam=5)
            seconds[name] = min(seconds[name], time.perf_counter() - begun)
    return seconds


def show(known: dict[str, Any]) -> None:
    """A row a way to choose heads; what is by chance as mean and spread."""
    if "facts" in known:
        print_facts(known["facts"])
    whole = known["whole"]
    rows = [["whole", f"{whole['bleu']:.2f}", "", f"{whole['bytes'] / 1e6:.1f}"]]
    for share in (one.removesuffix("%") for one in SHARES):
        draws = [
            one["bleu"]
            for name, one in known.items()
            if name.startswith(f"random-{share}-") and not name.endswith("trained")
        ]
        for name in (f"{m}-{share}{t}" for m in ("importance", "gates") for t in ("", "-trained")):
            if name in known:
                rows.append(_row(name, known[name], whole))
        if draws:
            spread = f"{fmean(draws):.2f} ± {pstdev(draws):.2f}"
            change = f"{fmean(draws) - whole['bleu']:+.2f}"
            rows.append([f"random-{share}, {len(draws)} draws", spread, change, ""])
        if f"random-{share}-trained" in known:
            name = f"random-{share}-trained"
            rows.append(_row(name, known[name], whole))
    print_table(("heads", "BLEU", "change", "MB"), rows)
    for name, seconds in known.get("seconds", {}).items():
        print(f"{name}: {seconds:.2f} s")


def _row(name: str, one: dict[str, Any], whole: dict[str, Any]) -> list[str]:
    change = f"{one['bleu'] - whole['bleu']:+.2f}"
    return [name, f"{one['bleu']:.2f}", change, f"{one['bytes'] / 1e6:.1f}"]


if __name__ == "__main__":
    main()
