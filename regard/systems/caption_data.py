"""What a captioner learns from: pictures with captions, read once, and measured on others."""

import hashlib
import math
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch

from regard.attention import Hard
from regard.config import Recipe, known
from regard.corpora.scenes import is_scene
from regard.counting import counted
from regard.data import Account, Batch, Batches, MemoryCorpus, Plan, collate
from regard.data.captions import Captioned, read_captioned
from regard.data.features import FeatureFolder, Grid
from regard.data.images import ImageCodec, open_picture
from regard.decoding import Hypothesis, Search, beam_search, sample
from regard.errors import DataError
from regard.evaluation import Quality
from regard.evaluation.captions import bleu, chrf
from regard.files import whole_folder
from regard.models import Captioner, Model
from regard.shapes import Float, Tensor
from regard.systems.caption_words import caption_words
from regard.systems.picture_sources import (
    PixelSource,
    checked_shape,
    compute_features,
    feature_folder,
    feature_shape,
    foreseen_features,
    section_of,
    source_of,
    stacked,
)
from regard.systems.scoring import windows
from regard.systems.system import Steps
from regard.text import Tokenizer, measure_fertility
from regard.training.defaults import Facts, derive
from regard.training.events import Progressed, Sample
from regard.training.prepared import Prepared
from regard.training.tasks import Task, translation
from regard.training.tokenizers import learned_tokenizers
from regard.training.validation import HeldOut, Measured, Stopped

LONGEST = 100  # tokens of a caption
ROWS = 64  # pictures at once
_HELD_OUT, _MOST_HELD_OUT = 50, 1_000  # one in fifty

Pixels = npt.NDArray[np.uint8]


def search_captions(model: Captioner, source: Tensor, search: Search) -> list[list[Hypothesis]]:
    """The captions of a batch of pictures, best first."""
    most = min(search.limits.most, LONGEST)
    chosen = replace(search, limits=replace(search.limits, most=most))
    if search.sampling is not None:
        return sample(model, source, chosen)
    return beam_search(model, source, chosen)


@runtime_checkable
class PictureStore(Protocol):
    """Pictures by number, as a network reads them."""

    def batch(self, rows: Sequence[int]) -> Float[Tensor, "B Z Y X"]:
        """Some of them, in the order given."""
        ...


@dataclass(frozen=True)
class PixelStore:
    """Pixels that are mapped from disk."""

    codec: ImageCodec
    pixels: Pixels  # N × size × size × 3

    def batch(self, rows: Sequence[int]) -> Float[Tensor, "B Z Y X"]:
        """Some of them, in the order given."""
        return self.codec.collate([self.codec.numbers(self.pixels[i]) for i in rows])


@dataclass(frozen=True)
class FeatureStore:
    """Features that are read from their folder when they are needed."""

    features: FeatureFolder
    keys: tuple[str, ...]
    shape: tuple[int, int, int]
    has_blanks: bool = False  # zeros for those that a run would compute first

    def batch(self, rows: Sequence[int]) -> Float[Tensor, "B Z Y X"]:
        """Some of them, in the order given."""
        return stacked([self._read(self.keys[i]) for i in rows])

    def _read(self, key: str) -> Grid:
        if self.has_blanks and key not in self.features:
            return np.zeros(self.shape, np.float16)
        return checked_shape(self.features.read(key), self.shape, key)


@dataclass(frozen=True)
class CaptionedCorpus:
    """Captions as ids, and the picture that each is of."""

    pictures: PictureStore
    captions: MemoryCorpus
    of: npt.NDArray[np.int64]  # of each caption the number of its picture

    def __len__(self) -> int:
        return len(self.captions)

    def batch(self, rows: Sequence[int]) -> Batch:
        """Some captions with their pictures, in the order given."""
        pictures = self.pictures.batch([int(self.of[i]) for i in rows])
        return Batch(pictures, collate(self.captions, rows).target)


class CaptionBatches(Batches):
    """Pictures whose captions are of like length, together."""

    def __init__(self, captioned: CaptionedCorpus, *share: int) -> None:
        super().__init__(captioned.captions, *share)
        self.captioned = captioned

    def batch(self, rows: npt.NDArray[np.int64]) -> Batch:
        """The captions with these numbers, and their pictures."""
        return self.captioned.batch(rows.tolist())


@dataclass(frozen=True)
class CaptionValidation(HeldOut):
    """Held-out pictures: the loss a word, and how near greedy captions come to the references."""

    captioned: CaptionedCorpus
    sources: tuple[str, ...]  # what each picture is called
    references: tuple[tuple[str, ...], ...]
    tokenizer: Tokenizer

    def batches(self, device: torch.device) -> Iterable[Batch]:
        """All captions, those of like length together."""
        lengths = self.captioned.captions.lengths()[1]
        for rows in windows(np.argsort(lengths, kind="stable").tolist(), ROWS):
            yield self.captioned.batch(rows).to(device)

    def examine(
        self, model: Model, should_stop: Callable[[], bool], decodes: bool, shows_samples: bool
    ) -> Measured:
        """Greedy captions; two of them are shown."""
        assert isinstance(model, Captioner)
        shown = range(min(2, len(self.references))) if shows_samples else ()
        rows = range(len(self.references)) if decodes else shown
        device = next(model.parameters()).device
        written = list[str]()
        for window in windows(rows, ROWS):
            if should_stop():
                raise Stopped
            source = self.captioned.pictures.batch(window).to(device)
            found = search_captions(model, source, Search(width=1))
            written += [self.tokenizer.decode(best.tokens) for (best,) in found]
        samples = tuple(
            Sample(self.sources[i], written[i], self.references[i][0])
            for i in shown
            if i < len(rows)
        )
        quality = quality_of(written, self.references) if decodes else None
        return Measured(math.nan, quality, samples=samples)

    def example(self) -> str | None:
        """The first picture that is a file of its own, or a scene."""
        alone = (one for one in self.sources if is_scene(one) or Path(one).is_file())
        return next(alone, None)


def quality_of(written: Sequence[str], references: Sequence[Sequence[str]]) -> Quality:
    """What a run is told of its captions: BLEU-4 and chrF against all references, and matches."""
    penalised, _ = bleu(
        [caption_words(one) for one in written],
        [[caption_words(one) for one in others] for others in references],
    )
    exact = sum(one in others for one, others in zip(written, references, strict=True))
    signature = "BLEU-4|nrefs:all|case:lc|tok:words|smooth:none|like:pycocoevalcap"
    return Quality(penalised[3], chrf(written, references), exact / len(written), signature)


@dataclass(frozen=True)
class Settling:
    """Words, by hard attention that first learns where to look, and then to look there alone.

    From a share of the run on, fewer and fewer words see all cells and a nat of entropy, which
    was worth something, comes to cost; half of the way from there to the end it is settled.
    """

    expectation: float
    worth: float
    cost: float
    after: float
    updates: int

    def __call__(
        self, model: Model, batch: Batch, smoothing: float
    ) -> tuple[Float[Tensor, ""], int]:
        """The words alone: what is measured draws nothing."""
        return translation(model, batch, smoothing)

    def at(self, update: int) -> Task:
        """What is learned at an update."""
        begins = self.after * self.updates
        way = (update - begins) / max(1.0, (self.updates - begins) / 2)
        settled = min(1.0, max(0.0, way))

        def learned(model: Model, batch: Batch, smoothing: float) -> tuple[Float[Tensor, ""], int]:
            assert isinstance(model, Captioner)
            hard = model.decoder.attention.normaliser
            assert isinstance(hard, Hard)
            hard.expectation = (1 - settled) * self.expectation
            model.entropy = (1 - settled) * self.worth - settled * self.cost
            return translation(model, batch, smoothing)

        return learned


@dataclass(frozen=True)
class PreparedCaptions(Prepared):
    """Pictures to learn from, with their captions."""

    captioned: CaptionedCorpus

    @property
    def task(self) -> Task:
        """Every word of the caption is learned."""
        network = section_of(self.recipe)
        if network.normaliser != "hard" or network.settles_after == 1:
            return translation
        return Settling(
            network.expectation,
            network.entropy,
            network.entropy_cost,
            network.settles_after,
            known(self.recipe.training.updates, "training.updates"),
        )

    def plan(self, rank: int, n_ranks: int) -> Plan:
        """Pictures whose captions are of like length, together."""
        training = self.recipe.training
        batch_tokens = known(training.batch_tokens, "training.batch_tokens")
        return CaptionBatches(self.captioned, training.seed, batch_tokens, rank, n_ranks)


def prepare_captions(recipe: Recipe, folder: Path, *, n_processes: int = 1) -> Prepared:
    """All that a run needs, without telling how far it is."""
    steps = captions_in_steps(recipe, folder, n_processes, is_plan=False)
    while True:
        try:
            next(steps)
        except StopIteration as done:
            prepared: Prepared = done.value
            return prepared


def captions_in_steps(recipe: Recipe, folder: Path, n_processes: int, is_plan: bool) -> Steps:
    """Read pictures and captions, learn a tokenizer of the captions, keep the pixels on disk.

    For a plan, features that are missing stay so, and zeros stand for them.
    """
    if not recipe.data.train:
        raise DataError(
            "there is nothing to learn from: name pictures with --images and their captions with "
            "--captions, a file of both with --data FILE (a path, a tab and a caption a line) or "
            "--corpus scenes:en, or in the recipe as data.train"
        )
    learned, held, notes = _read_both(recipe)
    if is_plan:
        notes += foreseen_features(recipe, folder)
    else:
        yield from compute_features(recipe, folder)
    recipe = _with_features(recipe, folder)
    sides = {"target": lambda: learned.captions}
    tokenizer, *_ = learned_tokenizers(recipe, folder / "training", sides)
    captioned = yield from _numbered(recipe, folder, learned, tokenizer, is_plan)
    facts = Facts(
        n_pairs=len(captioned),
        n_target_tokens=int(captioned.captions.lengths()[1].sum()) + len(captioned),
        n_vocabulary=len(tokenizer),
        n_processes=n_processes,
    )
    validation = None
    if held.pictures:
        measured = yield from _numbered(recipe, folder, held, tokenizer, is_plan)
        validation = CaptionValidation(
            measured,
            tuple(one.name for one in held.pictures),
            tuple(one.captions for one in held.pictures),
            tokenizer,
        )
    return PreparedCaptions(
        recipe=derive(recipe, facts),
        derived_from=facts,
        source_tokenizer=tokenizer,
        target_tokenizer=tokenizer,
        validation=validation,
        account=Account(n_read=learned.n_captions, n_kept=learned.n_captions),
        note="; ".join(notes) or None,
        fertility={"captions": measure_fertility(tokenizer, sides["target"]())},
        captioned=captioned,
    )


def _read_both(recipe: Recipe) -> tuple[Captioned, Captioned, list[str]]:
    """What is learned from, what is held out, and what is to be said of them."""
    learned, held = read_captioned(recipe.data.train), read_captioned(recipe.data.valid)
    n_lost = learned.n_without_picture + held.n_without_picture
    notes = [f"{n_lost:,} names in the files of captions are no picture's"] if n_lost else []
    if not held.pictures:
        pictures = learned.pictures
        n_held = min(len(pictures) // _HELD_OUT, _MOST_HELD_OUT)
        held, learned = Captioned(pictures[:n_held]), Captioned(pictures[n_held:])
        notes.append(
            f"no validation files were named: {counted(n_held, 'picture')} held out instead"
            if n_held
            else "there are too few pictures to hold some out: the last weights stay"
        )
    return learned, held, notes


def _with_features(recipe: Recipe, folder: Path) -> Recipe:
    """The recipe with the shape of features that are given, which follows from them."""
    network = section_of(recipe)
    if network.encoder != "features":
        return recipe
    if recipe.data.features is None:
        raise DataError(
            "model.encoder = features reads what another network has computed: name the folder of "
            "the features with --features DIR"
        )
    shape = FeatureFolder(feature_folder(recipe, folder)).shape()
    return recipe.model_copy(update={"model": network.model_copy(update={"features": shape})})


def _numbered(
    recipe: Recipe, folder: Path, captioned: Captioned, tokenizer: Tokenizer, is_plan: bool
) -> Generator[Progressed, None, CaptionedCorpus]:
    """Captions as ids, and pictures as the network reads them."""
    pictures: PictureStore
    if section_of(recipe).encoder == "convolutions":
        pictures = yield from _pixel_store(recipe, folder / "training" / "data", captioned)
    else:
        pictures = _feature_store(recipe, folder, captioned, is_plan=is_plan)
    ids = tokenizer.encode_many(list(captioned.captions))
    counts = [len(one.captions) for one in captioned.pictures]
    return CaptionedCorpus(
        pictures,
        MemoryCorpus([((), one[:LONGEST]) for one in ids]),
        np.repeat(np.arange(len(counts)), counts),
    )


def _feature_store(
    recipe: Recipe, folder: Path, captioned: Captioned, *, is_plan: bool
) -> FeatureStore:
    features = FeatureFolder(feature_folder(recipe, folder))
    keys = tuple(one.key for one in captioned.pictures)
    is_computed = is_plan and section_of(recipe).encoder == "efficientnet-lite0"
    for one in captioned.pictures:
        if one.key not in features and not is_computed:
            features.read(one.name)  # which says that there are none
    return FeatureStore(features, keys, feature_shape(section_of(recipe)), is_computed)


def _pixel_store(
    recipe: Recipe, folder: Path, captioned: Captioned
) -> Generator[Progressed, None, PixelStore]:
    """Pixels that were read before, of the same pictures, are used again."""
    source = source_of(recipe)
    assert isinstance(source, PixelSource)
    codec, n = source.codec, len(captioned.pictures)
    lines = [f"{codec.size}", *(f"{one.name}\t{one.changed}" for one in captioned.pictures)]
    named = "\n".join(lines)
    place = folder / f"pictures-{hashlib.sha256(named.encode()).hexdigest()[:16]}"
    if not place.is_dir():
        place.parent.mkdir(parents=True, exist_ok=True)
        with whole_folder(place) as filling:
            shape = (n, codec.size, codec.size, 3)
            pixels: Pixels = np.lib.format.open_memmap(
                filling / "pixels.npy", mode="w+", dtype=np.uint8, shape=shape
            )
            for row, one in enumerate(captioned.pictures):
                pixels[row] = codec.pixels(open_picture(one.read(), one.name))
                if (row + 1) % ROWS == 0 or row + 1 == n:
                    yield Progressed("pictures", row + 1, n)
    return PixelStore(codec, np.load(place / "pixels.npy", mmap_mode="r", allow_pickle=False))
