"""Where a captioner looks when it says a word: the highest cell, against the box of what it names.

    $ python benchmarks/captions.py --model runs/caption --train --minutes 5
    $ python benchmarks/captions.py --model runs/caption-zh --language zh --train --minutes 5

The corpus `scenes` binds every colour, size and shape of a caption to the box of its object. The
model reads the true caption of pictures it has never seen (the split test); for each such word the
weights of the steps that predict its tokens are averaged, and the highest cell counts where its
middle lies inside the box. Control: a cell chosen by chance, the share of cells whose middle
lies inside. Beside it how many captions that the model writes itself are right word by word.
"""

import argparse
from itertools import islice
from pathlib import Path
from statistics import fmean

import numpy as np
from machine import facts, print_facts, print_table

import regard
from regard.corpora import SEED, Example, open_corpus
from regard.corpora.scenes.layout import SIDE
from regard.decoding import Search
from regard.inspection.trace import Trace
from regard.systems.captions import PictureCaptioner

Box = tuple[float, float, float, float]


def main() -> None:
    """Train if asked to, then measure."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--language", default="en")
    options.add_argument("--examples", type=int, default=500)
    options.add_argument("--train", action="store_true")
    options.add_argument("--minutes", type=float, default=5.0)
    given = options.parse_args()
    print_facts(facts())
    if given.train:
        _train(given.model, given.language, given.minutes)
    model = regard.load(given.model)
    assert isinstance(model, PictureCaptioner)
    examples = list(
        islice(open_corpus("scenes", given.language).examples("test", SEED), given.examples)
    )
    shares = [pair for one in examples for pair in _looks(model, one)]
    written = model.outputs([one.source for one in examples], Search(width=1))
    exact = fmean(text == one.target for text, one in zip(written, examples, strict=True))
    inside, chance = (fmean(side) for side in zip(*shares, strict=True))
    print_table(
        ["content words", "peak in its box", "by chance", "captions that are exact"],
        [[f"{len(shares):,}", f"{inside:.1%}", f"{chance:.1%}", f"{exact:.1%}"]],
    )


def _train(folder: Path, language: str, minutes: float) -> None:
    for event in regard.train(
        "caption-soft", corpus=f"scenes:{language}", out=folder, minutes=minutes
    ):
        if type(event).__name__ in ("Validated", "Finished"):
            print(event)


def _looks(model: PictureCaptioner, example: Example) -> list[tuple[bool, float]]:
    """Of each content word, whether the highest cell is in its box, and how many cells are."""
    seen = model.trace(example.source, example.target)
    picture = seen.picture
    assert picture is not None
    scale = SIDE / picture.pixels.shape[0]
    middles = [
        (scale * (left + right) / 2, scale * (top + bottom) / 2)
        for left, top, right, bottom in picture.boxes
    ]
    weights = seen.sites[0].weights.mean(0)
    found = []
    for place, box in example.boxes:
        is_inside = np.array([box[0] <= x < box[2] and box[1] <= y < box[3] for x, y in middles])
        steps = _steps(seen, example, place)
        if steps:
            row = weights[steps].mean(0)
            found.append((bool(is_inside[row.argmax()]), float(is_inside.mean())))
    return found


def _steps(seen: Trace, example: Example, place: int) -> list[int]:
    """The steps that write a word of the caption."""
    assert example.target_side is not None
    end = 0
    for word in example.target_side.words[: place + 1]:
        start = example.target.index(word, end)
        end = start + len(word)
    return [
        step
        for step, token in enumerate(seen.target.tokens)
        if token.start < end and start < token.end
    ]


if __name__ == "__main__":
    main()
