"""How good a generator of pictures is, beside an untrained one and the real pictures themselves."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional as F

from regard.data import PictureSet
from regard.errors import MissingExtraError, UsageError
from regard.evaluation.extractors import ConvolutionalClassifier, Extractor, fit_classifier
from regard.evaluation.pictures import Features, closeness
from regard.folder.weights import read_weights, write_weights
from regard.models.efficientnet import EfficientNetLite0
from regard.systems.evaluation import ScoreTable, TabledScores
from regard.systems.picture_sources import load_efficientnet
from regard.training.events import Progressed

if TYPE_CHECKING:
    from regard.systems.further_training import Tell

Pixels = npt.NDArray[np.uint8]
_ENDING = ".safetensors"
_EFFICIENTNET = "efficientnet-lite0"
_HEIGHT, _CELL, _ROWS = 128, 32, 64


@dataclass(frozen=True)
class PictureScores:
    """The measures of one set of pictures against the real ones.

    ``accuracy`` is that of a classifier which learned from this set alone, on real pictures (Ravuri
    and Vinyals 2019): none of a set that it could not learn classes from.
    """

    name: str
    frechet: float
    precision: float
    recall: float
    accuracy: float | None = None


@dataclass(frozen=True, repr=False)
class PictureEvaluation(TabledScores):
    """How near samples come to real pictures, by a ruler that is named, with rows to compare by."""

    model: str
    images: str
    extractor: str  # the ruler: numbers of another one are others
    n_pictures: int
    rows: list[PictureScores]  # of samples, an untrained generator, and real pictures

    @property
    def scores(self) -> Mapping[str, float]:
        """Those of the samples."""
        found = asdict(self.rows[0])
        return {key: value for key, value in found.items() if isinstance(value, float)}

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain data."""
        return asdict(self)

    def table(self) -> ScoreTable:
        """A row for samples, an untrained generator and real pictures."""
        return ScoreTable(
            f"{self.model} against {self.n_pictures:,} pictures of {self.images}\n"
            f"ruler: {self.extractor}",
            ("pictures", "Fréchet", "precision", "recall", "accuracy"),
            [_cells(row) for row in self.rows],
            (
                "Fréchet distance: less is nearer. Accuracy: on real pictures, of a classifier "
                "that learned from the pictures of the row alone.",
            ),
        )


def _cells(row: PictureScores) -> tuple[str, ...]:
    shares = (row.precision, row.recall, row.accuracy)
    told = ("–" if one is None else f"{100 * one:.1f} %" for one in shares)
    return (row.name, f"{row.frechet:.2f}", *told)


@dataclass(frozen=True)
class EfficientNetExtractor:
    """The mean of the last map of an EfficientNet-Lite0, which has seen ImageNet."""

    name: str = f"EfficientNet-Lite0, ImageNet, {_HEIGHT} pixels high"

    @torch.inference_mode()
    def features(self, pixels: Pixels) -> Features:
        """A row for each picture, which is made larger first."""
        network = _efficientnet()
        width = _HEIGHT * pixels.shape[2] // pixels.shape[1] // _CELL * _CELL
        found = []
        for first in range(0, len(pixels), _ROWS):
            part = torch.from_numpy(pixels[first : first + _ROWS]).permute(0, 3, 1, 2).float()
            large = F.interpolate(part, (_HEIGHT, max(_CELL, width)), mode="bilinear")
            coloured = large.expand(-1, 3, -1, -1) / 127.5 - 1
            found.append(network(coloured).mean(1).numpy())
        return np.concatenate(found)


def _efficientnet() -> EfficientNetLite0:
    try:
        return load_efficientnet()
    except MissingExtraError as error:
        raise MissingExtraError(f"--extractor {_EFFICIENTNET}", "vision") from error


@dataclass(frozen=True)
class PictureRuler:
    """Real pictures to measure by, others to learn from, and what makes features of both."""

    learned: PictureSet
    held: PictureSet
    extractor: Extractor
    updates: int
    seed: int
    is_own: bool = False  # whether it is the classifier that learned from these
    tell: "Tell" = lambda event: None  # is told how far classifiers are

    def measure(
        self, name: str, pixels: Pixels, labels: npt.NDArray[np.int64] | None
    ) -> PictureScores:
        """The scores of a set of pictures, with the class that each is meant to be of."""
        n = min(len(pixels), len(self.held))
        seen = self.extractor.features(pixels[:n])
        near = closeness(self.extractor.features(self.held.pixels), seen)
        return PictureScores(name, **asdict(near), accuracy=self._accuracy(name, pixels, labels))

    def _accuracy(
        self, name: str, pixels: Pixels, labels: npt.NDArray[np.int64] | None
    ) -> float | None:
        """Of a classifier that has seen nothing else, on the real pictures."""
        if labels is None or self.held.labels is None:
            return None
        classifier = self.extractor
        is_known = self.is_own and pixels is self.learned.pixels
        if not is_known or not isinstance(classifier, ConvolutionalClassifier):
            n_classes = len(self.held.classes)
            classifier = fit_classifier(
                pixels,
                labels,
                n_classes,
                updates=self.updates,
                seed=self.seed,
                tell=_teller(self.tell, name, self.updates),
            )
        return float((classifier.classes(self.held.pixels) == self.held.labels).mean())


def ruler_of(
    learned: PictureSet,
    held: PictureSet,
    extractor: str | Path | Extractor | None,
    *,
    updates: int,
    seed: int,
    tell: "Tell" = lambda event: None,
) -> PictureRuler:
    """The ruler that is asked for: efficientnet-lite0, a classifier's weights, or a new classifier.

    A file that is not there is written, so that the next model is measured by the same.
    """
    if str(extractor) == _EFFICIENTNET:
        _efficientnet()
        extractor = EfficientNetExtractor()
    if isinstance(extractor, Extractor):
        return PictureRuler(learned, held, extractor, updates, seed, tell=tell)
    path = None if extractor is None else Path(extractor)
    if path is not None and path.suffix != _ENDING:
        raise UsageError(
            f"{path} is no ruler: name a file that ends in {_ENDING}, or {_EFFICIENTNET}"
        )
    if path is not None and path.is_file():
        found = ConvolutionalClassifier.from_weights(read_weights(path), f"classifier {path.name}")
        return PictureRuler(learned, held, found, updates, seed, tell=tell)
    if learned.labels is None:
        raise UsageError(
            f"{learned.name} has no classes, so that no classifier can learn to see its pictures: "
            "name a ruler that was made for others with --extractor FILE"
        )
    name = f"classifier of {Path(learned.name).name or learned.name}, seed {seed}"
    made = fit_classifier(
        learned.pixels,
        learned.labels,
        len(learned.classes),
        updates=updates,
        seed=seed,
        name=name if path is None else f"classifier {path.name}",
        tell=_teller(tell, "real pictures", updates),
    )
    if path is not None:
        write_weights(path, made)
    return PictureRuler(learned, held, made, updates, seed, is_own=True, tell=tell)


def _teller(tell: "Tell", name: str, updates: int) -> Callable[[int], None]:
    return lambda update: tell(Progressed(f"a classifier learns from {name}", update, updates))


def split_pictures(learned: PictureSet, held: PictureSet) -> tuple[PictureSet, PictureSet]:
    """Both as they are, or, where they are one and the same set, a fifth apart from the rest."""
    if learned.pixels.shape != held.pixels.shape or not np.array_equal(learned.pixels, held.pixels):
        return learned, held
    order = np.random.default_rng(0).permutation(len(learned))
    apart = max(1, len(order) // 5)
    return learned.subset(np.sort(order[apart:])), learned.subset(np.sort(order[:apart]))
