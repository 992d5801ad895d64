"""Captions are measured by real decoding against all references, beside captions that saw less."""

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import regard
from regard.errors import DataError, UsageError
from regard.systems.caption_evaluation import CaptionEvaluation
from regard.systems.caption_words import caption_words
from regard.systems.captions import PictureCaptioner

CHANGES = {
    "model.channels": [4, 6],
    "model.size": 16,
    "model.d_embedding": 8,
    "model.d_hidden": 12,
    "training.batch_tokens": 64,
    "training.updates": 4,
    "training.warmup": 1,
    "training.validate_every": 2,
    "training.save_every": 4,
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures of three colours with two captions each, and a captioner that has seen them."""
    place = tmp_path_factory.mktemp("captions")
    (place / "pictures").mkdir()
    lines = []
    for n in range(60):
        colour = ("red", "green", "blue")[n % 3]
        Image.new("RGB", (20, 16), colour).save(place / "pictures" / f"{n}.png")
        lines += [f"{n}.png#0\tA {colour} picture .\n", f"{n}.png#1\tall of it is {colour}\n"]
    (place / "captions.token").write_text("".join(lines), encoding="utf-8")
    for event in regard.train(
        "caption-soft",
        images=place / "pictures",
        captions=place / "captions.token",
        out=place / "model",
        changes=CHANGES,
        device="cpu",
        threads=1,
    ):
        last = event
    assert type(last).__name__ == "Finished"
    return place


def test_every_row_is_there_and_the_first_is_the_models(place: Path) -> None:
    model = regard.load(place / "model")
    found = model.evaluate(
        images=place / "pictures", captions=place / "captions.token", controls=True, beam=2
    )
    assert isinstance(found, CaptionEvaluation)
    assert (found.n_pictures, found.n_references) == (60, 120)
    assert list(found.rows) == [
        "model",
        "another picture",
        "mean feature only",
        "random attention, frozen",
        "nearest training picture",
    ]
    assert found["bleu_4"] == found.rows["model"]["bleu_4"]
    assert found["perplexity"] > 1
    # The nearest training picture is the picture itself, or one of the same colour.
    assert found.rows["nearest training picture"]["bleu_3"] == pytest.approx(100)
    assert "nearest training picture" in [row[0] for row in found.table().rows]
    assert found.to_dict()["rows"]["model"]["cider_d"] == found["cider_d"]


def test_what_listened_has_gone(place: Path) -> None:
    model = regard.load(place / "model")
    assert isinstance(model, PictureCaptioner)
    before = model.caption(np.zeros((16, 16, 3), np.uint8))
    model.evaluate(images=place / "pictures", captions=place / "captions.token", controls=True)
    assert not model.model.encoder.outputs.is_watched
    assert model.caption(np.zeros((16, 16, 3), np.uint8)) == before


def test_without_the_training_pictures_a_note_says_so(place: Path, tmp_path: Path) -> None:
    model = regard.load(place / "model")
    gone = place / "captions.token"
    kept = gone.rename(tmp_path / "captions.token")
    try:
        found = model.evaluate(images=place / "pictures", captions=kept, controls=True, beam=1)
    finally:
        kept.rename(gone)
    assert isinstance(found, CaptionEvaluation)
    assert "nearest training picture" not in found.rows
    assert "no such file" in found.notes[0]


def test_what_does_not_go_together_is_refused(place: Path) -> None:
    model = regard.load(place / "model")
    with pytest.raises(UsageError, match="go together"):
        model.evaluate(images=place / "pictures")
    with pytest.raises(DataError, match="no such file"):
        model.evaluate(images=place / "pictures", captions="nowhere.tsv")


def test_words_that_are_counted() -> None:
    assert caption_words("A black-and-white dog , it's here .") == [
        *("a", "black-and-white", "dog", "it's", "here")
    ]
    assert "".join(caption_words("一只黑狗。")) == "一只黑狗"
