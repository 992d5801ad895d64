"""Checkpoints are complete or not there; a damaged one is passed over for the one before."""

import logging
import os
from pathlib import Path

import pytest
import torch

from regard.errors import ModelFolderError, UsageError
from regard.folder import Checkpoint, Checkpoints, average


def weights(value: float) -> dict[str, torch.Tensor]:
    return {"a": torch.full((2, 3), value), "b": torch.full((4,), value)}


def steps(checkpoints: Checkpoints) -> list[int]:
    return [one.step for one in checkpoints.all()]


@pytest.fixture
def three(tmp_path: Path) -> Checkpoints:
    checkpoints = Checkpoints(tmp_path, keep=3)
    for step in (100, 200, 300):
        checkpoints.save(step, weights(float(step)), {"step": step})
    return checkpoints


def test_what_was_saved_comes_back(three: Checkpoints, tmp_path: Path) -> None:
    latest = three.latest()
    assert latest == Checkpoint(300, tmp_path / "training" / "checkpoints" / "000300")
    assert torch.equal(latest.weights()["a"], torch.full((2, 3), 300.0))
    assert latest.state() == {"step": 300}
    assert [one.step for one in three.last(2)] == [200, 300]
    assert [one.step for one in three.last(9)] == [100, 200, 300]
    assert sorted(path.name for path in latest.path.iterdir()) == [
        "CHECKSUMS",
        "state.json",
        "state.safetensors",
        "weights.safetensors",
    ]


def test_where_there_are_none(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path)
    assert checkpoints.latest() is None
    assert checkpoints.best is None
    assert checkpoints.all() == checkpoints.last(3) == ()
    assert not list(tmp_path.iterdir())


def test_the_newest_and_the_best_are_kept(tmp_path: Path) -> None:
    checkpoints = Checkpoints(tmp_path, keep=2)
    for step in range(1, 7):
        checkpoints.save(step, weights(step), {}, is_best=step in (1, 3))
    assert steps(checkpoints) == [3, 5, 6]
    assert checkpoints.best == Checkpoint(3, checkpoints.folder / "000003")
    checkpoints.save(1_000_000, weights(1), {}, is_best=True)
    assert steps(checkpoints) == [6, 1_000_000]


def test_none_cannot_be_kept(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        Checkpoints(tmp_path, keep=0)
    assert str(caught.value) == "keep = 0 checkpoints is not possible: keep at least 1"


@pytest.mark.parametrize(
    "name", ["weights.safetensors", "state.safetensors", "state.json", "CHECKSUMS"]
)
@pytest.mark.parametrize("damage", ["cut", "flip", "remove"])
def test_a_damaged_one_is_passed_over(
    three: Checkpoints, caplog: pytest.LogCaptureFixture, name: str, damage: str
) -> None:
    newest = three.all()[-1].path
    content = bytearray((newest / name).read_bytes())
    content[len(content) // 2] ^= 0x80
    if damage == "cut":
        os.truncate(newest / name, len(content) // 2)
    elif damage == "flip":
        (newest / name).write_bytes(content)
    else:
        (newest / name).unlink()
    with caplog.at_level(logging.WARNING):
        latest = three.latest()
    assert latest is not None
    assert latest.step == 200
    assert f"{newest} is damaged (" in caplog.text
    assert name in caplog.text or name == "CHECKSUMS"
    three.save(300, weights(3), {})
    again = three.latest()
    assert again is not None
    assert again.step == 300


def test_the_same_step_again_takes_the_place_of_the_first(three: Checkpoints) -> None:
    three.save(300, weights(7), {"again": True})
    latest = three.latest()
    assert latest is not None
    assert latest.state() == {"again": True}
    assert steps(three) == [100, 200, 300]


@pytest.mark.parametrize("aside", [".000300.old", "000300.old"])  # the second of earlier versions
def test_one_that_stepped_aside_is_found_when_the_new_one_never_came(
    three: Checkpoints, aside: str
) -> None:
    newest = three.all()[-1].path
    newest.rename(newest.with_name(aside))
    latest = three.latest()
    assert latest is not None
    assert (latest.step, latest.state()) == (300, {"step": 300})


def test_one_that_stepped_aside_goes_when_the_new_one_has_come(three: Checkpoints) -> None:
    newest = three.all()[-1].path
    newest.rename(newest.with_name(".000300.old"))
    three.save(300, weights(5), {"new": True})
    assert sorted(path.name for path in three.folder.iterdir()) == ["000100", "000200", "000300"]


def test_leftovers_and_strangers(three: Checkpoints) -> None:
    (three.folder / "000400.partial").mkdir()
    (three.folder / "000400.partial" / "weights.safetensors").write_bytes(b"half")
    (three.folder / "notes.txt").write_text("mine")
    assert steps(three) == [100, 200, 300]
    three.save(400, weights(4), {})
    assert sorted(path.name for path in three.folder.iterdir()) == [
        "000200",
        "000300",
        "000400",
        "notes.txt",
    ]


def test_one_that_cannot_be_removed_ends_no_run(
    three: Checkpoints, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("regard.folder.checkpoints.remove_folder", refuse)
    three.save(400, weights(4), {})
    assert steps(three) == [100, 200, 300, 400]
    assert "000100 cannot be removed: Permission denied" in caplog.text


def test_the_average_is_the_mean(three: Checkpoints) -> None:
    mean = average([one.path for one in three.all()])
    assert torch.equal(mean["a"], torch.full((2, 3), 200.0))
    assert mean["a"].dtype == torch.float32
    same = average([three.all()[0].path / "weights.safetensors", weights(200.0)])
    assert torch.equal(same["b"], torch.full((4,), 150.0))


def test_the_average_is_summed_in_float64() -> None:
    values = [1e8, 1.0, -1e8, 3.0]
    mean = average([{"a": torch.tensor([value])} for value in values])
    assert mean["a"].item() == 1.0
    half = [{"a": torch.full((2,), 1.0 + i, dtype=torch.bfloat16)} for i in range(2)]
    assert average(half)["a"].dtype == torch.bfloat16
    assert half[0]["a"].tolist() == [1.0, 1.0]  # what is averaged is left alone
    counts = [{"n": torch.tensor(3)}, {"n": torch.tensor(8)}]
    assert average(counts)["n"].item() == 8


def test_what_cannot_be_averaged(three: Checkpoints) -> None:
    with pytest.raises(UsageError) as nothing:
        average([])
    assert str(nothing.value) == "there is nothing to average: give at least one checkpoint"
    with pytest.raises(ModelFolderError) as other:
        average([weights(1), {"a": torch.ones(2, 3)}])
    assert str(other.value) == (
        "checkpoints of different models cannot be averaged: one of them has another b than the "
        "first"
    )
    path = three.all()[0].path
    with pytest.raises(ModelFolderError) as shape:
        average([{**weights(1), "a": torch.ones(5)}, path])
    assert str(shape.value) == (
        f"checkpoints of different models cannot be averaged: {path} has another a than the first"
    )
