"""How fast Regard decodes beside its peers: the same weights, in turns, in one process.

    $ python benchmarks/decoding_speed.py --model MODEL --data DIR
    $ python benchmarks/decoding_speed.py --model MODEL --data DIR --penalty 0
    $ python benchmarks/decoding_speed.py --model MODEL --fast FAST --data DIR --unproved

MODEL is a model folder that has learned Multi30k (after `regard shortlist`, with rows of its own),
FAST one of ``transformer-fast``, by Regard alone; DIR holds test_2016_flickr.en and .de. MODEL's
weights are given to CTranslate2 and transformers, where these are installed. First it is proved
that the engines compute the same: with a penalty of 0, the same outputs for (nearly) all sentences,
and the same log-probabilities where they are told. Then every engine (see engines.py, which also
says in what they differ) decodes all sentences, in one round after the other, each round beginning
with another engine, so what else the machine does meets all alike. Timed is everything from ids to
ids; text is cut into tokens before and put together afterwards. Speeds are medians over rounds; a
ratio is the median of the rounds' ratios. BLEU is of what was timed, so that speed cannot hide a
loss.

Before anything runs, ``keep_heap`` tells malloc to reuse large blocks, for the whole process and so
for all; --plain-heap leaves malloc as it is. CTranslate2 reads its own environment variables, which
are printed with the machine: CT2_FORCE_CPU_ISA=AVX512, which it does not choose by itself, or
CT2_PACKED_GEMM=0.
"""

import argparse
import importlib
import json
import os
import statistics
import tempfile
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import torch
from engines import (
    OURS,
    THEIR_BEST,
    YARDSTICK,
    Engine,
    Output,
    Setting,
    Sources,
    engines,
    fast_engines,
)
from machine import facts, plain, print_facts, print_table, sgemm_gflops

from regard.data import read_corpus
from regard.decoding import PENALTIES
from regard.engine import keep_heap
from regard.evaluation import judge
from regard.folder import LoadedModel
from regard.systems import load

_WARM = 64
_CLOSE = 1e-3  # log-probabilities of a whole sentence, summed in another order
_PAUSE = 0.1  # seconds, after which threads of the engine before no longer wait for work


@dataclass
class Entry:
    """An engine that takes part with one width, and what was measured of it."""

    engine: Engine
    setting: Setting
    speeds: list[float] = field(default_factory=list)  # sentences a second, one a round
    outputs: list[Output] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The engine's."""
        return self.engine.name


def main() -> None:
    options = _options()
    is_kept = not options.plain_heap and keep_heap()
    torch.set_num_threads(2)
    said = {**facts(), "heap": "kept" if is_kept else "as malloc likes"}
    loaded = load(options.model)
    with tempfile.TemporaryDirectory() as place:
        found, absent = engines(loaded, Path(place))
    if options.fast is not None:
        found += fast_engines(load(options.fast), _texts(options)[0])
    chosen = _chosen(found, options.engines)
    for name in ("ctranslate2", "transformers"):
        if name not in absent:
            said[name] = importlib.import_module(name).__version__
    said |= {key: value for key, value in os.environ.items() if key.startswith("CT2_")}
    texts, references = _texts(options)
    sources = loaded.source_tokenizer.encode_many(texts)
    if not options.json:
        print_facts(said)
        print(f"{len(sources)} sentences, {sum(map(len, sources)) / len(sources):.1f} tokens each")
        for name, why in absent.items():
            print(f"not here: {name} ({why})", flush=True)
    settings = [
        Setting(width, options.penalty, options.batch, options.formula) for width in options.width
    ]
    exact = [] if options.unproved else [engine for engine in found if _is_exact(engine)]
    parity = [_prove(engine, found, sources, s) for s in settings for engine in exact]
    parity = parity or ["it was not proved that the engines compute the same (--unproved)"]
    if not options.json:
        for one in parity:
            print(one, flush=True)
    entries = [[Entry(engine, s) for engine in chosen] for s in settings]
    sgemm = _run(entries, sources, options.rounds)
    results = [_result(e, peers, loaded, references) for peers in entries for e in peers]
    if options.json:
        report = {"machine": said, "options": plain(options), "absent": absent, "sgemm": sgemm}
        print(json.dumps({**report, "parity": parity, "results": results}, indent=2))
    else:
        _show(results, sgemm)


def _is_exact(engine: Engine) -> bool:
    """Whether it must compute the same as Regard; more workers change nothing, int8 does."""
    return engine.name.endswith("1x2") and engine.name != OURS


def _prove(engine: Engine, found: list[Engine], sources: Sources, setting: Setting) -> str:
    """Say how many outputs are as Regard's, and how far their log-probabilities are apart."""
    setting = replace(setting, penalty=0.0, wants_scores=True)
    ours = next(one for one in found if one.name == OURS).decode(sources, setting)
    theirs = engine.decode(sources, setting)
    pairs = [(a, b) for a, b in zip(ours, theirs, strict=True) if a.tokens == b.tokens]
    apart = [
        abs(a.score - b.score) for a, b in pairs if a.score is not None and b.score is not None
    ]
    said = (
        f"{engine.name}, width {setting.width}: {len(pairs)} of {len(sources)} outputs as Regard's"
    )
    if apart:
        said += f", log-probabilities at most {max(apart):.1e} apart"
    # Where two words are equally probable, rounding decides.
    n_different = len(sources) - len(pairs)
    if n_different > max(1, len(sources) // 100) or max(apart, default=0.0) > _CLOSE:
        raise SystemExit(f"the engines do not compute the same: {said}")
    return said


def _run(groups: list[list[Entry]], sources: Sources, rounds: int) -> list[float]:
    """Fill in the entries; gives the machine's sgemm of each round."""
    for entries in groups:
        for entry in entries:
            entry.engine.decode(sources[:_WARM], entry.setting)
    sgemm = []
    for k in range(rounds):
        torch.set_num_threads(2)
        sgemm.append(sgemm_gflops())
        for entries in groups:
            turn = k % len(entries)
            for entry in entries[turn:] + entries[:turn]:
                time.sleep(_PAUSE)
                started = time.perf_counter()
                entry.outputs = entry.engine.decode(sources, entry.setting)
                entry.speeds.append(len(sources) / (time.perf_counter() - started))
    return sgemm


def _result(
    entry: Entry, peers: list[Entry], loaded: LoadedModel, references: list[str]
) -> dict[str, object]:
    tokenizer = entry.engine.tokenizer or loaded.target_tokenizer
    texts = [tokenizer.decode(output.tokens) for output in entry.outputs]
    n_tokens = sum(1 + len(output.tokens) for output in entry.outputs)
    speed = statistics.median(entry.speeds)
    return {
        "name": entry.name,
        "what": entry.engine.what,
        "width": entry.setting.width,
        "sentences_a_second": speed,
        "slowest": min(entry.speeds),
        "fastest": max(entry.speeds),
        "tokens_a_second": speed * n_tokens / len(texts),
        "tokens_a_sentence": n_tokens / len(texts),  # <EOS> counted
        "ratios": {
            other.name: statistics.median(
                a / b for a, b in zip(entry.speeds, other.speeds, strict=True)
            )
            for other in peers
        },
        "bleu": judge(texts, references).bleu,
        "speeds": entry.speeds,
    }


def _show(results: list[dict[str, object]], sgemm: list[float]) -> None:
    names = [result["name"] for result in results]
    against = [name for name in (YARDSTICK, THEIR_BEST) if name in names]
    head = ["", "sentences/s", "range", "tokens/s", *(f"over {name}" for name in against)]
    for width in dict.fromkeys(result["width"] for result in results):
        rows = []
        for result in results:
            if result["width"] != width:
                continue
            ratios = result["ratios"]
            assert isinstance(ratios, dict)
            rows.append(
                [
                    f"{result['name']} ({result['what']})",
                    f"{result['sentences_a_second']:,.1f}",
                    f"{result['slowest']:,.1f}–{result['fastest']:,.1f}",
                    f"{result['tokens_a_second']:,.0f}",
                    *(f"{ratios[name]:.2f}" for name in against),
                    f"{result['tokens_a_sentence']:.2f}",
                    f"{result['bleu']:.2f}",
                ]
            )
        print(f"\n{'Greedy' if width == 1 else f'Beam of {width}'}")
        print_table([*head, "tokens a sentence", "BLEU"], rows)
    print(
        f"sgemm 2048³: {statistics.median(sgemm):,.0f} GFLOPS "
        f"({min(sgemm):,.0f}–{max(sgemm):,.0f}) in {len(sgemm)} rounds"
    )


def _chosen(found: list[Engine], names: list[str] | None) -> list[Engine]:
    unknown = sorted(set(names or []) - {engine.name for engine in found})
    if unknown:
        here = ", ".join(engine.name for engine in found)
        raise SystemExit(f"{', '.join(unknown)} cannot take part: here are {here}")
    return [engine for engine in found if not names or engine.name in names]


def _texts(options: argparse.Namespace) -> tuple[list[str], list[str]]:
    """The sources and the references."""
    languages = options.pair.split("-")
    files = [str(options.data / f"{options.test}.{language}") for language in languages]
    pairs = list(read_corpus(["|".join(files)]))[: options.limit]
    return [pair.source for pair in pairs], [pair.target for pair in pairs]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="a model folder")
    parser.add_argument("--fast", type=Path, help="a model folder of transformer-fast")
    parser.add_argument("--data", type=Path, required=True, help="folder of test_2016_flickr.*")
    parser.add_argument("--test", default="test_2016_flickr", help="its files, without endings")
    parser.add_argument("--pair", default="en-de", metavar="SOURCE-TARGET")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--limit", type=int, metavar="N", help="use only the first N sentences")
    parser.add_argument("--width", type=int, nargs="+", default=[5, 1], help="1 is greedy")
    parser.add_argument("--penalty", type=float, default=1.0, help="for length, as each has it")
    parser.add_argument("--formula", choices=PENALTIES, default="wu", help="of Regard's penalty")
    parser.add_argument("--batch", type=int, default=64, help="sentences decoded together")
    parser.add_argument("--engines", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--unproved", action="store_true", help="skip the long proof of equality")
    parser.add_argument("--plain-heap", action="store_true", help="do not change malloc")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args()


if __name__ == "__main__":
    main()
