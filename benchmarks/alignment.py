"""How well attention aligns words: alignment error rates against gold, by layer, step and measure.

    $ python benchmarks/alignment.py --model runs/demo/zh-en/model --corpus phrasebook:zh-en
    $ python benchmarks/alignment.py --model runs/zh-en --data DIR --pair zhen

DIR holds PAIR.src-tgt (tokenised, sides parted by |||) and PAIR.gold (1-1 sure, 1p2 possible,
counted from 1). How links are read off is chosen on every other sentence, beginning with the first,
and measured on the rest. Each target word gets one link, to the source word it looked at most. The
diagonal, which knows nothing but the two lengths, stands beside it.
"""

import argparse
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import torch
from machine import facts, print_facts, print_table

from regard.corpora import SEED, open_corpus
from regard.data.lines import read_lines
from regard.evaluation import AlignmentQuality, GoldAlignment, alignment_error, parse_gold
from regard.inspection.heads import n_heads
from regard.systems import Extraction, Translator
from regard.systems.alignment import SHIFTS
from regard.systems.word_alignment import Link, WordPair, align_words

Gold = list[tuple[WordPair, GoldAlignment]]
_N_SHOWN = 6


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--corpus", help="phrasebook:PAIR, whose alignments are known")
    parser.add_argument("--data", type=Path, help="a folder of gold alignments")
    parser.add_argument("--pair", default="zhen", help="of its files")
    parser.add_argument("--sentences", type=int, default=500, help="at most")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    print_facts(facts())
    gold = _of_corpus(given.corpus) if given.corpus else _of_files(given.data, given.pair)
    some = list(islice(gold, given.sentences))
    translator = Translator.open(given.model)
    ways = _ways(translator)
    found = list(align_words(translator, [words for words, _ in some], ways))
    truths = [truth for _, truth in some]
    _show(ways, found, truths)
    _show_lengths(ways, found, some)


def _of_corpus(name: str) -> Gold:
    corpus, pair = name.split(":")
    return [
        (
            (example.source_side.words, example.target_side.words),
            GoldAlignment(frozenset(example.alignment), frozenset()),
        )
        for example in islice(open_corpus(corpus, pair).examples("test", SEED), 2000)
        if example.source_side is not None and example.target_side is not None
    ]


def _of_files(folder: Path, pair: str) -> Gold:
    gold: Gold = []
    lines = zip(
        read_lines(folder / f"{pair}.src-tgt"), read_lines(folder / f"{pair}.gold"), strict=True
    )
    for line, links in lines:
        source, _, target = line.partition("|||")
        gold.append(((source.split(), target.split()), parse_gold(links, first=1)))
    return gold


def _ways(translator: Translator) -> list[Extraction]:
    """Every layer, both steps, with norms and without, all heads together and each alone."""
    model = translator.models[0]
    return [
        Extraction(site.layer, shift, heads, norms)
        for site in model.sites
        if site.kind == "cross"
        for shift in SHIFTS
        for norms in (False, True)
        for heads in ((), *((head,) for head in range(n_heads(model, site))))
    ]


def _diagonal(pair: WordPair) -> list[tuple[int, int]]:
    """Target word j belongs to the source word at the same share of the way."""
    n_source, n_target = len(pair[0]), len(pair[1])
    return [
        (min(n_source - 1, (2 * j + 1) * n_source // (2 * n_target)), j) for j in range(n_target)
    ]


def _show_lengths(
    ways: Sequence[Extraction], found: Sequence[Sequence[Sequence[Link]]], gold: Gold
) -> None:
    """By the length of the source, the way that the first half chooses; all sentences."""
    truths = [truth for _, truth in gold]
    best = min(range(len(ways)), key=lambda way: _quality(way, found[::2], truths[::2]).error_rate)
    order = sorted(range(len(gold)), key=lambda i: len(gold[i][0][0]))
    rows = []
    for part in range(4):
        some = order[part * len(order) // 4 : (part + 1) * len(order) // 4]
        lengths = [len(gold[i][0][0]) for i in some]
        mine = _quality(best, [found[i] for i in some], [truths[i] for i in some])
        plain = alignment_error([_diagonal(gold[i][0]) for i in some], [truths[i] for i in some])
        rows.append(
            (
                f"{min(lengths)} to {max(lengths)} source words",
                f"{100 * mine.error_rate:.1f}",
                f"{100 * plain.error_rate:.1f}",
            )
        )
    plain = alignment_error([_diagonal(pair) for pair, _ in gold], truths)
    rows.append(
        (
            "all",
            f"{100 * _quality(best, found, truths).error_rate:.1f}",
            f"{100 * plain.error_rate:.1f}",
        )
    )
    print_table(["AER in %", "attention", "diagonal"], rows)


def _quality(
    way: int, found: Sequence[Sequence[Sequence[Link]]], gold: Sequence[GoldAlignment]
) -> AlignmentQuality:
    return alignment_error([one[way] for one in found], gold)


def _show(
    ways: Sequence[Extraction],
    found: Sequence[Sequence[Sequence[Link]]],
    gold: Sequence[GoldAlignment],
) -> None:
    def quality(way: int, half: int) -> AlignmentQuality:
        return _quality(way, found[half::2], gold[half::2])

    order = sorted(range(len(ways)), key=lambda way: quality(way, 0).error_rate)
    means = [way for way in order if not ways[way].heads]
    default = next(w for w in means if ways[w] == Extraction(_usual(ways)))
    rows = []
    for way in dict.fromkeys([*order[:_N_SHOWN], *means[:_N_SHOWN], default]):
        chosen, measured = quality(way, 0), quality(way, 1)
        one = ways[way]
        rows.append(
            (
                f"layer {one.layer}, {one.shift}, "
                f"{f'head {one.heads[0]}' if one.heads else 'mean'}"
                f"{', norms' if one.norms else ''}{' (the default)' if way == default else ''}",
                f"{100 * chosen.error_rate:.1f}",
                f"{100 * measured.error_rate:.1f}",
                f"{100 * measured.precision:.1f}",
                f"{100 * measured.recall:.1f}",
            )
        )
    print(f"\n{len(gold)} sentences, {len(ways)} ways; AER in %")
    print_table(["read off by", "chosen half", "other half", "precision", "recall"], rows)


def _usual(ways: Sequence[Extraction]) -> int:
    layers = sorted({one.layer for one in ways if one.layer is not None})
    return layers[max(0, len(layers) - 2)]


if __name__ == "__main__":
    main()
