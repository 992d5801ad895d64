"""Glimpses in training: pictures with classes, what a batch teaches, and what is held out."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from regard.config import Recipe, known
from regard.config.glimpses import GlimpsesSection
from regard.corpora.drawn import is_drawn
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
from regard.errors import DataError, RecipeError
from regard.evaluation import LabelQuality, accuracy, by_label, macro_f1
from regard.models import Model, RecurrentAttention, baseline_loss, reinforce
from regard.models.glimpses import Glimpsed
from regard.shapes import Float, Int, Tensor
from regard.systems.scoring import windows
from regard.text import NoText
from regard.training.defaults import Facts, derive
from regard.training.events import Sample
from regard.training.prepared import Prepared
from regard.training.tasks import Task
from regard.training.validation import HeldOut, Stopped

ROWS = 256  # pictures at once
MOST_NAMED = 12  # classes that a line names
EARLY = 0.5  # of the loss, where every glimpse gets feedback: the mean of all
_HELD_OUT, _MOST_HELD_OUT = 10, 5_000  # one in ten


@dataclass(frozen=True)
class GlimpseValidation(HeldOut):
    """Held-out pictures: the loss, and how many labels are right."""

    pictures: PictureSet

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All of them."""
        plan = PictureBatches(self.pictures, 0, ROWS)
        for rows in windows(range(len(self.pictures)), ROWS):
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
        """The first picture, if it is a file of its own or drawn by its name."""
        first = self.pictures.files[0] if self.pictures.files else ""
        return first if is_drawn(first) or Path(first).is_file() else None


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
            for number, name in enumerate(self.pictures.classes[:MOST_NAMED])
        )
        more = ", ..." if len(self.pictures.classes) > MOST_NAMED else ""
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
        until = section_of(self.recipe).early_until
        if until == 1:
            return glimpse_loss
        return FadingFeedback(until, known(self.recipe.training.updates, "training.updates"))

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """Pictures in an order of each epoch's own."""
        training = self.recipe.training
        n_pictures = known(training.batch_tokens, "training.batch_tokens")
        return PictureBatches(self.pictures, training.seed, n_pictures, rank, n_ranks, self.rows)


@dataclass(frozen=True)
class FadingFeedback:
    """What early glimpses have to tell counts until a share of the run, and less and less then.

    Rewards stay: where to look is learned from every glimpse to the end.
    """

    until: float
    updates: int

    def __call__(
        self, model: Model, batch: Batch, smoothing: float
    ) -> tuple[Float[Tensor, ""], int]:
        """The last glimpse alone counts where nothing is learned."""
        return glimpse_loss(model, batch, smoothing)

    def at(self, update: int) -> Task:
        """What is learned at an update."""
        left = (self.updates - update) / max(1.0, (1 - self.until) * self.updates)
        return partial(glimpse_loss, early=EARLY * min(1.0, max(0.0, left)))


def glimpse_loss(
    model: Model, batch: Batch, smoothing: float, early: float = EARLY
) -> tuple[Float[Tensor, ""], int]:
    """Tell what each picture shows; while learning, draws that led to it become more probable.

    With feedback of every glimpse, the share ``early`` of the loss is that of all of them.
    """
    assert isinstance(model, RecurrentAttention)
    labels = batch.target[:, 0]
    first = None if model.training else first_places(batch.source)
    seen = model.look(batch.source, first)
    loss = _told(seen.logits[:, -1:], labels, smoothing)
    if model.training and model.feedback != "last":
        loss = (1 - early) * loss + early * _told(seen.logits, labels, smoothing)
    if model.training and seen.alone is not None:
        alone = _told(seen.alone, labels, smoothing)  # of its own weights: it only gives rewards
        loss = loss + alone - alone.detach()
    if model.training and model.draws:
        loss = loss + _learned_places(model, seen, labels)
    return loss, len(labels)


def _told(
    logits: Float[Tensor, "B T C"], labels: Int[Tensor, "B"], smoothing: float
) -> Float[Tensor, ""]:
    """``-Σ log P(label)``, the mean over glimpses."""
    n_glimpses = logits.shape[1]
    every = labels[:, None].expand(-1, n_glimpses).flatten()
    told = F.cross_entropy(logits.flatten(0, 1), every, reduction="sum", label_smoothing=smoothing)
    return told / n_glimpses


def _learned_places(
    model: RecurrentAttention, seen: Glimpsed, labels: Int[Tensor, "B"]
) -> Float[Tensor, ""]:
    """REINFORCE of every place but the first. Its value is 0."""
    reward = rewards(seen, labels, model.feedback)
    if model.average is not None:
        return reinforce(seen.log_probability, reward, model.average(reward))
    places = reinforce(seen.log_probability, reward, seen.expected)
    if model.expecting is None:
        return places
    expecting = baseline_loss(seen.expected, reward)
    return places + expecting - expecting.detach()


def rewards(seen: Glimpsed, labels: Int[Tensor, "B"], feedback: str) -> Float[Tensor, "B U"]:
    """What every place but the first was worth.

    "last": 1 where the label is right in the end. "every": how probable the right label is after
    the glimpse at that place, for which neither earlier nor later ones are praised or blamed.
    "alone": the mean of that and of how probable it is by that glimpse alone.
    """
    n_draws = seen.logits.shape[1] - 1
    if feedback == "last":
        is_right = (seen.logits[:, -1].argmax(-1) == labels).to(seen.logits.dtype)
        return is_right[:, None].expand(-1, n_draws)
    reward = _of_label(seen.logits, labels)
    return reward if seen.alone is None else (reward + _of_label(seen.alone, labels)) / 2


def _of_label(logits: Float[Tensor, "B T C"], labels: Int[Tensor, "B"]) -> Float[Tensor, "B U"]:
    """How probable the right label is after each glimpse but the first."""
    chosen = labels[:, None, None].expand(-1, logits.shape[1] - 1, 1)
    return logits.detach()[:, 1:].softmax(-1).gather(2, chosen)[..., 0]


def first_places(pictures: Float[Tensor, "B Z Y X"]) -> Float[Tensor, "B 2"]:
    """Where the first glimpse falls: anywhere, but always there for the same picture."""
    content = pictures.detach().float().cpu().numpy()
    digests = [hashlib.blake2b(one.tobytes(), digest_size=8).digest() for one in content]
    numbers = np.frombuffer(b"".join(digests), "<u4").reshape(-1, 2).astype(np.float64)
    return torch.from_numpy(numbers / 2**31 - 1).to(pictures)


def section_of(recipe: Recipe) -> GlimpsesSection:
    """The keys of the network in a recipe."""
    assert isinstance(recipe.model, GlimpsesSection)
    return recipe.model


def size_of(network: GlimpsesSection) -> int:
    """Pixels along a side of its pictures; refuses a recipe that leaves them open."""
    if network.size == "auto":
        raise RecipeError(
            "model.size is still open: it follows from the training data; say it to build the "
            "model without data"
        )
    return network.size


def n_channels_of(network: GlimpsesSection) -> int:
    """3, or 1 of grey."""
    return 1 if network.colours == "auto" else network.colours


def read_glimpsed(network: GlimpsesSection, names: Sequence[str], part: Part) -> PictureSet:
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
        return read_glimpsed(square, names, part)
    return together


def prepare_glimpses(recipe: Recipe, folder: Path, *, n_processes: int = 1) -> Prepared:
    """Read pictures and their classes, and hold some out."""
    if not recipe.data.train:
        raise DataError(
            "there is nothing to learn from: name pictures with --images DIR or --corpus digits, "
            "or in the recipe as data.train"
        )
    pictures = read_glimpsed(section_of(recipe), recipe.data.train, "train")
    if pictures.labels is None or len(pictures.classes) < 2:
        raise DataError(
            f"{pictures.name} has {'one class' if pictures.classes else 'no classes'}, and there "
            "is nothing to tell apart: put the pictures of each class into a folder of its own."
        )
    found = {"size": pictures.size[0], "colours": pictures.n_channels, "labels": pictures.classes}
    network = section_of(recipe).model_copy(update=found)
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
        derived_from=facts,
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
        held = read_glimpsed(network, recipe.data.valid, "valid")
        if held.labels is None:
            raise DataError(f"{held.name} has no classes: put the pictures of each into a folder.")
        return rows, held, None
    n_held = min(len(pictures) // _HELD_OUT, _MOST_HELD_OUT)
    if not n_held:
        return rows, None, "there are too few pictures to hold some out: the last weights stay"
    order = np.random.default_rng(recipe.training.seed % 2**64).permutation(len(pictures))
    note = f"no validation pictures were named: {counted(n_held, 'picture')} held out instead"
    return np.sort(order[n_held:]), pictures.subset(np.sort(order[:n_held])), note
