"""Glimpses: a picture in, a label out, by looking at small parts of it one after the other.

The system of the Recurrent Attention Model (Mnih et al. 2014). A model is always measured with one
sequence of glimpses, each at the most probable place: the mean over many drawn ones would hide a
locator that has learned nothing. Where the first glimpse falls follows from the picture.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, overload

import torch
from torch.nn import functional as F

from regard.config import Network, Recipe
from regard.config.glimpses import GlimpsesSection
from regard.data import (
    PictureSet,
)
from regard.data.images import ImageCodec, Picture
from regard.decoding import Search
from regard.errors import DataError, RecipeError, UsageError, WrongModelError
from regard.inspection.importance import Losses
from regard.inspection.trace import Alternative, Trace, TracedStep
from regard.inspection.trace.picture import TracedPicture
from regard.models import Model, RecurrentAttention
from regard.models.glimpses import Glimpsed, Retina, inside
from regard.shapes import Float, Int, Tensor
from regard.special import NAMES
from regard.systems.glimpse_data import (
    MOST_NAMED,
    ROWS,
    first_places,
    n_channels_of,
    prepare_glimpses,
    read_glimpsed,
    section_of,
    size_of,
)
from regard.systems.glimpse_results import Glimpse, GlimpseEvaluation, PictureLabel, PlacesMeasured
from regard.systems.opened import OpenedModel, Reads, refusal
from regard.systems.results import Output, Scored
from regard.systems.scoring import windows
from regard.systems.system import IMAGES_ONLY, System, Wording
from regard.systems.watching import N_ALTERNATIVES, provenance, watch
from regard.text.tokens import Sentence, Token, Word

_MOST_CELLS = 28  # each way, of the grid on which glimpses are shown
_FOUND_BY = 2  # glimpses before which nothing can be known of where the object is
CONTROLS = ("random", "centre", "raster")  # places that do not depend on the picture


@dataclass(frozen=True)
class PictureClassifier(OpenedModel):
    """A model that tells what a picture shows after a few glimpses."""

    reads: ClassVar[Reads] = "pictures"

    def __post_init__(self) -> None:
        if not isinstance(self.loaded.model, RecurrentAttention):
            raise WrongModelError(refusal(self.loaded, "classify pictures"))

    @property
    def model(self) -> RecurrentAttention:
        """The network."""
        assert isinstance(self.loaded.model, RecurrentAttention)
        return self.loaded.model

    @property
    def network(self) -> GlimpsesSection:
        """Its keys in the recipe."""
        return section_of(self.loaded.recipe)

    @property
    def labels(self) -> tuple[str, ...]:
        """What it can tell."""
        return self.network.labels

    @property
    def codec(self) -> ImageCodec:
        """What turns pictures into numbers."""
        size = size_of(self.network)
        return ImageCodec(size, size, n_channels_of(self.network))

    @property
    def limit(self) -> int:
        """It reads no text."""
        return 0

    @overload
    def classify(self, pictures: list[Picture], k: int = 1) -> list[PictureLabel]: ...

    @overload
    def classify(self, pictures: Picture, k: int = 1) -> PictureLabel: ...

    def classify(
        self, pictures: Picture | list[Picture], k: int = 1
    ) -> PictureLabel | list[PictureLabel]:
        """What a picture shows, or each of a list of them.

        A picture is a path, the bytes of a file, an array (uint8) or a PIL image. The next
        likeliest labels are in ``others`` where ``k`` is above 1.
        """
        if isinstance(pictures, list):
            return [_best(found) for found in self.classify_each(pictures, k)]
        return _best(next(self.classify_each([pictures], k)))

    def use(self, inputs: Sequence[Picture]) -> Sequence[PictureLabel]:
        """Classify each."""
        return self.classify(list(inputs))

    def classify_each(
        self, pictures: Iterable[Picture], k: int = 1
    ) -> Iterator[list[PictureLabel]]:
        """The k likeliest labels of each picture, as they are found; the first has the glimpses."""
        for window in windows(pictures, ROWS):
            seen = self._look(self._pixels(window))
            for row in range(len(window)):
                path = self._glimpses(seen, row)
                likeliest = path[-1].beliefs[: max(1, k)]
                yield [
                    PictureLabel(name, p, glimpses=() if n else path)
                    for n, (name, p) in enumerate(likeliest)
                ]

    def evaluate(self, images: str | Path) -> GlimpseEvaluation:
        """The share of wrong labels, also with places that were not learned, as controls.

        ``images`` is a folder, an archive, an idx file or a corpus; of parts, the test part.
        Controls are the same network with places drawn anywhere, in the centre or row by row, with
        the locator it began with, and the whole network as it began.
        """
        pictures = read_glimpsed(self.network, [str(images)], "test")
        if pictures.labels is None:
            raise DataError(f"{images} has no classes to compare with: put each into a folder.")
        fresh = _fresh(self.loaded.recipe).to(self.device).eval()
        measured = [self._measured("learned", self.model, pictures)]
        for name in CONTROLS:
            measured.append(self._measured(name, self.model, pictures, name))
        mixed = _fresh(self.loaded.recipe).to(self.device).eval()
        own = {k: v for k, v in self.model.state_dict().items() if not k.startswith("locator.")}
        mixed.load_state_dict(own, strict=False)
        measured.append(self._measured("frozen locator", mixed, pictures))
        measured.append(self._measured("untrained", fresh, pictures))
        return GlimpseEvaluation(
            str(self.loaded.path),
            str(images),
            len(pictures),
            self.model.n_glimpses,
            tuple(measured),
        )

    @torch.inference_mode()
    def _measured(
        self, name: str, model: RecurrentAttention, pictures: PictureSet, path: str | None = None
    ) -> PlacesMeasured:
        assert pictures.labels is not None
        n_wrong, n_inside, n_looks = 0, 0, 0
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            for rows in windows(range(len(pictures)), ROWS):
                pixels = pictures.numbers(rows).to(self.device)
                given = None if path is None else model.path(len(rows), path, pixels)
                seen = model.look(pixels, first_places(pixels), given)
                right = torch.from_numpy(pictures.labels[rows]).to(self.device)
                n_wrong += int((seen.logits[:, -1].argmax(-1) != right).sum())
                if pictures.boxes is not None:
                    boxes = torch.from_numpy(pictures.boxes[rows]).to(self.device)
                    found = inside(seen.places[:, _FOUND_BY:], boxes, model.retina.size)
                    n_inside, n_looks = n_inside + int(found.sum()), n_looks + found.numel()
        share = n_inside / n_looks if n_looks else None
        return PlacesMeasured(name, n_wrong / len(pictures), share)

    def _pixels(self, pictures: Sequence[Picture]) -> Tensor:
        codec = self.codec
        return codec.collate([codec.encode(one) for one in pictures]).to(self.device)

    @torch.inference_mode()
    def _look(self, pixels: Float[Tensor, "B Z Y X"]) -> Glimpsed:
        return self.model.look(pixels, first_places(pixels))

    def _glimpses(self, seen: Glimpsed, row: int) -> tuple[Glimpse, ...]:
        """The path of one picture."""
        size, sides = self.model.retina.size, self.model.retina.sides
        best = seen.logits[row].double().softmax(-1).sort(-1, descending=True)
        places = ((seen.places[row] + 1) / 2 * size).tolist()
        beliefs = (
            tuple((self.labels[i], p) for i, p in zip(*both, strict=True))
            for both in zip(best.indices.tolist(), best.values.tolist(), strict=True)
        )
        return tuple(
            Glimpse(x, y, sides, told) for (x, y), told in zip(places, beliefs, strict=True)
        )

    def _named(self, source: Picture) -> str:
        if isinstance(source, Path):
            return source.name
        return source if isinstance(source, str) else "a picture"

    def _check_source(self, source: Picture) -> None:
        self.codec.encode(source)

    # What a model makes of a picture is a sequence of beliefs: a label after each glimpse.

    def _made(
        self, source: Picture, target: str | None, search: Search | None, n_new: int | None
    ) -> tuple[int, ...]:
        if target is None:
            beliefs = self._look(self._pixels([source])).logits[0].argmax(-1)
            return tuple(int(one) for one in beliefs)
        if target not in self.labels:
            raise UsageError(
                f"{target!r} is not a label of {self.loaded.path}: choose one of "
                f"{', '.join(self.labels[:MOST_NAMED])}"
            )
        return (self.labels.index(target),) * self.model.n_glimpses

    def _scored(self, source: Picture, made: tuple[int, ...]) -> Scored:
        table = self._look(self._pixels([source])).logits[0].double().log_softmax(-1)
        values = (float(row[label]) for row, label in zip(table, made, strict=True))
        return Scored(made, tuple(self.labels[one] for one in made), tuple(values))

    def _output(self, source: Picture, made: tuple[int, ...], scored: Scored) -> Output:
        return Output(self.labels[made[-1]], made, scored.pieces, scored.log_probability)

    def _losses(self, examples: Iterable[tuple[Picture, str]]) -> Iterator[tuple[int, Losses]]:
        """``-log P(label | picture)`` of each pair."""
        for window in windows(examples, ROWS):
            pixels = self._pixels([picture for picture, _ in window])
            made = [self._made(picture, label, None, None)[-1] for picture, label in window]
            labels = torch.tensor(made, device=self.device)
            yield len(window), partial(_row_losses, self.model, pixels, labels)

    def _trace(
        self, source: Picture, target: str | None, search: Search | None, n_new: int | None
    ) -> Trace:
        made = self._made(source, target, None, None)
        pixels = self._pixels([source])
        first = first_places(pixels)
        path = self._glimpses(self._look(pixels), 0)
        seen = watch(self.model, lambda: self.model.look(pixels, first).logits)
        shown = ImageCodec(self.codec.size, self.codec.size).pixels(source)
        cells = self.model.retina.n_cells
        gazes = tuple((one.x, one.y, *map(float, one.sides)) for one in path)
        return Trace(
            TracedPicture(shown, (cells, cells), self._named(source), gazes),
            _beliefs(self.labels, made),
            seen.sites,
            _steps(seen.logits, self.labels, made),
            provenance(self.loaded, target is not None, 0, seen.difference),
            None,
        )


def _best(found: Sequence[PictureLabel]) -> PictureLabel:
    best, *others = found
    return PictureLabel(best.label, best.probability, tuple(others), best.glimpses)


def _beliefs(labels: Sequence[str], made: Sequence[int]) -> Sentence:
    """What was believed after each glimpse, as if it were written: a word a glimpse."""
    words, tokens, start = list[Word](), list[Token](), 0
    for place, number in enumerate(made):
        text = labels[number]
        words.append(Word(text, start, start + len(text)))
        tokens.append(Token(len(NAMES) + number, text, start, start + len(text), place))
        start += len(text) + 1
    return Sentence(" ".join(word.text for word in words), tuple(words), tuple(tokens))


def _steps(
    logits: Float[Tensor, "T C"], labels: Sequence[str], made: Sequence[int]
) -> tuple[TracedStep, ...]:
    """How probable each belief was, and which labels were the most probable then."""
    table = logits.float().log_softmax(-1)
    best = table.topk(min(N_ALTERNATIVES, len(labels)), dim=-1)
    rows = zip(table, made, best.indices.tolist(), best.values.tolist(), strict=True)
    return tuple(
        TracedStep(
            float(row[number]),
            tuple(
                Alternative(len(NAMES) + i, labels[i], value)
                for i, value in zip(indices, values, strict=True)
            ),
        )
        for row, number, indices, values in rows
    )


def _row_losses(
    model: RecurrentAttention, pixels: Float[Tensor, "B Z Y X"], labels: Int[Tensor, "B"]
) -> Float[Tensor, "B"]:
    return F.cross_entropy(model(pixels, first_places(pixels)), labels, reduction="none")


def _build(network: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    assert isinstance(network, GlimpsesSection)
    if not network.labels:
        raise RecipeError(
            "model.labels is still empty: labels are found in the training data; name them to "
            "build the model without data"
        )
    size = size_of(network)
    return RecurrentAttention(
        len(network.labels),
        Retina(network.patch, network.n_scales, size, min(size, _MOST_CELLS)),
        n_channels=n_channels_of(network),
        n_glimpses=network.n_glimpses,
        core=network.core,
        d_hidden=network.d_hidden,
        deviation=network.deviation,
        least_deviation=None if network.least_deviation == "auto" else network.least_deviation,
        locator=network.locator,
        baseline=network.baseline,
        feedback=network.feedback,
        locator_sees=network.locator_sees,
    )


def _fresh(recipe: Recipe) -> RecurrentAttention:
    """The network as the run began."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.training.seed)
        made = _build(recipe.model, 0, 0)
    assert isinstance(made, RecurrentAttention)
    return made


SYSTEM = System(
    name="glimpses",
    build=_build,
    prepare=prepare_glimpses,
    open=PictureClassifier,
    words=Wording(
        command="classify",
        methods=("classify",),
        use="`regard classify` tells with it what pictures show",
        unnamed="picture.png",
        reads="pictures",
        predicts="labels",
        sample=("picture", "label", "told"),
    ),
    data=("images",),
    refusals=IMAGES_ONLY,
)
