"""A captioner through real commands: the same joints as every other system."""

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import regard
from regard.corpora import parse_extract
from regard.corpora.scenes import draw_scene
from regard.systems.captions import Caption, PictureCaptioner
from tests.end_to_end.commands import run

SIZES = (
    "model.channels=[4, 6, 8]",
    "model.d_embedding=8",
    "model.d_hidden=12",
    "training.batch_tokens=128",
    "training.updates=6",
    "training.warmup=2",
    "training.validate_every=3",
    "training.save_every=3",
)
CHANGES = [part for size in SIZES for part in ("--set", size)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A captioner that has seen little, pictures as files, and captions of one's own."""
    place = tmp_path_factory.mktemp("captions")
    examples = list(parse_extract("scenes:zh:train:70").draw())
    lines = []
    for n, one in enumerate(examples):
        Image.fromarray(draw_scene(one.source)).save(place / f"{n}.png")
        lines.append(f"{place / f'{n}.png'}\t{one.target}\n")
    (place / "own.tsv").write_text("".join(lines), encoding="utf-8")
    done = run(
        [
            "train",
            "caption-soft",
            "--data",
            str(place / "own.tsv"),
            "--out",
            str(place / "own"),
            *CHANGES,
        ]
    )
    assert done.returncode == 0, done.stderr
    done = run(
        ["train", "caption-soft", "--corpus", "scenes:en:80", "--out", str(place / "en"), *CHANGES]
    )
    assert done.returncode == 0, done.stderr
    assert f"Next: regard caption {place / 'en'}" in done.stderr.replace("\n", "")
    return place


def test_pictures_become_sentences(folder: Path) -> None:
    pictures = [str(folder / "0.png"), str(folder / "1.png")]
    done = run(["caption", str(folder / "own"), *pictures])
    assert done.returncode == 0, done.stderr
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == pictures
    alone = run(["caption", str(folder / "own"), pictures[0], "--json", "--beam", "1"])
    record = json.loads(alone.stdout)
    assert (record["input"], type(record["text"])) == (pictures[0], str)


def test_the_same_command_again_has_nothing_to_do(folder: Path) -> None:
    before = (folder / "en" / "weights.safetensors").read_bytes()
    done = run(
        ["train", "caption-soft", "--corpus", "scenes:en:80", "--out", str(folder / "en"), *CHANGES]
    )
    assert done.returncode == 0
    assert "saved" not in done.stderr
    assert (folder / "en" / "weights.safetensors").read_bytes() == before


def test_a_run_that_was_stopped_ends_as_one_that_was_not(folder: Path) -> None:
    again = folder / "again"
    asked = ["train", "caption-soft", "--corpus", "scenes:en:80", "--out", str(again), *CHANGES]
    recipe = regard.train(
        "caption-soft",
        corpus="scenes:en:80",
        out=again,
        changes=dict(_change(one) for one in SIZES),
        threads=1,
    )
    for event in recipe:
        if type(event).__name__ == "Saved":
            break
    recipe.close()  # type: ignore[attr-defined]
    assert run(asked).returncode == 0
    ended, whole = (regard.load(folder / name) for name in ("again", "en"))
    for mine, other in zip(ended.model.parameters(), whole.model.parameters(), strict=True):
        assert mine.equal(other)


def _change(text: str) -> tuple[str, object]:
    key, _, value = text.partition("=")
    return key, json.loads(value)


@pytest.mark.parametrize("ending", ["png", "svg", "html", "trace"])
def test_where_it_looked_is_drawn(folder: Path, tmp_path: Path, ending: str) -> None:
    place = tmp_path / f"look.{ending}"
    done = run(["look", str(folder / "own"), str(folder / "2.png"), "--save", str(place)])
    assert done.returncode == 0, done.stderr
    assert place.stat().st_size > 500
    assert "2.png" in done.stdout


def test_it_is_measured_like_a_translator(folder: Path) -> None:
    done = run(["evaluate", str(folder / "en"), "--corpus", "scenes:en:test:8", "--json"])
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["n_sentences"] == 8
    assert 0 <= record["exact"] <= 1
    assert record["perplexity"] > 1


def test_several_captions_a_picture_and_captions_that_saw_less(folder: Path) -> None:
    lines = [f"{n}.png#{k}\t{text}\n" for n in range(6) for k, text in enumerate(("一个", "两个"))]
    (folder / "some.token").write_text("".join(lines), encoding="utf-8")
    asked = ["--images", str(folder), "--captions", str(folder / "some.token"), "--controls"]
    done = run(["evaluate", str(folder / "own"), *asked, "--json", "--beam", "2"])
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert (record["n_pictures"], record["n_references"]) == (6, 12)
    assert list(record["rows"])[:2] == ["model", "another picture"]
    done = run(["evaluate", str(folder / "own"), *asked[:2]])
    assert done.returncode == 2
    assert "--captions" in done.stderr


def test_in_python_an_array_is_a_picture_too(folder: Path) -> None:
    model = regard.load(folder / "own")
    assert isinstance(model, PictureCaptioner)
    pixels = np.asarray(Image.open(folder / "3.png"))
    one = model.caption(pixels)
    assert isinstance(one, Caption)
    both = model.caption([pixels, str(folder / "3.png")])
    assert isinstance(both, list)
    assert [other.text for other in both] == [one.text] * 2
    seen = model.trace(pixels, "一个")
    assert seen.attention().shape == (len(seen.attention().rows), 64)
    found = model.ablate(pixels, "cross.0.0", change="uniform")
    assert len(found.changes) == len(found.before.tokens) + 1
    assert model.importance([(pixels, one.text or "一个")]).of


def test_hard_attention_says_that_it_looks_at_one_cell(folder: Path) -> None:
    data = ["--corpus", "scenes:en:80", "--out", str(folder / "hard")]
    done = run(["train", "caption-hard", *data, *CHANGES])
    assert done.returncode == 0, done.stderr
    model = regard.load(folder / "hard")
    (site,) = model.trace(str(folder / "3.png"), "there is a red square").sites
    assert site.is_one_hot
    assert (site.weights.sum(-1) == 1).all()
    soft = regard.load(folder / "en").trace(str(folder / "3.png"), "there is a red square")
    assert not soft.sites[0].is_one_hot
    done = run(["look", str(folder / "hard"), str(folder / "3.png")])
    assert "one place alone" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "facts"),
    [
        (["caption", "own", "nowhere.png"], "nowhere.png"),
        (["caption", "own", "own.tsv"], "not a picture"),
        (["translate", "own"], "does not translate: `regard caption`"),
        (["fill", "own", "a [MASK]"], "does not fill or embed: `regard caption`"),
    ],
)
def test_refused_in_one_sentence(folder: Path, arguments: list[str], facts: str) -> None:
    verb, *rest = arguments
    done = run([verb, *(str(folder / one) if (folder / one).exists() else one for one in rest)])
    assert done.returncode == 2
    assert facts in done.stderr
    assert done.stderr.count("\n") == 1
