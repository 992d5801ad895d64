"""How fast Regard trains beside its peers: the same batches, in turns, in one process.

    $ python benchmarks/training_speed.py --data DIR

DIR holds Multi30k as train.en and train.de. A joint sentencepiece BPE of 8,000 is learned from it.
Every contestant (see contestants.py) trains on the same length-bucketed batches of about 4,096
target tokens, in float32. A round is all batches by one contestant after the other, each round
beginning with another one, so what else the machine does meets all alike. Timed is everything
from pairs of ids to changed weights. Speeds count real target tokens, never padding, and are
medians over rounds; a ratio is the median of the rounds' ratios.

Before anything runs, ``keep_heap`` tells malloc to reuse large blocks. This holds for the whole
process, so the peers profit as well; --plain-heap leaves malloc as it is, for all.

OpenNMT-py, JoeyNMT, fairseq and Sockeye are not driven by this script.
"""

import argparse
import json
import statistics
import time
from dataclasses import dataclass, field
from pathlib import Path

import torch
from contestants import Contestant, Step, contestants, training_flops
from machine import facts, plain, print_facts, print_table, sgemm_gflops

from regard.data import Batches, MemoryCorpus, collate, read_corpus
from regard.data.batching import Rows
from regard.engine import keep_heap
from regard.text import learn

YARDSTICK = "nn.Transformer"
_WARM = 2


@dataclass
class Entry:
    """A contestant that takes part, and what was measured of it."""

    contestant: Contestant
    step: Step
    speeds: list[float] = field(default_factory=list)  # target tokens a second, one a round
    gflops: list[float] = field(default_factory=list)
    loss: float = 0.0

    @property
    def name(self) -> str:
        """The contestant's."""
        return self.contestant.name


def main() -> None:
    options = _options()
    is_kept = not options.plain_heap and keep_heap()
    torch.set_num_threads(options.threads)
    said = {**facts(), "heap": "kept" if is_kept else "as malloc likes"}
    if not options.json:
        print_facts(said)
    corpus = _corpus(options.data, options.pairs, options.vocabulary)
    plan = Batches(corpus, 1, options.tokens).epoch(0)[: options.batches]
    entries, absent = _entries(options.only, options.vocabulary)
    if not options.json:
        n_tokens = [collate(corpus, rows).n_target_tokens for rows in plan]
        print(f"{len(plan)} batches, {statistics.mean(n_tokens):,.0f} real target tokens each")
        for name, why in absent.items():
            print(f"not here: {name} ({why})", flush=True)
    sgemm = _run(entries, corpus, plan, options.rounds, options.vocabulary)
    results = [_result(entry, entries, sgemm) for entry in entries]
    if options.json:
        report = {"machine": said, "options": plain(options), "sgemm": sgemm, "results": results}
        print(json.dumps({**report, "absent": absent}, indent=2))
    else:
        _show(results, sgemm)


def _run(
    entries: list[Entry], corpus: MemoryCorpus, plan: list[Rows], rounds: int, n_tokens: int
) -> list[float]:
    """Fill in the entries; gives the machine's sgemm of each round."""
    flops = sum(training_flops(collate(corpus, rows), n_tokens) for rows in plan)
    for entry in entries:
        for rows in plan[:_WARM]:
            entry.step(collate(corpus, rows))
    sgemm = []
    for k in range(rounds):
        sgemm.append(sgemm_gflops())
        turn = k % len(entries)
        for entry in entries[turn:] + entries[:turn]:
            n_words = 0
            started = time.perf_counter()
            for rows in plan:
                batch = collate(corpus, rows)
                entry.loss = entry.step(batch)
                n_words += batch.n_target_tokens
            seconds = time.perf_counter() - started
            entry.speeds.append(n_words / seconds)
            entry.gflops.append(flops / seconds / 1e9)
    return sgemm


def _result(entry: Entry, entries: list[Entry], sgemm: list[float]) -> dict[str, object]:
    shares = [100 * mine / most for mine, most in zip(entry.gflops, sgemm, strict=True)]
    return {
        "name": entry.name,
        "what": entry.contestant.what,
        "tokens_a_second": statistics.median(entry.speeds),
        "slowest": min(entry.speeds),
        "fastest": max(entry.speeds),
        "ratios": {
            other.name: statistics.median(
                a / b for a, b in zip(entry.speeds, other.speeds, strict=True)
            )
            for other in entries
        },
        "gflops": statistics.median(entry.gflops),
        "percent_of_sgemm": statistics.median(shares),
        "last_loss": entry.loss,
        "speeds": entry.speeds,
    }


def _show(results: list[dict[str, object]], sgemm: list[float]) -> None:
    names = [str(result["name"]) for result in results]
    against = [name for name in (YARDSTICK, "marian") if name in names]
    head = ["", "target tokens/s", "range", *(f"over {name}" for name in against)]
    rows = []
    for result in results:
        ratios = result["ratios"]
        assert isinstance(ratios, dict)
        rows.append(
            [
                f"{result['name']} ({result['what']})",
                f"{result['tokens_a_second']:,.0f}",
                f"{result['slowest']:,.0f}–{result['fastest']:,.0f}",
                *(f"{ratios[name]:.2f}" for name in against),
                f"{result['gflops']:,.0f}",
                f"{result['percent_of_sgemm']:.0f} %",
                f"{result['last_loss']:.3f}",
            ]
        )
    print()
    print_table([*head, "GFLOPS", "of sgemm", "last loss"], rows)
    print(
        f"sgemm 2048³: {statistics.median(sgemm):,.0f} GFLOPS "
        f"({min(sgemm):,.0f}–{max(sgemm):,.0f}) in {len(sgemm)} rounds"
    )


def _entries(only: list[str] | None, n_tokens: int) -> tuple[list[Entry], dict[str, str]]:
    entries, absent = [], {}
    for contestant in contestants():
        if only and contestant.name not in only:
            continue
        if contestant.missing:
            absent[contestant.name] = contestant.missing
            continue
        torch.manual_seed(0)
        entries.append(Entry(contestant, contestant.prepare(n_tokens)))
    if not entries:
        raise SystemExit(f"none of {', '.join(only or [])} can take part here")
    return entries, absent


def _corpus(folder: Path, n_pairs: int | None, vocabulary: int) -> MemoryCorpus:
    """The pairs as ids; the vocabulary is always learned from all of them."""
    pairs = list(read_corpus([f"{folder / 'train.en'}|{folder / 'train.de'}"]))
    sentences = (sentence for pair in pairs for sentence in (pair.source, pair.target))
    tokenizer = learn("sentencepiece", sentences, vocabulary, algorithm="bpe")
    sources = tokenizer.encode_many([pair.source for pair in pairs[:n_pairs]])
    targets = tokenizer.encode_many([pair.target for pair in pairs[:n_pairs]])
    return MemoryCorpus(list(zip(sources, targets, strict=True)))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of train.en, train.de")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--batches", type=int, default=8, help="in a round")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=4096, help="target tokens a batch")
    parser.add_argument("--vocabulary", type=int, default=8000)
    parser.add_argument("--pairs", type=int, help="use only the first ones")
    parser.add_argument("--only", action="append", metavar="NAME", help="repeatable")
    parser.add_argument("--plain-heap", action="store_true", help="do not change malloc")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    return parser.parse_args()


if __name__ == "__main__":
    main()
