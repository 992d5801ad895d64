"""EfficientNet-Lite0 (Tan and Le 2019, Liu 2020): frozen convolutions that know ImageNet.

The Lite networks are EfficientNets without squeeze-and-excitation and with ReLU6 throughout.
Lite0 halves a picture five times, so that a cell stands for 32 × 32 pixels: 7 × 7 cells of
224 × 224 pixels, 14 × 14 of 448 × 448. The weights were learned with TensorFlow, whose padding
puts the odd pixel behind; so does :class:`Padded`.
"""

from collections.abc import Mapping

import torch
from torch import nn
from torch.nn import functional as F

from regard.errors import SizeError
from regard.shapes import Float, Tensor

WIDTH = 1280  # of an annotation
CELL = 32  # pixels, the side of a cell
_EPSILON = 1e-3  # of the norms, as they were trained

# Of each stage: layers, kernel, stride of the first, how much wider inside, channels that leave.
_STAGES = (
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)
_STEM = 32


class Padded(nn.Conv2d):
    """A convolution whose output is ``⌈size / stride⌉``; an odd pixel of padding stands behind."""

    def forward(self, input: Float[Tensor, "B C Y X"]) -> Float[Tensor, "B D Y2 X2"]:  # noqa: A002
        """Pad, and convolve."""
        (height, width), kernel, stride = input.shape[2:], self.kernel_size[0], self.stride[0]
        y, x = (max((-n // stride * -stride) - stride + kernel - n, 0) for n in (height, width))
        around = (x // 2, x - x // 2, y // 2, y - y // 2)
        return super().forward(F.pad(input, around) if x or y else input)


class InvertedResidual(nn.Module):
    """Widen, convolve each channel alone, narrow again; added to what came where shapes allow."""

    def __init__(self, n_in: int, n_out: int, kernel: int, stride: int, widening: int) -> None:
        super().__init__()
        n_inside = n_in * widening
        layers: list[nn.Module] = []
        if widening > 1:
            layers += [Padded(n_in, n_inside, 1, bias=False), _norm(n_inside), nn.ReLU6()]
        alone = Padded(n_inside, n_inside, kernel, stride, groups=n_inside, bias=False)
        layers += [alone, _norm(n_inside), nn.ReLU6()]
        layers += [Padded(n_inside, n_out, 1, bias=False), _norm(n_out)]
        self.layers = nn.Sequential(*layers)
        self.is_residual = stride == 1 and n_in == n_out

    def forward(self, cells: Float[Tensor, "B C Y X"]) -> Float[Tensor, "B D Y2 X2"]:
        """Go through the layers."""
        found: Tensor = self.layers(cells)
        return cells + found if self.is_residual else found


class EfficientNetLite0(nn.Module):
    """The network up to its last convolution, and the classifier of 1,000 ImageNet classes."""

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = [Padded(3, _STEM, 3, 2, bias=False), _norm(_STEM), nn.ReLU6()]
        n_in = _STEM
        for n_layers, kernel, stride, widening, n_out in _STAGES:
            for place in range(n_layers):
                first = stride if place == 0 else 1
                layers.append(InvertedResidual(n_in, n_out, kernel, first, widening))
                n_in = n_out
        layers += [Padded(n_in, WIDTH, 1, bias=False), _norm(WIDTH), nn.ReLU6()]
        self.layers = nn.Sequential(*layers)
        self.classes = nn.Linear(WIDTH, 1000)

    def forward(self, pictures: Float[Tensor, "B 3 Y X"]) -> Float[Tensor, "B S D"]:
        """The annotations of pictures with numbers from -1 to 1, row by row from the top left."""
        if any(n % CELL for n in pictures.shape[2:]):
            raise SizeError(
                f"pictures of {pictures.shape[2]} × {pictures.shape[3]} pixels cannot be divided "
                f"into cells of {CELL} × {CELL}: make height and width multiples of that"
            )
        cells = self.layers(pictures.contiguous(memory_format=torch.channels_last))
        annotations: Tensor = cells.flatten(2).transpose(1, 2)
        return annotations

    def classify(self, pictures: Float[Tensor, "B 3 Y X"]) -> Float[Tensor, "B N"]:
        """The logits of ImageNet's classes: the mean of the annotations decides."""
        logits: Tensor = self.classes(self(pictures).mean(1))
        return logits

    def load_published(self, weights: Mapping[str, Tensor]) -> None:
        """Take weights under the names they were published with: the order is that of the layers.

        Raises:
            SizeError: they are of another network.
        """
        mine = self.state_dict()
        shapes = [tuple(one.shape) for one in mine.values()]
        if shapes != [tuple(one.shape) for one in weights.values()]:
            raise SizeError("these weights are not those of an EfficientNet-Lite0")
        self.load_state_dict(dict(zip(mine, weights.values(), strict=True)))


def _norm(n_channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(n_channels, eps=_EPSILON)
