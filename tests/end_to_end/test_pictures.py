"""A generator of pictures through real commands: trained, killed, continued, sampled."""

import json
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import regard
from regard.errors import RegardError
from regard.inspection.figures import figure
from regard.systems.picture_evaluation import PictureEvaluation
from regard.systems.pictures import PictureGenerator
from regard.training import read_metrics
from regard.training.events import Progressed
from tests.end_to_end.commands import begin, run

SIZES = (
    "model.size=16",
    "model.channels=[16, 16, 8]",
    "model.attention=8",
    "model.d_noise=8",
    "training.batch_tokens=8",
    "training.updates=40",
    "training.save_every=2",
)
CHANGES = [part for size in SIZES for part in ("--set", size)]


def asked(place: Path, out: str) -> list[str]:
    return ["train", "sagan", "--images", str(place / "set"), "--out", str(place / out), *CHANGES]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bars and squares, and a generator that has seen a few of them."""
    place = tmp_path_factory.mktemp("pictures")
    random = np.random.default_rng(0)
    for kind in ("bars", "squares"):
        (place / "set" / kind).mkdir(parents=True)
        for i in range(24):
            pixels = np.zeros((16, 16), np.uint8)
            x = int(random.integers(2, 10))
            if kind == "bars":
                pixels[:, x : x + 2] = 255
            else:
                pixels[4:10, x : x + 5] = 200
            Image.fromarray(pixels).save(place / "set" / kind / f"{i}.png")
    done = run(asked(place, "model"))
    assert done.returncode == 0, done.stderr
    assert "48 pictures, grey, 2 classes" in done.stderr
    assert f"Next: regard sample {place / 'model'}" in done.stderr.replace("\n", "")
    return place


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_killed_it_ends_bit_for_bit_the_same(place: Path) -> None:
    for _ in range(2):
        process = begin(asked(place, "killed"))
        for line in process.stderr:
            if ": saved" in line:
                break
        process.kill()
        process.communicate(timeout=60)
        assert process.returncode == -signal.SIGKILL
    done = run(asked(place, "killed"))
    assert done.returncode == 0, done.stderr
    assert "Continuing after update" in done.stderr
    for name in (
        "weights.safetensors",
        "training/checkpoints/000040/weights.safetensors",
        "training/checkpoints/000040/state.safetensors",
    ):
        whole, parted = ((place / one / name).read_bytes() for one in ("model", "killed"))
        assert whole == parted, name
    curves = [read_metrics(place / one / "metrics.jsonl") for one in ("model", "killed")]
    losses = [[one["losses"] for one in curve if "losses" in one] for curve in curves]
    assert losses[0] == losses[1]
    assert losses[0][0].keys() == {"discriminator", "generator"}


def test_what_is_kept_is_the_average_of_the_generator(place: Path) -> None:
    from safetensors.torch import load_file

    kept = load_file(place / "model" / "weights.safetensors")
    last = load_file(place / "model/training/checkpoints/000040/weights.safetensors")
    for name, tensor in kept.items():
        is_same = tensor.equal(last[name])
        assert is_same or not name.startswith("discriminator"), name
    assert not kept["generator.norm.running_mean"].equal(last["generator.norm.running_mean"])


def test_a_sheet_of_samples(place: Path, tmp_path: Path) -> None:
    model = str(place / "model")
    out = tmp_path / "x.png"
    options = ["--class", "bars", "--seed", "3", "--grid", "2x5"]
    done = run(["sample", model, *options, "--out", str(out)])
    assert done.returncode == 0, done.stderr
    with Image.open(out) as sheet:
        assert sheet.size == (5 * 32 + 4 * 2, 2 * 32 + 2)
    array = tmp_path / "x.npy"
    assert run(["sample", model, *options, "--out", str(array)]).returncode == 0
    assert np.load(array).shape == (10, 16, 16, 1)
    way = tmp_path / "way.npy"
    done = run(
        ["sample", model, "--from-seed", "3", "--to-seed", "9", "--grid", "2x4", "--out", str(way)]
    )
    assert done.returncode == 0, done.stderr
    assert np.array_equal(np.load(way)[0], np.load(array)[0])


def test_in_python_pictures_are_arrays(place: Path) -> None:
    model = regard.load(place / "model")
    assert isinstance(model, PictureGenerator)
    assert model.labels == ("bars", "squares")
    three = model.sample(3, label="squares", seed=4)
    assert (three.shape, three.dtype) == ((3, 16, 16, 1), np.uint8)
    assert np.array_equal(model.sample(label=1, seed=5)[0], three[1])
    turns = model.sample(4, seed=4)
    assert np.array_equal(turns[1], model.sample(label="squares", seed=5)[0])
    way = model.interpolate(4, 7, 5, label="squares")
    assert np.array_equal(way[0], three[0])
    assert np.array_equal(way[-1], model.sample(label="squares", seed=7)[0])


def test_info_says_what_it_draws(place: Path) -> None:
    done = run(["info", str(place / "model"), "--json"])
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["model"]["labels"] == ["bars", "squares"]
    assert record["model"]["colours"] == 1


@pytest.mark.parametrize("ending", ["png", "svg", "trace", "json"])
def test_where_the_generator_looked_is_drawn(place: Path, tmp_path: Path, ending: str) -> None:
    out = tmp_path / f"look.{ending}"
    asked = ["look", str(place / "model"), "--seed", "1", "--class", "squares"]
    done = run([*asked, "--place", "3,5", "--place", "0,0", "--save", str(out)])
    assert done.returncode == 0, done.stderr
    assert out.stat().st_size > 500
    assert "the picture of seed 1 of class squares" in done.stdout
    assert "log P" not in done.stdout
    assert "3,5 →" in done.stdout
    if ending == "trace":
        assert run(["look", str(out)]).returncode == 0


def test_a_trace_holds_the_weights_of_the_places_asked_for(place: Path) -> None:
    model = regard.load(place / "model")
    assert isinstance(model, PictureGenerator)
    trace = model.trace("4 bars", "0,7 2,2")
    matrix = trace.attention()
    assert matrix.rows == ("0,7", "2,2")
    assert matrix.shape == (2, 64)
    np.testing.assert_allclose(np.asarray(matrix).sum(-1), 1, rtol=1e-4)
    assert trace.picture is not None
    assert np.array_equal(trace.picture.pixels[:, :, :1], model.sample(label="bars", seed=4)[0])
    assert len(model.trace(4).attention().rows) == 64  # all places, five of which are drawn
    assert len([one for one in figure(model.trace(4)).texts if "," in one and len(one) == 3]) == 5
    with pytest.raises(RegardError, match="does not write"):
        model.ablate(4, "cross.0.0")
    with pytest.raises(RegardError, match="does not write"):
        model.importance([4])
    with pytest.raises(RegardError, match="does not write"):
        model.retrace(trace, "cross.0.0")


def test_it_is_measured_beside_controls(place: Path, tmp_path: Path) -> None:
    model = regard.load(place / "model")
    ruler = tmp_path / "ruler.safetensors"
    told = list[Progressed]()
    images = place / "set"
    found = regard.evaluate(model, images=images, extractor=ruler, updates=30, tell=told.append)
    names = dict.fromkeys(one.what for one in told)
    assert len(told) == 30 * len(names)  # every update of every classifier
    assert "a classifier learns from samples" in names
    assert isinstance(found, PictureEvaluation)
    assert [row.name for row in found.rows] == ["samples", "untrained generator", "real pictures"]
    samples, untrained, real = found.rows
    assert len({samples.frechet, untrained.frechet, real.frechet}) == 3
    assert found["precision"] == samples.precision
    assert all(row.accuracy is not None and 0 <= row.accuracy <= 1 for row in found.rows)
    assert found.extractor == "classifier ruler.safetensors"
    again = regard.evaluate(model, images=place / "set", extractor=ruler, updates=30)
    assert again.to_dict()["rows"][0] == found.to_dict()["rows"][0]
    assert "untrained generator" in [row[0] for row in found.table().rows]


@pytest.mark.slow
def test_measured_by_the_command(place: Path) -> None:
    done = run(["evaluate", str(place / "model"), "--images", str(place / "set"), "--json"])
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["extractor"] == "classifier of set, seed 1"
    assert len(record["rows"]) == 3


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["look", "model", "--seed", "1", "--place", "9,9"], "outside of 8 × 8"),
        (["look", "model", "--class", "bars"], "add --seed"),
        (["look", "model", "a word"], "the number of a seed"),
        (["sample", "model", "--class", "circles"], "knows no class 'circles'"),
        (["sample", "model", "--grid", "8"], "--grid 8"),
        (["sample", "model", "--out", "x.txt"], ".png"),
        (["sample", "model", "--from-seed", "1"], "--to-seed"),
        (["translate", "model"], "does not translate: `regard sample`"),
        (["train", "sagan", "--text", "set/bars/0.png", "--out", "other"], "--images"),
        (
            ["train", "sagan", "--images", "set", "--out", "other", "--set", "model.attention=7"],
            "attention = 7",
        ),
    ],
)
def test_refused_in_one_sentence(place: Path, arguments: list[str], facts: str) -> None:
    verb, *rest = arguments
    done = run([verb, *(str(place / one) if (place / one).exists() else one for one in rest)])
    assert done.returncode == 2
    assert facts in done.stderr
    assert done.stderr.count("\n") == 1
