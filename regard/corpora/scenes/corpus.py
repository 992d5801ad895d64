"""The corpus "scenes": a picture, described exactly -> a caption."""

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from regard.corpora.interface import DrawnCorpus, Example, Side, split_of, split_random
from regard.corpora.scenes.captions import LANGUAGES, english
from regard.corpora.scenes.layout import (
    COLOURS,
    KINDS,
    PAPERS,
    RADII,
    SIDE,
    SceneLayout,
    SceneObject,
)

VERSION = "1"
PAIRS = tuple(LANGUAGES)

_APART = 2  # pixels at least between an object and the middle, where two are side by side
_ASKEW = 5  # pixels at most by which two objects in a row or a column are out of line


@dataclass(frozen=True)
class Scenes(DrawnCorpus):
    """Pictures of one, two or three objects, and captions that follow from them.

    Of two, the upper or the left one comes first; of three, which form an L, the one in the
    corner. No caption of a split is in another split: what is held out is more than a few pixels.
    """

    language: str = "en"
    name = "scenes"

    def _draw(self, split: str, seed: int) -> Iterator[Example]:
        random = split_random(split, seed)
        seen: set[str] = set()
        while True:
            layout = _sampled(random)
            source = str(layout)
            said = " ".join(word.text for word in english(layout.objects))
            if source not in seen and split_of(said) == split:
                seen.add(source)
                yield self._example(layout)

    def _example(self, layout: SceneLayout) -> Example:
        caption, gap = LANGUAGES[self.language]
        words = caption(layout.objects)
        texts = tuple(word.text for word in words)
        return Example(
            source=str(layout),
            target=gap.join(texts),
            target_side=Side(texts),
            tags=(f"objects-{len(layout.objects)}",),
            boxes=tuple((place, word.box) for place, word in enumerate(words) if word.box),
        )


def _sampled(random: Random) -> SceneLayout:
    n = random.choice((1, 2, 2, 3, 3))
    sizes = random.choices(tuple(RADII), k=n)
    places = _places(random, [RADII[size] for size in sizes])
    kinds = random.sample(KINDS, n)
    objects = tuple(
        SceneObject(kind, random.choice(tuple(COLOURS)), size, x, y)
        for kind, size, (x, y) in zip(kinds, sizes, places, strict=True)
    )
    return SceneLayout(random.choice(tuple(PAPERS)), objects)


def _places(random: Random, radii: list[int]) -> list[tuple[int, int]]:
    """Centres: anywhere; one before the other in a row or a column; or the three of an L."""

    def anywhere(radius: int) -> int:
        return random.randint(radius, SIDE - radius)

    def within(radius: int, half: int) -> int:
        """In the first or the second half of the picture."""
        low, high = _bounds(radius, half)
        return random.randint(low, high)

    def beside(place: int, low: int, high: int) -> int:
        """About in line with a place."""
        return min(max(place + random.randint(-_ASKEW, _ASKEW), low), high)

    if len(radii) == 1:
        return [(anywhere(radii[0]), anywhere(radii[0]))]
    first, second = radii[:2]
    if len(radii) == 2:
        across = anywhere(first)
        centres = [
            (within(first, 0), across),
            (within(second, 1), beside(across, second, SIDE - second)),
        ]
        return centres if random.random() < 0.5 else [(y, x) for x, y in centres]
    right, low, third = random.randrange(2), random.randrange(2), radii[2]
    x, y = within(first, right), within(first, low)
    return [
        (x, y),
        (beside(x, *_bounds(second, right)), within(second, 1 - low)),
        (within(third, 1 - right), beside(y, *_bounds(third, low))),
    ]


def _bounds(radius: int, half: int) -> tuple[int, int]:
    """Between which places the centre of an object lies that is in one half of the picture."""
    low, high = radius, SIDE // 2 - _APART - radius
    return (SIDE - high, SIDE - low) if half else (low, high)
