"""Rulers for pictures: networks whose features tell how alike pictures are."""

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch
from torch import nn
from torch.nn import functional as F

from regard.evaluation.pictures import Features
from regard.shapes import Float, Int, Tensor

Pixels = npt.NDArray[np.uint8]  # N × height × width × channels
_ROWS = 256
BATCH = 128
_RATE = 3e-3
_SHIFT = 2  # pixels by which a picture is moved while it is learned


@runtime_checkable
class Extractor(Protocol):
    """What makes features of pictures; its name belongs to every number it measures."""

    @property
    def name(self) -> str:
        """What it is, and what it has learned from."""
        ...

    def features(self, pixels: Pixels) -> Features:
        """A row for each picture."""
        ...


class ConvolutionalClassifier(nn.Module):
    """Four convolutions and a layer of 128 features, from which the class is told."""

    def __init__(self, n_channels: int, n_classes: int, name: str = "classifier") -> None:
        super().__init__()
        self.name = name
        layers: list[nn.Module] = []
        shapes = ((n_channels, 32, 5, 2), (32, 64, 3, 2), (64, 64, 3, 1), (64, 128, 3, 2))
        for n_before, n_after, width, stride in shapes:
            layer = nn.Conv2d(n_before, n_after, width, stride, width // 2, bias=False)
            layers += [layer, nn.BatchNorm2d(n_after), nn.ReLU()]
        # Four by four whatever the size of the picture.
        self.layers = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(4), nn.Flatten())
        self.hidden = nn.Linear(16 * 128, 128)
        self.output = nn.Linear(128, n_classes)

    @classmethod
    def from_weights(
        cls, weights: Mapping[str, Tensor], name: str = "classifier"
    ) -> "ConvolutionalClassifier":
        """The classifier that these are the weights of."""
        n_channels = weights["layers.0.weight"].shape[1]
        found = cls(n_channels, len(weights["output.weight"]), name)
        found.load_state_dict(dict(weights))
        return found.eval()

    def forward(self, pictures: Float[Tensor, "B Z Y X"]) -> Float[Tensor, "B D"]:
        """Features, from which ``output`` tells the class."""
        seen = self.layers(pictures.contiguous(memory_format=torch.channels_last))
        return F.relu(self.hidden(seen))

    @torch.inference_mode()
    def features(self, pixels: Pixels) -> Features:
        """A row for each picture."""
        return np.concatenate([self(part).numpy() for part in _parts(pixels)])

    @torch.inference_mode()
    def classes(self, pixels: Pixels) -> npt.NDArray[np.int64]:
        """The likeliest class of each picture."""
        told = [self.output(self(part)).argmax(-1).numpy() for part in _parts(pixels)]
        return np.concatenate(told)


def _parts(pixels: Pixels) -> Iterator[Float[Tensor, "B Z Y X"]]:
    return (_numbers(pixels[first : first + _ROWS]) for first in range(0, len(pixels), _ROWS))


def _numbers(pixels: Pixels) -> Float[Tensor, "B Z Y X"]:
    return torch.from_numpy(pixels.astype(np.float32)).permute(0, 3, 1, 2).div_(127.5).sub_(1)


def fit_classifier(
    pixels: Pixels,
    labels: npt.NDArray[np.int64],
    n_classes: int,
    *,
    updates: int = 2500,
    seed: int = 1,
    name: str = "classifier",
    tell: Callable[[int], None] = lambda update: None,
) -> ConvolutionalClassifier:
    """A classifier of these pictures; the same ones and the same seed give the same.

    ``tell`` is told the number of every update.
    """
    random = np.random.default_rng(seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = ConvolutionalClassifier(pixels.shape[3], n_classes, name).train()
    adam = torch.optim.AdamW(model.parameters(), lr=_RATE, weight_decay=1e-2)
    for update in range(updates):
        # Up for a twentieth of the way, then down along half a cosine.
        way = (update + 1) / updates
        rate = min(1.0, 20 * way) * 0.5 * (1 + math.cos(math.pi * way))
        adam.param_groups[0]["lr"] = _RATE * rate
        rows = random.integers(0, len(pixels), BATCH)
        shifted = _shifted(pixels[rows], random)
        _step(model, adam, _numbers(shifted), torch.from_numpy(labels[rows]))
        tell(update + 1)
    return model.eval()


def _step(
    model: ConvolutionalClassifier,
    adam: torch.optim.Optimizer,
    pictures: Float[Tensor, "B Z Y X"],
    labels: Int[Tensor, "B"],
) -> None:
    adam.zero_grad()
    loss = F.cross_entropy(model.output(model(pictures)), labels)
    loss.backward()  # type: ignore[no-untyped-call]
    adam.step()


def _shifted(pixels: Pixels, random: np.random.Generator) -> Pixels:
    """All of a batch moved alike, by a few pixels; what is beyond the edge repeats it."""
    down, right = random.integers(0, 2 * _SHIFT + 1, 2)
    padded = np.pad(pixels, ((0, 0), (_SHIFT, _SHIFT), (_SHIFT, _SHIFT), (0, 0)), mode="edge")
    height, width = pixels.shape[1:3]
    return padded[:, down : down + height, right : right + width]
