"""What heads follow: relations, neighbours, antecedents, beside the rivals that ask no model.

    $ python benchmarks/heads.py --model runs/minilm --treebank DIR/en_ewt-ud-dev.conllu \
--test DIR/en_ewt-ud-test.conllu --test DIR/en_pud-ud-test.conllu --coreference DIR/gap.tsv

The model is any that `regard heads` reads (runs/minilm: see benchmarks/minilm.py). Heads are chosen
on the treebank and measured on the first test; further tests say whether they would choose the same
head. Processor seconds are those of this process, whatever else the machine does.
"""

import argparse
import time
from pathlib import Path

import torch
from machine import facts, print_facts, print_table

import regard
from regard.inspection.head_study import HeadReport, percent


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--treebank", required=True)
    parser.add_argument("--test", action="append", default=[])
    parser.add_argument("--coreference", action="append", default=[])
    parser.add_argument("--align", help="gold alignments, of a translator")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--save", type=Path, help="the whole report")
    parser.add_argument("--threads", type=int, default=2)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    print_facts(facts())
    began, worked = time.perf_counter(), time.process_time()
    report = regard.load(given.model).heads(
        given.treebank, given.test, given.coreference, given.align, seeds=given.seeds
    )
    seconds, processor = time.perf_counter() - began, time.process_time() - worked
    _show(report)
    print(f"{seconds:.0f} s, of the processor {processor:.0f} s", flush=True)
    if given.save is not None:
        report.save(given.save)


def _show(report: HeadReport) -> None:
    rows = [
        [
            name,
            one.name,
            one.direction,
            percent(one.score),
            f"{percent(one.low)}–{percent(one.high)}",
            *(percent(rival) for rival in (one.offset, one.random, one.shuffled)),
            f"{one.n:,}",
            "yes" if one.is_sure else "",
        ]
        for _, name, one in report.rows()
    ]
    head = ["", "head", "direction", "score", "95 %", "offset", "random", "shuffled", "n", "sure"]
    print_table(head, rows)
    for name, found in report.others.items():
        n_same = sum(one.is_same for one in found.values())
        print(f"{name}: {n_same} of {len(found)} relations choose the same head and direction")
    for english, _ in report.answer:
        print(english)


if __name__ == "__main__":
    main()
