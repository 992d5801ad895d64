"""The Self-Attention GAN: a generator that looks at all of its picture while it draws it.

Zhang, Goodfellow, Metaxas and Odena (2018). Convolutions see a few pixels around each; a layer of
attention in the generator, and one in the discriminator, lets every place look at every other. Both
are kept in bounds by spectral normalisation (Miyato et al. 2018); the generator is told the class
by conditional batch normalisation (Dumoulin et al. 2017), the discriminator by projection (Miyato
and Koyama 2018).

The residual blocks are narrower than the paper's where maps are large: what can be computed on the
coarser of two maps is, which makes an update three times as fast on a processor.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention import Attention, Dot, Site
from regard.errors import SizeError
from regard.models.model import Model
from regard.models.spectral import SpectralNorm, spectral
from regard.shapes import Float, Int, Tensor


def _convolution(n_before: int, n_after: int, width: int = 3, stride: int = 1) -> nn.Module:
    return spectral(nn.Conv2d(n_before, n_after, width, stride, padding=(width - 1) // 2))


class SelfAttention(nn.Module):
    """``y = x + γ o`` with ``oⱼ = W_v Σᵢ softmaxᵢ((W_f xᵢ)·(W_g xⱼ)) W_h xᵢ`` over all places.

    Keys and queries have C/8 channels, values C/2. γ begins at 0: the convolutions come first, and
    far places when there is something to see.
    """

    def __init__(self, n_channels: int) -> None:
        super().__init__()
        d_key, d_value = max(1, n_channels // 8), max(1, n_channels // 2)
        self.query, self.key = (
            spectral(nn.Linear(n_channels, d_key, bias=False)) for _ in range(2)
        )
        self.value = spectral(nn.Linear(n_channels, d_value, bias=False))
        self.output = spectral(nn.Linear(d_value, n_channels, bias=False))
        self.attention = Attention(Dot(d_key, d_key))
        self.gamma = nn.Parameter(torch.zeros(()))

    def forward(self, x: Float[Tensor, "B Z Y X"]) -> Float[Tensor, "B Z Y X"]:
        """Let every place look at all."""
        places = x.permute(0, 2, 3, 1).flatten(1, 2)
        query, key, value = (
            # One head: the axis that several would stand on is in the second place.
            layer(places)[:, None]
            for layer in (self.query, self.key, self.value)
        )
        found = self.output(self.attention(query, key, value).context[:, 0])
        seen: Tensor = places + self.gamma * found
        return seen.view(x.shape[0], *x.shape[2:], x.shape[1]).permute(0, 3, 1, 2)


class ConditionalBatchNorm(nn.Module):
    """``(1 + W_γ c)(x - μ) / σ + W_β c``: its scale and shift are those of a code c.

    The code is the noise and the class, side by side, so that both are heard at every map and not
    only at the coarsest (Brock et al. 2019).
    """

    def __init__(self, n_channels: int, d_code: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm2d(n_channels, affine=False)
        self.told = spectral(nn.Linear(d_code, 2 * n_channels, bias=False))

    def forward(
        self, x: Float[Tensor, "B Z Y X"], code: Float[Tensor, "B E"]
    ) -> Float[Tensor, "B Z Y X"]:
        """Normalise, and scale and shift as the code says."""
        scale, shift = self.told(code)[:, :, None, None].chunk(2, 1)
        return torch.addcmul(shift, self.norm(x), 1 + scale)


class GeneratorBlock(nn.Module):
    """Twice as high and wide: two convolutions beside a shortcut, each behind norm and ReLU."""

    def __init__(self, n_before: int, n_after: int, d_code: int) -> None:
        super().__init__()
        self.norms = nn.ModuleList(ConditionalBatchNorm(n, d_code) for n in (n_before, n_after))
        self.first = _convolution(n_before, n_after)
        self.second = _convolution(n_after, n_after)
        self.shortcut = _convolution(n_before, n_after, 1)

    def forward(
        self, x: Float[Tensor, "B Z Y X"], code: Float[Tensor, "B E"]
    ) -> Float[Tensor, "B D Y2 X2"]:
        """Draw it finer."""
        hidden: Tensor = self.first(F.relu(self.norms[0](x, code)))
        hidden = self.second(_doubled(F.relu(self.norms[1](hidden, code))))
        return hidden + _doubled(self.shortcut(x))


def _doubled(x: Float[Tensor, "B Z Y X"]) -> Float[Tensor, "B C Y2 X2"]:
    return F.interpolate(x, scale_factor=2, mode="nearest")


class Generator(nn.Module):
    """From noise and a class to a picture; the channels are those of its maps, coarsest first."""

    def __init__(
        self,
        size: tuple[int, int],
        channels: Sequence[int],
        *,
        n_colours: int,
        n_classes: int,
        d_noise: int,
        attention: int,
    ) -> None:
        super().__init__()
        self.coarsest = _coarsest(size, len(channels) - 1)
        self.classes = nn.Embedding(n_classes, d_noise)
        n_first = channels[0] * self.coarsest[0] * self.coarsest[1]
        self.first = spectral(nn.Linear(2 * d_noise, n_first))
        self.blocks = nn.ModuleList(
            GeneratorBlock(before, after, 2 * d_noise) for before, after in pairwise(channels)
        )
        heights = [self.coarsest[0] * 2 ** (n + 1) for n in range(len(self.blocks))]
        self.attending = heights.index(attention) if attention in heights else None
        self.attention = (
            None if self.attending is None else SelfAttention(channels[self.attending + 1])
        )
        self.norm = nn.BatchNorm2d(channels[-1])
        self.last = _convolution(channels[-1], n_colours)

    def forward(
        self, noise: Float[Tensor, "B E"], labels: Int[Tensor, "B"]
    ) -> Float[Tensor, "B Z Y X"]:
        """Draw a picture, from -1 to 1."""
        code = torch.cat([noise, self.classes(labels)], 1)
        x = self.first(code).unflatten(1, (-1, *self.coarsest))
        # Convolutions of a CPU are far sooner done with the channels of a pixel side by side.
        x = x.contiguous(memory_format=torch.channels_last)
        for n, block in enumerate(self.blocks):
            x = block(x, code)
            if self.attention is not None and n == self.attending:
                x = self.attention(x)
        return torch.tanh(self.last(F.relu(self.norm(x))))


class DiscriminatorBlock(nn.Module):
    """Half as high and wide, unless it is the last: two convolutions beside a shortcut."""

    def __init__(self, n_before: int, n_after: int, *, is_first: bool, halves: bool) -> None:
        super().__init__()
        self.is_first, self.halves = is_first, halves
        self.first = _convolution(n_before, n_after, *((4, 2) if halves else (3, 1)))
        self.second = _convolution(n_after, n_after)
        self.shortcut = _convolution(n_before, n_after, 1)

    def forward(self, x: Float[Tensor, "B Z Y X"]) -> Float[Tensor, "B D Y2 X2"]:
        """See it coarser."""
        # Pixels are not cut off at 0.
        hidden: Tensor = self.second(F.relu(self.first(x if self.is_first else F.relu(x))))
        past: Tensor = self.shortcut(_halved(x) if self.halves else x)
        return hidden + past


def _halved(x: Float[Tensor, "B Z Y X"]) -> Float[Tensor, "B Z Y2 X2"]:
    """The means of 2 × 2 pixels; torch's own pooling takes longer on a processor."""
    upper, lower = x[:, :, ::2], x[:, :, 1::2]
    return (upper[..., ::2] + upper[..., 1::2] + lower[..., ::2] + lower[..., 1::2]) / 4


def variety(
    x: Float[Tensor, "B Z Y X"], groups: Int[Tensor, "B"], n_groups: int
) -> Float[Tensor, "B"]:
    """How much the pictures of each one's group differ: their standard deviation, averaged.

    Karras et al. (2018) take it of a batch; where classes are told, each has to vary in itself.
    """
    flat = x.float().flatten(1)
    counts = groups.bincount(minlength=n_groups).clamp(min=1)[:, None]
    nothing = flat.new_zeros(n_groups, flat.shape[1])
    mean = nothing.index_add(0, groups, flat) / counts
    square = nothing.index_add(0, groups, (flat - mean[groups]).square()) / counts
    return (square + 1e-4).sqrt().mean(1)[groups]


class Discriminator(nn.Module):
    """How real a picture of a class is: ``wᵀh + e_yᵀh`` with h the sum over the last map.

    Before the last block it is shown how much the pictures of each class differ, without which a
    generator that draws one picture a class is found out late.
    """

    def __init__(
        self,
        size: tuple[int, int],
        channels: Sequence[int],
        *,
        n_colours: int,
        n_classes: int,
        attention: int,
    ) -> None:
        super().__init__()
        _coarsest(size, len(channels) - 1)
        widths = [n_colours, *reversed(channels[1:]), channels[0]]
        n_blocks = len(widths) - 1
        self.n_classes = n_classes
        self.blocks = nn.ModuleList(
            DiscriminatorBlock(
                before + (n == n_blocks - 1), after, is_first=n == 0, halves=n < n_blocks - 1
            )
            for n, (before, after) in enumerate(pairwise(widths))
        )
        heights = [size[0] // 2 ** (n + 1) for n in range(n_blocks - 1)]
        self.attending = heights.index(attention) if attention in heights else None
        self.attention = (
            None if self.attending is None else SelfAttention(widths[self.attending + 1])
        )
        self.last = spectral(nn.Linear(channels[0], 1))
        self.classes = spectral(nn.Embedding(n_classes, channels[0])) if n_classes > 1 else None

    def forward(
        self, pictures: Float[Tensor, "B Z Y X"], labels: Int[Tensor, "B"], n_sets: int = 1
    ) -> Float[Tensor, "B"]:
        """More for what looks real, less for what looks drawn.

        Of several sets, one after the other and equally large, each is compared with itself alone.
        """
        x = pictures.contiguous(memory_format=torch.channels_last)
        sets = torch.arange(n_sets, device=labels.device).repeat_interleave(len(labels) // n_sets)
        groups = sets * self.n_classes + labels
        for n, block in enumerate(self.blocks):
            if n == len(self.blocks) - 1:
                differ = variety(x, groups, n_sets * self.n_classes).to(x.dtype)
                plane = differ[:, None, None, None].expand(-1, 1, *x.shape[2:])
                x = torch.cat([x, plane], 1).contiguous(memory_format=torch.channels_last)
            x = block(x)
            if self.attention is not None and n == self.attending:
                x = self.attention(x)
        hidden = F.relu(x).sum((2, 3))
        real: Tensor = self.last(hidden)[:, 0]
        if self.classes is None:
            return real
        of_class: Tensor = (self.classes(labels) * hidden).sum(-1)
        return real + of_class


class Sagan(Model):
    """A generator and a discriminator, which learn against each other.

    ``channels`` are those of the generator's maps from the coarsest to the finest, each twice as
    high and wide as the one before; the discriminator has them the other way round. Both attend on
    the map that is ``attention`` high, or nowhere where that is 0.
    """

    def __init__(
        self,
        size: tuple[int, int],
        channels: Sequence[int],
        *,
        n_colours: int = 3,
        n_classes: int = 1,
        d_noise: int = 128,
        attention: int = 0,
    ) -> None:
        super().__init__(padding=0)
        self.d_noise = d_noise
        maps = {"n_colours": n_colours, "n_classes": n_classes, "attention": attention}
        self.generator = Generator(size, channels, d_noise=d_noise, **maps)
        self.discriminator = Discriminator(size, channels, **maps)
        if attention and self.generator.attention is None:
            raise SizeError(
                f"no map of a picture of {size[0]} × {size[1]} is {attention} high after "
                f"{len(channels) - 1} doublings: attend where there is one, or nowhere with 0"
            )

    @property
    def sites(self) -> tuple[Site, ...]:
        """Where the generator attends: places look at places."""
        if self.generator.attention is None:
            return ()
        return (Site("cross", 0, "generator.attention.attention.weights"),)

    def draw(
        self, labels: Int[Tensor, "B"], generator: torch.Generator | None = None
    ) -> Float[Tensor, "B Z Y X"]:
        """A picture of each class, from noise of torch's own generator or the one given."""
        noise = torch.randn(len(labels), self.d_noise, generator=generator)
        drawn: Tensor = self.generator(noise.to(labels.device), labels)
        return drawn

    def singular_values(self) -> Iterator[tuple[str, float]]:
        """The largest singular value of every layer that is normalised, by its name."""
        for name, module in self.named_modules():
            if isinstance(module, SpectralNorm):
                layer = self.get_submodule(name.rpartition(".parametrizations.")[0])
                assert isinstance(layer.weight, Tensor)
                matrix = layer.weight.detach().flatten(1).double()
                found = float(torch.linalg.matrix_norm(matrix, 2))
                yield name.rpartition(".parametrizations.")[0], found


def _coarsest(size: tuple[int, int], n_doublings: int) -> tuple[int, int]:
    """Height and width of the map that becomes a picture by doubling."""
    factor = 2**n_doublings
    if n_doublings < 1 or any(n % factor or n < factor for n in size):
        raise SizeError(
            f"a picture of {size[0]} × {size[1]} cannot be halved {n_doublings} times: choose "
            "another size, or as many channels as there are maps"
        )
    return size[0] // factor, size[1] // factor


def hinge_of_discriminator(
    real: Float[Tensor, "B"], drawn: Float[Tensor, "B"]
) -> Float[Tensor, ""]:
    """``Σ max(0, 1 - D(x)) + Σ max(0, 1 + D(G(z)))``: no more is won beyond a margin."""
    return F.relu(1 - real).sum() + F.relu(1 + drawn).sum()


def hinge_of_generator(drawn: Float[Tensor, "B"]) -> Float[Tensor, ""]:
    """``-Σ D(G(z))``."""
    return -drawn.sum()
