"""The Recurrent Attention Model through real commands: the same joints as every other system."""

import json
import sys
from pathlib import Path
from shutil import copyfile

import numpy as np
import pytest
from PIL import Image

import regard
from regard.data import read_picture_set
from regard.data.idx_files import write_idx
from regard.systems.glimpse_results import GlimpseEvaluation, PictureLabel
from regard.systems.glimpses import PictureClassifier
from tests.end_to_end.commands import begin, run

SIZES = {
    "model.d_hidden": 16,
    "model.n_glimpses": 3,
    "model.n_scales": 2,
    "training.batch_tokens": 32,
    "training.updates": 8,
    "training.warmup": 2,
    "training.validate_every": 4,
    "training.save_every": 4,
}
CHANGES = [part for key, value in SIZES.items() for part in ("--set", f"{key}={value}")]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Digits as pictures in folders, as idx files with boxes, and a model that has seen little."""
    place = tmp_path_factory.mktemp("glimpses")
    digits = read_picture_set("digits:train:120")
    assert digits.labels is not None
    for row, label in enumerate(digits.labels.tolist()):
        path = place / "digits" / digits.classes[label] / f"{row}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(digits.pixels[row, :, :, 0]).save(path)
    (place / "idx").mkdir()
    write_idx(place / "idx/t10k-images-idx3-ubyte", digits.pixels[:40, :, :, 0])
    write_idx(place / "idx/t10k-labels-idx1-ubyte", digits.labels[:40].astype(np.uint8))
    boxes = np.array([[4, 4, 24, 24]] * 40, np.int16)
    write_idx(place / "idx/t10k-boxes-idx2-short", boxes)
    done = run(
        ["train", "ram", "--images", str(place / "digits"), "--out", str(place / "m"), *CHANGES]
    )
    assert done.returncode == 0, done.stderr
    assert f"Next: regard classify {place / 'm'}" in done.stderr.replace("\n", "")
    assert "120 pictures of 28 × 28 pixels; 12 to validate on; 10 classes" in done.stderr
    return place


def test_pictures_get_labels(folder: Path) -> None:
    files = [str(folder / "digits/0/0.png"), str(folder / "digits/1/1.png")]
    done = run(["classify", str(folder / "m"), *files, "--top", "2"])
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[2] for row in rows] == [files[0], files[0], files[1], files[1]]
    assert float(rows[0][1]) >= float(rows[1][1])
    record = json.loads(run(["classify", str(folder / "m"), files[0], "--json"]).stdout)
    assert record["label"] == rows[0][0]
    assert len(record["glimpses"]) == 3
    assert record["glimpses"][0]["sides"] == [8, 16]
    assert sum(p for _, p in record["glimpses"][1]["beliefs"]) == pytest.approx(1)


def test_it_is_measured_with_its_controls(folder: Path) -> None:
    done = run(["evaluate", str(folder / "m"), "--images", str(folder / "idx"), "--json"])
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["n_pictures"] == 40
    names = [one["places"] for one in record["measured"]]
    assert names == ["learned", "random", "centre", "raster", "frozen locator", "untrained"]
    assert all(0 <= one["error"] <= 1 for one in record["measured"])
    assert record["measured"][2]["inside"] == 1  # the centre is in every box
    again = run(["evaluate", str(folder / "m"), "--images", str(folder / "idx"), "--json"])
    assert again.stdout == done.stdout
    told = run(["evaluate", str(folder / "m"), "--images", str(folder / "idx")]).stdout
    assert "frozen locator" in told
    assert "on the object" in told


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is of Unix")
def test_a_run_that_was_killed_ends_as_one_that_was_not(folder: Path) -> None:
    asked = ["train", "ram", "--images", str(folder / "digits"), *CHANGES]
    process = begin([*asked, "--out", str(folder / "killed")])
    for line in process.stderr:
        if "update 4: saved" in line:
            process.kill()
            break
    process.communicate(timeout=60)
    assert run([*asked, "--out", str(folder / "killed")]).returncode == 0
    killed, whole = (folder / name / "weights.safetensors" for name in ("killed", "m"))
    assert killed.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize("ending", ["png", "svg", "gif", "html", "trace"])
def test_where_it_looked_is_drawn(folder: Path, tmp_path: Path, ending: str) -> None:
    place = tmp_path / f"look.{ending}"
    picture = str(folder / "digits/3/3.png")
    done = run(["look", str(folder / "m"), picture, "--save", str(place)])
    assert done.returncode == 0, done.stderr
    assert place.stat().st_size > 500
    assert "3.png" in done.stdout


def test_in_python(folder: Path) -> None:
    model = regard.load(folder / "m")
    assert isinstance(model, PictureClassifier)
    pixels = np.asarray(Image.open(folder / "digits/2/2.png"))
    one = model.classify(pixels, k=3)
    assert isinstance(one, PictureLabel)
    assert (one.label in model.labels, len(one.others), len(one.glimpses)) == (True, 2, 3)
    both = model.classify([pixels, folder / "digits/3/3.png"])
    assert both[0].label == one.label
    assert both[0].glimpses[0].x == one.glimpses[0].x  # whatever stands beside it
    found = regard.evaluate(model, images="digits:test:30")
    assert isinstance(found, GlimpseEvaluation)
    assert found["error"] == pytest.approx(1 - found["accuracy"])
    seen = model.trace(pixels)
    assert np.asarray(seen.attention(head=1)).shape == (3, 784)
    assert (seen.sites[0].weights.shape, seen.sites[0].n_heads) == ((2, 3, 784), 2)
    assert seen.target.tokens[-1].text == one.label
    assert seen.picture is not None
    assert [gaze[:2] for gaze in seen.picture.gazes] == [(g.x, g.y) for g in one.glimpses]
    blind = model.ablate(pixels, "cross.0.0")
    assert len(blind.changes) == 3
    assert any(change != 0 for change in blind.changes)
    assert len(model.importance([(pixels, "2")]).of) == 2


def test_a_recipe_alone_is_enough_and_other_cores_and_baselines_learn(tmp_path: Path) -> None:
    for name, changes in (
        ("lstm", {"model.core": "lstm", "model.baseline": "average"}),
        ("none", {"model.baseline": "none"}),
        ("raster", {"model.locator": "raster"}),
    ):
        events = regard.train(
            "ram",
            corpus="digits:100",
            out=tmp_path / name,
            changes=SIZES | changes | {"training.updates": 2, "training.save_every": 2},
        )
        assert type(list(events)[-1]).__name__ == "Finished"
        assert regard.load(tmp_path / name).classify("digit 7, hand 3").label


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["classify", "m"], "name pictures"),
        (["classify", "m", "nowhere.png"], "there is no picture nowhere.png"),
        (["classify", "m", "--gold", "x.tsv"], "regard evaluate"),
        (["translate", "m"], "does not translate: `regard classify`"),
        (["caption", "m", "a.png"], "does not caption: `regard classify`"),
        (["evaluate", "m", "--images", "nowhere"], "there is no nowhere"),
        (["look", "m", "digit 7", "--target", "x"], "is no digit"),
        (["look", "m", "digit 7, hand 1", "--target", "x"], "'x' is not a label"),
        (["train", "ram", "--images", "digits/3"], "has no classes"),
        (["train", "ram", "--images", "m"], "holds no pictures"),
        (["train", "ram", "--text", "a.txt"], "learns from pictures"),
        (["train", "ram", "--images", "digits", "--set", "model.patch=40"], "a glimpse has 40"),
        (["train", "ram", "--set", "model.n_glimpses=0"], "model.n_glimpses = 0"),
    ],
)
def test_refused_in_one_sentence(folder: Path, arguments: list[str], facts: str) -> None:
    verb, *rest = arguments
    given = [str(folder / one) if (folder / one).exists() else one for one in rest]
    more = ["--out", str(folder / "refused")] if verb == "train" else []
    done = run([verb, *given, *more])
    assert done.returncode == 2, done.stdout
    assert facts in done.stderr
    assert len(done.stderr.strip().splitlines()[-1]) > 20


def test_canvases_are_made_of_pictures(folder: Path) -> None:
    out, source = folder / "cluttered", folder / "mnist"
    source.mkdir()
    for part in ("train", "t10k"):
        for kind in ("images-idx3-ubyte", "labels-idx1-ubyte"):
            copyfile(folder / f"idx/t10k-{kind}", source / f"{part}-{kind}")
    asked = ["data", "cluttered", "--from", str(source), "--out", str(out), "--canvas", "40"]
    asked += ["--pieces", "2", "--size", "30", "--test-size", "20", "--seed", "4"]
    done = run(asked)
    assert done.returncode == 0, done.stderr
    learned, held = read_picture_set(out), read_picture_set(f"{out}:test")
    assert (len(learned), len(held), learned.size) == (30, 20, (40, 40))
    assert learned.boxes is not None
    assert "--force" in run(asked).stderr
    assert "--from mnist" in run(["data", "cluttered"]).stderr
    assert "regard data cluttered" in run(["data", "dates", "--from", "x"]).stderr
