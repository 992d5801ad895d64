"""Pictures: noise and a class in, a picture out (Self-Attention GAN, Zhang et al. 2018)."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt
import torch

from regard.config import Network, Recipe, known
from regard.config.networks import SaganSection
from regard.counting import counted, noun
from regard.data import (
    Batch,
    PictureBatches,
    PictureSet,
    Plan,
    join_picture_sets,
    read_picture_set,
)
from regard.decoding import Search
from regard.errors import DataError, UsageError, WrongModelError, shortened
from regard.evaluation.extractors import BATCH, Extractor
from regard.inspection.importance import Losses
from regard.inspection.trace import Trace, TracedStep
from regard.inspection.trace.picture import TracedPicture
from regard.models import Model, Sagan
from regard.models.sagan import hinge_of_discriminator, hinge_of_generator
from regard.shapes import Float, Tensor
from regard.systems.opened import OpenedModel, Reads, refusal
from regard.systems.picture_evaluation import PictureEvaluation, ruler_of, split_pictures
from regard.systems.system import IMAGES_ONLY, System, Wording
from regard.systems.watching import provenance, watch
from regard.text import NoText, Token, Word
from regard.text.tokens import Sentence
from regard.training.defaults import Facts, derive
from regard.training.prepared import Prepared
from regard.training.tasks import Phase, Task

if TYPE_CHECKING:
    from regard.systems.further_training import Tell

_ROWS = 100  # pictures at once
_MOST_NAMED = 12  # classes that a sentence names
_LONGEST_SEED = 18  # digits
_FEWEST_UPDATES, _MOST_UPDATES = 50, 2_500  # of a classifier that measures

Pixels = npt.NDArray[np.uint8]
Label = str | int  # a class by its name or its number


@dataclass(frozen=True)
class Drawing:
    """What a picture is drawn from: the seed of its noise, and the number of its class."""

    seed: int
    number: int


@dataclass(frozen=True)
class PictureGenerator(OpenedModel):
    """A model that draws pictures from noise, of one class or another."""

    reads: ClassVar[Reads] = "seeds"

    def __post_init__(self) -> None:
        if not isinstance(self.loaded.model, Sagan):
            raise WrongModelError(refusal(self.loaded, "sample"))

    @property
    def model(self) -> Sagan:
        """The network."""
        assert isinstance(self.loaded.model, Sagan)
        return self.loaded.model

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes it knows; none if all pictures are of one kind."""
        return _section(self.loaded.recipe).labels

    @property
    def limit(self) -> int:
        """It reads no text."""
        return 0

    def sample(
        self, n: int = 1, *, label: Label | Sequence[Label] | None = None, seed: int = 1
    ) -> Pixels:
        """Draw pictures: an array of uint8, n × height × width × channels (3, or 1 of grey).

        Picture i is drawn from the noise of ``seed + i``, whatever else is drawn with it.

        Args:
            n: how many.
            label: the class of all, or of each; without it they take turns.
            seed: of the first picture.
        """
        if n < 1:
            raise UsageError(f"{n} pictures cannot be drawn: ask for one or more")
        return self.draw(self.noise(range(seed, seed + n)), self._classes(label, n))

    def interpolate(
        self, from_seed: int, to_seed: int, n: int = 8, *, label: Label | None = None
    ) -> Pixels:
        """The way from one picture to another, both included: n pictures of one class.

        Noise lies on a sphere, nearly: the way follows it, for in between lies what was never
        seen in training (White 2016).
        """
        if n < 2:
            raise UsageError(f"a way of {counted(n, 'picture')} leads nowhere: ask for two or more")
        first, last = self.noise((from_seed, to_seed))
        cosine = torch.dot(first, last) / (first.norm() * last.norm())
        angle = torch.arccos(cosine.clamp(-1, 1))
        places = torch.linspace(0, 1, n)[:, None]
        if angle < 1e-4:
            way = torch.lerp(first, last, places)
        else:
            before, after = torch.sin((1 - places) * angle), torch.sin(places * angle)
            way = (before * first + after * last) / torch.sin(angle)
        return self.draw(way, self._classes(0 if label is None else label, n))

    def noise(self, seeds: Sequence[int]) -> Float[Tensor, "N E"]:
        """What pictures are drawn from, a row for each seed."""
        random = torch.Generator()
        rows = [
            torch.randn(self.model.d_noise, generator=random.manual_seed(seed)) for seed in seeds
        ]
        return torch.stack(rows)

    @torch.inference_mode()
    def draw(self, noise: Float[Tensor, "N E"], classes: Sequence[int]) -> Pixels:
        """The picture of each row of noise and number of a class."""
        parts = []
        for first in range(0, len(noise), _ROWS):
            rows = slice(first, first + _ROWS)
            labels = torch.tensor(classes[rows], device=self.device)
            parts.append(as_pixels(self.model.generator(noise[rows].to(self.device), labels)))
        return np.concatenate(parts)

    def number(self, label: Label) -> int:
        """The number of a class, which is given by its name or its number."""
        names = self.labels or ("",)
        if isinstance(label, str) and label in names:
            return names.index(label)
        number = int(label) if str(label).isdecimal() else -1
        if not 0 <= number < len(names):
            more = ", ..." if len(names) > _MOST_NAMED else ""
            there = f"choose among {', '.join(names[:_MOST_NAMED])}{more}"
            raise UsageError(
                f"{self.loaded.path} knows no class {label!r}: "
                f"{there if self.labels else 'it was trained without classes, leave it out'}"
            )
        return number

    def _classes(self, label: Label | Sequence[Label] | None, n: int) -> list[int]:
        if label is None:
            return [i % max(1, len(self.labels)) for i in range(n)]
        if isinstance(label, str | int):
            return [self.number(label)] * n
        if len(label) != n:
            raise UsageError(
                f"{counted(len(label), 'class', 'classes')} {noun(len(label), 'is', 'are')} given "
                f"for {counted(n, 'picture')}: give one for each, or one for all"
            )
        return [self.number(one) for one in label]

    def evaluate(
        self,
        images: str | Path,
        *,
        extractor: str | Path | Extractor | None = None,
        updates: int | None = None,
        seed: int = 1,
        tell: "Tell" = lambda event: None,
    ) -> PictureEvaluation:
        """How near samples come to real pictures, beside an untrained generator and real ones.

        Args:
            images: the pictures it learned from, with a part to measure by, such as fashion-mnist.
            extractor: the ruler: "efficientnet-lite0", a file of a classifier's weights, which is
                written if it is not there, or anything with ``name`` and ``features``; without it
                a classifier learns from the pictures.
            updates: of each classifier; by default 20 times through the pictures, at most 2,500.
            seed: of samples and classifiers.
            tell: is told how far it is.
        """
        network = _section(self.loaded.recipe)
        learned, held = split_pictures(
            *(read_pictures([str(images)], network, part=part) for part in ("train", "test"))
        )
        usual = min(_MOST_UPDATES, max(_FEWEST_UPDATES, 20 * len(learned) // BATCH))
        ruler = ruler_of(learned, held, extractor, updates=updates or usual, seed=seed, tell=tell)
        rows = [
            ruler.measure(name, generator.like(learned, seed), learned.labels)
            for name, generator in (("samples", self), ("untrained generator", self.untrained()))
        ]
        rows.append(ruler.measure("real pictures", learned.pixels, learned.labels))
        name = str(self.loaded.path)
        return PictureEvaluation(name, str(images), ruler.extractor.name, len(held), rows)

    def like(self, pictures: PictureSet, seed: int) -> Pixels:
        """As many samples as there are pictures, of the same classes."""
        labels = np.zeros(len(pictures), int) if pictures.labels is None else pictures.labels
        first = seed * len(pictures)
        return self.draw(self.noise(range(first, first + len(pictures))), labels.tolist())

    def untrained(self) -> "PictureGenerator":
        """The same network with the weights that it began with."""
        recipe = self.loaded.recipe
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(recipe.training.seed)
            model = _build(recipe.model, 0, 0)
        model.to(self.device).eval().requires_grad_(False)
        return PictureGenerator(replace(self.loaded, model=model))

    def _drawing(self, source: Any) -> Drawing:
        """A seed, alone or with a class: 3, "3" or "3 sneaker"."""
        seed, _, label = str(source).strip().partition(" ")
        if not seed.isdecimal() or len(seed) > _LONGEST_SEED:
            raise UsageError(
                f"{shortened(str(source))!r} draws no picture: give the number of a seed, and a "
                "class after it if you like"
            )
        return Drawing(int(seed), self.number(label.strip() or 0))

    def _check_source(self, source: Any) -> None:
        self._drawing(source)

    def _named(self, source: Any) -> str:
        drawing = self._drawing(source)
        of = f" of class {self.labels[drawing.number]}" if self.labels else ""
        return f"the picture of seed {drawing.seed}{of}"

    def _trace(
        self, source: Any, target: str | None, search: Search | None, n_new: int | None
    ) -> Trace:
        """The picture, and for its places where the generator looked to draw them."""
        network, drawing = _section(self.loaded.recipe), self._drawing(source)
        if not network.attention:
            raise UsageError(
                f"{self.loaded.path} was trained with model.attention = 0 and looks nowhere: train "
                "one that attends"
            )
        noise = self.noise([drawing.seed]).to(self.device)
        labels = torch.tensor([drawing.number], device=self.device)
        grid = network.attention, network.aspect * network.attention
        places = _places(target, grid)
        seen = watch(self.model, lambda: self.model.generator(noise, labels).flatten(2))
        (site,) = seen.sites
        rows = [row * grid[1] + column for row, column in places]
        pixels = np.broadcast_to(self.draw(noise, [drawing.number])[0], (*network.canvas, 3))
        return Trace(
            TracedPicture(np.ascontiguousarray(pixels), grid, self._named(source)),
            _said(places),
            (replace(site, weights=site.weights[:, rows]),),
            # A place is drawn, and not chosen among others: nothing is probable or not.
            tuple(TracedStep(0.0, ()) for _ in places),
            provenance(self.loaded, False, 0, seen.difference),
        )

    def _made(
        self, source: Any, target: str | None, search: Search | None, n_new: int | None
    ) -> NoReturn:
        raise WrongModelError(refusal(self.loaded, "write what could become more or less probable"))

    def _read_again(self, seen: Trace) -> NoReturn:
        raise WrongModelError(refusal(self.loaded, "write what could become more or less probable"))

    def _losses(self, examples: Iterable[Any]) -> Iterator[tuple[int, Losses]]:
        raise WrongModelError(refusal(self.loaded, "write what could become more or less probable"))

    def use(self, inputs: Sequence[Any]) -> NoReturn:
        """It answers nothing that is read."""
        raise WrongModelError(refusal(self.loaded, "read anything"))


def _places(given: str | None, grid: tuple[int, int]) -> list[tuple[int, int]]:
    """Places of a map from their names, "8,3 4,4"; else all of them."""
    height, width = grid
    if given is None:
        return [(row, column) for row in range(height) for column in range(width)]
    places = []
    for one in given.split():
        parts = one.split(",")
        if len(parts) != 2 or not all(part.isdecimal() and len(part) < 6 for part in parts):
            raise UsageError(f"{shortened(one)!r} is no place: give its row and column, as in 8,3")
        row, column = int(parts[0]), int(parts[1])
        if row >= height or column >= width:
            raise UsageError(
                f"the place {one} is outside of {height} × {width}: rows are 0 to {height - 1}, "
                f"columns 0 to {width - 1}"
            )
        places.append((row, column))
    return places


def _said(places: Sequence[tuple[int, int]]) -> Sentence:
    """Places as the words of a text."""
    names = [f"{row},{column}" for row, column in places]
    words, tokens, start = [], [], 0
    for number, name in enumerate(names):
        end = start + len(name)
        words.append(Word(name, start, end))
        tokens.append(Token(-1, name, start, end, number))
        start = end + 1
    return Sentence(" ".join(names), tuple(words), tuple(tokens))


def as_pixels(drawn: Float[Tensor, "B Z Y X"]) -> Pixels:
    """Numbers from -1 to 1 as bytes, channels last."""
    values = drawn.float().add(1).mul(127.5).round_().clamp_(0, 255)
    return values.byte().permute(0, 2, 3, 1).cpu().numpy()


def sheet(pictures: Pixels, n_columns: int, *, scale: int = 1, gap: int = 2) -> Pixels:
    """Pictures side by side and one below the other, on white: height × width × 3."""
    large = pictures.repeat(scale, axis=1).repeat(scale, axis=2)
    n, height, width, _ = large.shape
    n_rows = -(-n // n_columns)
    whole = np.full(
        (n_rows * (height + gap) - gap, n_columns * (width + gap) - gap, 3), 255, np.uint8
    )
    for i, picture in enumerate(large):
        row, column = divmod(i, n_columns)
        y, x = row * (height + gap), column * (width + gap)
        whole[y : y + height, x : x + width] = picture  # grey is spread over the three
    return whole


def discriminate(model: Model, batch: Batch, smoothing: float) -> tuple[Float[Tensor, ""], int]:
    """Tell real pictures from drawn ones of the same classes."""
    assert isinstance(model, Sagan)
    labels = batch.target[:, 0]
    with torch.no_grad():
        drawn = model.draw(labels)
    pictures = torch.cat([batch.source, drawn.to(batch.source.dtype)])
    real, fake = model.discriminator(pictures, labels.repeat(2), n_sets=2).float().chunk(2)
    return hinge_of_discriminator(real, fake), len(batch)


def deceive(model: Model, batch: Batch, smoothing: float) -> tuple[Float[Tensor, ""], int]:
    """Draw pictures of a batch's classes that are taken for real."""
    assert isinstance(model, Sagan)
    labels = batch.target[:, 0]
    return hinge_of_generator(model.discriminator(model.draw(labels), labels).float()), len(batch)


@dataclass(frozen=True)
class PictureAccount:
    """How many pictures were read, and what became of them."""

    n_pictures: int
    n_skipped: int
    canvas: tuple[int, int]
    is_grey: bool
    n_classes: int

    def line(self) -> str:
        """All of it in one line."""
        colours = "grey" if self.is_grey else "in colour"
        classes = counted(self.n_classes, "class", "classes") if self.n_classes else "no classes"
        text = f"{counted(self.n_pictures, 'picture')}, {colours}, {classes}"
        if self.n_skipped:
            text += f"; {counted(self.n_skipped, 'other file')} passed over"
        return f"{text}; as {self.canvas[0]} × {self.canvas[1]} pixels"

    def rows(self) -> list[tuple[str, int, str, str]]:
        """No picture is dropped."""
        return []


@dataclass(frozen=True)
class PreparedPictures(Prepared):
    """Pictures to learn from."""

    pictures: PictureSet

    @property
    def task(self) -> Task:
        """The discriminator's, which is the loss that is told."""
        return discriminate

    @property
    def phases(self) -> tuple[Phase, ...]:
        """First the discriminator learns, then the generator, which alone is averaged."""
        rate = _section(self.recipe).discriminator_rate
        return (
            Phase(discriminate, "discriminator", rate, is_averaged=False),
            Phase(deceive, "generator"),
        )

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """Batches of as many pictures as the recipe says."""
        training = self.recipe.training
        n_pictures = known(training.batch_tokens, "training.batch_tokens")
        return PictureBatches(self.pictures, training.seed, n_pictures, rank, n_ranks)


def _section(recipe: Recipe) -> SaganSection:
    assert isinstance(recipe.model, SaganSection)
    return recipe.model


def read_pictures(names: Sequence[str], network: SaganSection, **part: Any) -> PictureSet:
    """Sets of pictures as one, as large as a network draws them and with the classes it knows."""
    colours = None if network.colours == "auto" else network.colours
    return join_picture_sets(
        [
            read_picture_set(
                name,
                size=network.canvas,
                n_channels=colours,
                classes=network.labels or None,
                pads=True,
                **part,
            )
            for name in names
        ]
    )


def _prepare(recipe: Recipe, folder: Path, *, n_processes: int = 1) -> Prepared:
    """Read all pictures; what they say of the network is put into the recipe."""
    if not recipe.data.train:
        raise DataError(
            "there is nothing to learn from: name pictures with --images DIR, or in the recipe as "
            "data.train"
        )
    if recipe.data.valid:
        raise DataError(
            "held-out pictures are of no use while a generator learns: leave them out, and measure "
            "with regard evaluate MODEL --images DIR."
        )
    network = _section(recipe)
    pictures = read_pictures(recipe.data.train, network, part="train")
    model = network.model_copy(update={"labels": pictures.classes, "colours": pictures.n_channels})
    n = len(pictures)
    facts = Facts(n_pairs=n, n_target_tokens=n, n_processes=n_processes)
    nothing = NoText()
    return PreparedPictures(
        recipe=derive(recipe.model_copy(update={"model": model}), facts),
        derived_from=facts,
        source_tokenizer=nothing,
        target_tokenizer=nothing,
        validation=None,
        account=PictureAccount(
            n, pictures.n_skipped, network.canvas, pictures.n_channels == 1, len(pictures.classes)
        ),
        note=None,
        fertility={},
        pictures=pictures,
    )


def _build(network: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    assert isinstance(network, SaganSection)
    return Sagan(
        network.canvas,
        network.channels,
        n_colours=3 if network.colours == "auto" else network.colours,
        n_classes=max(1, len(network.labels)),
        d_noise=network.d_noise,
        attention=network.attention,
    )


SYSTEM = System(
    name="pictures",
    build=_build,
    prepare=_prepare,
    open=PictureGenerator,
    words=Wording(
        command="sample",
        methods=("sample", "interpolate"),
        use="`regard sample` draws pictures with it",
        example="regard {command} {model} --grid 8x8 --out samples.png",
        reads="pictures",
        predicts="pictures",
    ),
    data=("images",),
    refusals=IMAGES_ONLY,
)
