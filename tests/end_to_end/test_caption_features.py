"""Captions from features that another network has computed."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import regard
from regard.config import read_recipe
from regard.models.efficientnet import EfficientNetLite0
from regard.systems import picture_sources
from regard.systems.runs import plan_training
from regard.training.events import DataRead, ModelBuilt, Planned
from tests.end_to_end.commands import run

SIZES = (
    "model.encoder=features",
    "model.d_embedding=8",
    "model.d_hidden=12",
    "text.size=auto",
    "training.batch_tokens=128",
    "training.updates=4",
    "training.warmup=2",
    "training.validate_every=2",
    "training.save_every=2",
)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("features")
    (place / "pictures").mkdir()
    (place / "features").mkdir()
    lines = []
    for n in range(55):
        Image.new("RGB", (24, 18), (4 * n, 0, 0)).save(place / "pictures" / f"{n}.png")
        np.save(place / "features" / f"{n}.npy", np.full((2, 3, 5), n / 55, np.float32))
        lines += [f"{n}.png#0\tpicture {n % 5}\n", f"{n}.png#1\tred {n % 5}\n"]
    (place / "captions.token").write_text("".join(lines), encoding="utf-8")
    changes = [part for size in SIZES for part in ("--set", size)]
    named = {"images": "pictures", "captions": "captions.token", "features": "features"}
    data = [part for key, name in named.items() for part in (f"--{key}", str(place / name))]
    out = ["--out", str(place / "model")]
    done = run(["train", "caption-photos", *data, *out, *changes])
    assert done.returncode == 0, done.stderr
    return place


def test_a_dry_run_times_features_that_are_missing_and_keeps_none(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(picture_sources, "load_efficientnet", lambda: EfficientNetLite0().eval())
    changes = [*SIZES[1:], "model.size=32", f"data.features={tmp_path / 'kept'}"]
    recipe = read_recipe("caption-photos", changes)
    files = f"{place / 'pictures'}|{place / 'captions.token'}"
    recipe = recipe.model_copy(update={"data": recipe.data.model_copy(update={"train": (files,)})})
    *_, read, built, planned = plan_training(recipe, tmp_path / "model", device="cpu", threads=1)
    assert isinstance(read, DataRead)
    assert "features of 55 pictures are computed and kept first, in about " in str(
        read.prepared.note
    )
    assert isinstance(built, ModelBuilt)
    assert isinstance(planned, Planned)
    assert planned.seconds_an_update > 0
    assert list(tmp_path.iterdir()) == []


def test_a_picture_is_a_name_or_a_file_of_features(place: Path) -> None:
    by_name = run(["caption", str(place / "model"), "3.png"])
    assert by_name.returncode == 0, by_name.stderr
    by_file = run(["caption", str(place / "model"), str(place / "features" / "3.npy")])
    assert by_file.stdout == by_name.stdout
    unknown = run(["caption", str(place / "model"), "nobody.png"])
    assert unknown.returncode == 2
    assert "no features of nobody.png" in unknown.stderr


def test_cells_are_those_of_the_features(place: Path) -> None:
    model = regard.load(place / "model")
    seen = model.trace(place / "pictures" / "3.png", "picture 3")
    assert seen.attention().shape == (3, 6)
    assert seen.picture is not None
    assert seen.picture.grid == (2, 3)
    found = model.evaluate(
        images=place / "pictures", captions=place / "captions.token", controls=True, beam=1
    )
    assert found.to_dict()["n_references"] == 110


def test_features_of_another_shape_are_refused(place: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "other.npy", np.zeros((2, 2, 5), np.float32))
    done = run(["caption", str(place / "model"), str(tmp_path / "other.npy")])
    assert done.returncode == 2
    assert "2 × 2 × 5 numbers, and 2 × 3 × 5 are expected" in done.stderr
