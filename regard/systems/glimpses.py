"""Glimpses: a picture in, a label out, by looking at small parts of it one after the other.

The system of the Recurrent Attention Model (Mnih et al. 2014). A model is always measured with one
sequence of glimpses, each at the most probable place: the mean over many drawn ones would hide a
locator that has learned nothing. Where the first glimpse falls follows from the picture.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, overload

import numpy as np
import torch
from torch.nn import functional as F

from regard.config import Network, Recipe, known
from regard.config.glimpses import GlimpsesSection
from regard.counting import counted
from regard.data import (
    Batch,
    Part,
    PictureBatches,
    PictureSet,
    Plan,
    join_picture_sets,
    read_picture_set,
)
from regard.data.batching import Rows
from regard.data.images import ImageCodec, Picture
from regard.decoding import Search
from regard.errors import DataError, RecipeError, UsageError, WrongModelError
from regard.evaluation import LabelQuality, accuracy, by_label, macro_f1
from regard.inspection.importance import Losses
from regard.inspection.trace import Alternative, Trace, TracedStep
from regard.inspection.trace.picture import TracedPicture
from regard.models import Model, RecurrentAttention, baseline_loss, reinforce
from regard.models.glimpses import Glimpsed, Retina, inside
from regard.shapes import Float, Int, Tensor
from regard.special import NAMES
from regard.systems.evaluation import ScoreTable, TabledScores
from regard.systems.opened import OpenedModel, refusal
from regard.systems.results import Output, Result, Scored
from regard.systems.scoring import windows
from regard.systems.system import IMAGES_ONLY, System, Wording
from regard.systems.watching import N_ALTERNATIVES, provenance, watch
from regard.text import NoText
from regard.text.tokens import Sentence, Token, Word
from regard.training.defaults import Facts, derive
from regard.training.events import Sample
from regard.training.prepared import Prepared
from regard.training.tasks import Task
from regard.training.validation import HeldOut, Stopped

_ROWS = 256  # pictures at once
_HELD_OUT, _MOST_HELD_OUT = 10, 5_000  # one in ten
_MOST_CELLS = 28  # each way, of the grid on which glimpses are shown
_FOUND_BY = 2  # glimpses before which nothing can be known of where the object is
_MOST_NAMED = 12  # classes that a line names
CONTROLS = ("random", "centre", "raster")  # places that do not depend on the picture


@dataclass(frozen=True, repr=False)
class Glimpse(Result):
    """One look: its middle and the sides of its patches in pixels, and what was believed then."""

    shows: ClassVar[tuple[str, ...]] = ("x", "y", "beliefs")

    x: float
    y: float
    sides: tuple[int, ...]
    beliefs: tuple[tuple[str, float], ...]  # labels and probabilities, the likeliest first


@dataclass(frozen=True, repr=False)
class PictureLabel(Result):
    """What a picture shows, how probable that is, and the glimpses that told it."""

    shows: ClassVar[tuple[str, ...]] = ("label", "probability")

    label: str
    probability: float
    others: tuple["PictureLabel", ...] = ()  # the next likeliest, where several were asked for
    glimpses: tuple[Glimpse, ...] = ()

    def __str__(self) -> str:
        return self.label


@dataclass(frozen=True)
class PlacesMeasured:
    """How good the network is with glimpses at certain places."""

    places: str
    error: float  # share of pictures whose label is wrong
    inside: float | None = None  # share of glimpses from the third on that fall on the object


@dataclass(frozen=True, repr=False)
class GlimpseEvaluation(TabledScores):
    """How often labels are wrong, and how often with other places than those it has learned."""

    model: str
    images: str
    n_pictures: int
    n_glimpses: int
    measured: tuple[PlacesMeasured, ...]  # the first is the model as it is

    @property
    def scores(self) -> Mapping[str, float]:
        """Error and accuracy of the model, and the error of each control by its name."""
        own, *others = self.measured
        found = {"error": own.error, "accuracy": 1 - own.error}
        if own.inside is not None:
            found["inside"] = own.inside
        names = (f"error_{one.places.replace(' ', '_')}" for one in others)
        return found | dict(zip(names, (one.error for one in others), strict=True))

    def table(self) -> ScoreTable:
        """A row for the places it has learned, and for each control."""
        has_boxes = self.measured[0].inside is not None
        return ScoreTable(
            f"{self.model} on {self.images}: {counted(self.n_pictures, 'picture')}, "
            f"{counted(self.n_glimpses, 'glimpse')} each",
            ("places", "error", *(["on the object"] if has_boxes else [])),
            [
                (
                    one.places,
                    f"{100 * one.error:.2f} %",
                    *([] if one.inside is None else [f"{100 * one.inside:.1f} %"]),
                )
                for one in self.measured
            ],
        )


@dataclass(frozen=True)
class PictureClassifier(OpenedModel):
    """A model that tells what a picture shows after a few glimpses."""

    reads_pictures: ClassVar[bool] = True

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
        return _section(self.loaded.recipe)

    @property
    def labels(self) -> tuple[str, ...]:
        """What it can tell."""
        return self.network.labels

    @property
    def codec(self) -> ImageCodec:
        """What turns pictures into numbers."""
        size = _size(self.network)
        return ImageCodec(size, size, _n_channels(self.network))

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
        for window in windows(pictures, _ROWS):
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
        pictures = _read(self.network, [str(images)], "test")
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
            for rows in windows(range(len(pictures)), _ROWS):
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
                f"{', '.join(self.labels[:_MOST_NAMED])}"
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
        for window in windows(examples, _ROWS):
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


def first_places(pictures: Float[Tensor, "B Z Y X"]) -> Float[Tensor, "B 2"]:
    """Where the first glimpse falls: anywhere, but always there for the same picture."""
    content = pictures.detach().float().cpu().numpy()
    digests = [hashlib.blake2b(one.tobytes(), digest_size=8).digest() for one in content]
    numbers = np.frombuffer(b"".join(digests), "<u4").reshape(-1, 2).astype(np.float64)
    return torch.from_numpy(numbers / 2**31 - 1).to(pictures)


def _row_losses(
    model: RecurrentAttention, pixels: Float[Tensor, "B Z Y X"], labels: Int[Tensor, "B"]
) -> Float[Tensor, "B"]:
    return F.cross_entropy(model(pixels, first_places(pixels)), labels, reduction="none")


def glimpse_loss(model: Model, batch: Batch, smoothing: float) -> tuple[Float[Tensor, ""], int]:
    """Tell what each picture shows; while learning, draws that led to it become more probable."""
    assert isinstance(model, RecurrentAttention)
    labels = batch.target[:, 0]
    first = None if model.training else first_places(batch.source)
    seen = model.look(batch.source, first)
    logits = seen.logits[:, -1]
    loss = F.cross_entropy(logits, labels, reduction="sum", label_smoothing=smoothing)
    if model.training and model.draws:
        is_right = (logits.argmax(-1) == labels).to(logits.dtype)
        loss = loss + _learned_places(model, seen, is_right)
    return loss, len(labels)


def _learned_places(
    model: RecurrentAttention, seen: Glimpsed, is_right: Float[Tensor, "B"]
) -> Float[Tensor, ""]:
    """REINFORCE of every place but the first; the reward is 1 for a right label. Its value is 0."""
    reward = is_right[:, None].expand_as(seen.log_probability)
    if model.average is not None:
        return reinforce(seen.log_probability, reward, model.average(is_right))
    places = reinforce(seen.log_probability, reward, seen.expected)
    if model.expecting is None:
        return places
    expecting = baseline_loss(seen.expected, reward)
    return places + expecting - expecting.detach()


@dataclass(frozen=True)
class GlimpseValidation(HeldOut):
    """Held-out pictures: the loss, and how many labels are right."""

    pictures: PictureSet

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All of them."""
        plan = PictureBatches(self.pictures, 0, _ROWS)
        for rows in windows(range(len(self.pictures)), _ROWS):
            yield plan.batch(np.asarray(rows)).to(device)

    def quality(self, model: Model, should_stop: Callable[[], bool]) -> LabelQuality:
        """Accuracy and F1 with the most probable places."""
        assert isinstance(model, RecurrentAttention)
        given, gold = list[str](), list[str]()
        names = self.pictures.classes
        for batch in self.batches(next(model.parameters()).device):
            if should_stop():
                raise Stopped
            best = model(batch.source, first_places(batch.source)).argmax(-1)
            given += [names[i] for i in best.tolist()]
            gold += [names[i] for i in batch.target[:, 0].tolist()]
        return LabelQuality(accuracy(given, gold), macro_f1(by_label(given, gold)))

    def samples(self, model: Model) -> tuple[Sample, ...]:
        """What two of the pictures are taken for."""
        assert isinstance(model, RecurrentAttention)
        assert self.pictures.labels is not None
        rows = list(range(min(2, len(self.pictures))))
        pixels = self.pictures.numbers(rows).to(next(model.parameters()).device)
        best = model(pixels, first_places(pixels)).argmax(-1).tolist()
        names = self.pictures.classes
        return tuple(
            Sample(self.pictures.file(i), names[best[i]], names[int(self.pictures.labels[i])])
            for i in rows
        )

    def example(self) -> str | None:
        """The first picture, where it can be named."""
        return self.pictures.files[0] if self.pictures.files else "picture.png"


@dataclass(frozen=True)
class GlimpseAccount:
    """What was read: how many pictures, of which classes."""

    pictures: PictureSet
    n_held_out: int

    def line(self) -> str:
        """All of it in one line."""
        assert self.pictures.labels is not None
        counts = Counter(self.pictures.labels.tolist())
        height, width = self.pictures.size
        named = ", ".join(
            f"{name} {counts[number]:,}"
            for number, name in enumerate(self.pictures.classes[:_MOST_NAMED])
        )
        more = ", ..." if len(self.pictures.classes) > _MOST_NAMED else ""
        n = len(self.pictures)
        text = f"{counted(n, 'picture')} of {width} × {height} pixels"
        if self.pictures.n_skipped:
            text += f", {counted(self.pictures.n_skipped, 'other file')} left out"
        classes = counted(len(self.pictures.classes), "class", "classes")
        return f"{text}; {self.n_held_out:,} to validate on; {classes}: {named}{more}"

    def rows(self) -> list[tuple[str, int, str, str]]:
        """Nothing is dropped."""
        return []


@dataclass(frozen=True)
class PreparedGlimpses(Prepared):
    """Pictures with classes to learn from."""

    pictures: PictureSet
    rows: Rows  # those that are learned from

    @property
    def task(self) -> Task:
        """Labels by their loss, places by REINFORCE."""
        return glimpse_loss

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """Pictures in an order of each epoch's own."""
        training = self.recipe.training
        n_pictures = known(training.batch_tokens, "training.batch_tokens")
        return PictureBatches(self.pictures, training.seed, n_pictures, rank, n_ranks, self.rows)


def _section(recipe: Recipe) -> GlimpsesSection:
    assert isinstance(recipe.model, GlimpsesSection)
    return recipe.model


def _size(network: GlimpsesSection) -> int:
    if network.size == "auto":
        raise RecipeError(
            "model.size is still open: it follows from the training data; say it to build the "
            "model without data"
        )
    return network.size


def _n_channels(network: GlimpsesSection) -> int:
    return 1 if network.colours == "auto" else network.colours


def _read(network: GlimpsesSection, names: Sequence[str], part: Part) -> PictureSet:
    """The pictures of these names, as large as the network says, or square at least."""
    size = None if network.size == "auto" else network.size
    channels = None if network.colours == "auto" else network.colours
    classes = network.labels or None
    found = [
        read_picture_set(
            name,
            part=part,
            size=size,
            n_channels=channels,
            classes=classes,
        )
        for name in names
    ]
    together = join_picture_sets(found)
    if together.size[0] != together.size[1]:
        square = network.model_copy(update={"size": max(together.size)})
        return _read(square, names, part)
    return together


def _prepare(recipe: Recipe, folder: Path, *, n_processes: int = 1) -> Prepared:
    """Read pictures and their classes, and hold some out."""
    if not recipe.data.train:
        raise DataError(
            "there is nothing to learn from: name pictures with --images DIR or --corpus digits, "
            "or in the recipe as data.train"
        )
    pictures = _read(_section(recipe), recipe.data.train, "train")
    if pictures.labels is None or len(pictures.classes) < 2:
        raise DataError(
            f"{pictures.name} has {'one class' if pictures.classes else 'no classes'}, and there "
            "is nothing to tell apart: put the pictures of each class into a folder of its own."
        )
    found = {"size": pictures.size[0], "colours": pictures.n_channels, "labels": pictures.classes}
    network = _section(recipe).model_copy(update=found)
    if network.patch > pictures.size[0]:
        raise DataError(
            f"{pictures.name} has pictures of {pictures.size[0]} pixels, and a glimpse has "
            f"{network.patch}: choose less with --set model.patch=4."
        )
    learned, held, note = _split(pictures, network, recipe)
    n = len(learned)
    facts = Facts(n_pairs=n, n_target_tokens=n, n_processes=n_processes)
    return PreparedGlimpses(
        recipe=derive(recipe.model_copy(update={"model": network}), facts),
        source_tokenizer=NoText(),
        target_tokenizer=NoText(),
        validation=GlimpseValidation(held) if held is not None else None,
        account=GlimpseAccount(pictures, 0 if held is None else len(held)),
        note=note,
        fertility={},
        pictures=pictures,
        rows=learned,
    )


def _split(
    pictures: PictureSet, network: GlimpsesSection, recipe: Recipe
) -> tuple[Rows, PictureSet | None, str | None]:
    """Which are learned from, what is held out or named to validate on, and what to say of it."""
    rows = np.arange(len(pictures))
    if recipe.data.valid:
        held = _read(network, recipe.data.valid, "valid")
        if held.labels is None:
            raise DataError(f"{held.name} has no classes: put the pictures of each into a folder.")
        return rows, held, None
    n_held = min(len(pictures) // _HELD_OUT, _MOST_HELD_OUT)
    if not n_held:
        return rows, None, "there are too few pictures to hold some out: the last weights stay"
    order = np.random.default_rng(recipe.training.seed % 2**64).permutation(len(pictures))
    note = f"no validation pictures were named: {counted(n_held, 'picture')} held out instead"
    return np.sort(order[n_held:]), pictures.subset(np.sort(order[:n_held])), note


def _build(network: Network, n_source_tokens: int, n_target_tokens: int) -> Model:
    assert isinstance(network, GlimpsesSection)
    if not network.labels:
        raise RecipeError(
            "model.labels is still empty: labels are found in the training data; name them to "
            "build the model without data"
        )
    size = _size(network)
    return RecurrentAttention(
        len(network.labels),
        Retina(network.patch, network.n_scales, size, min(size, _MOST_CELLS)),
        n_channels=_n_channels(network),
        n_glimpses=network.n_glimpses,
        core=network.core,
        d_hidden=network.d_hidden,
        deviation=network.deviation,
        locator=network.locator,
        baseline=network.baseline,
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
    prepare=_prepare,
    open=PictureClassifier,
    words=Wording(
        command="classify",
        methods=("classify",),
        use="`regard classify` tells with it what pictures show",
        reads="pictures",
        predicts="labels",
        sample=("picture", "label", "told"),
    ),
    data=("images",),
    refusals=IMAGES_ONLY,
)
