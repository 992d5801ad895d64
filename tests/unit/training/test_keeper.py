"""A run in its folder: whose it is, what is saved and what comes back."""

import json
import os
import re
from pathlib import Path

import pytest
import torch
from torch import Tensor

from regard.config import Recipe, read_recipe
from regard.errors import ModelFolderError, TrainingError, UsageError
from regard.models import Sizes, Transformer
from regard.training import (
    Finished,
    FolderKeeper,
    MetricsFile,
    Progress,
    Ranks,
    Stepped,
    Updater,
    Validated,
    read_metrics,
)

RECIPE = read_recipe("transformer-tiny", ["data.train=['a.en|a.de']"])


def build() -> Transformer:
    return Transformer(11, 11, Sizes(12, 2, 16), n_layers=1)


def changed(**training: object) -> Recipe:
    values = RECIPE.training.model_dump() | training
    return RECIPE.model_copy(update={"training": type(RECIPE.training)(**values)})


def keep(folder: Path, n_kept: int = 3) -> FolderKeeper:
    return FolderKeeper(folder, Ranks(), n_kept)


def save(keeper: FolderKeeper, update: int, *, is_planned: bool = True) -> Tensor:
    model = build()
    keeper.save(model, Updater(model), Progress(update=update), is_planned=is_planned)
    return model.output.weight.detach().clone()


def there(keeper: FolderKeeper) -> list[int]:
    return [one.step for one in keeper.checkpoints.all()]


def test_a_folder_is_claimed_and_claimed_again(tmp_path: Path) -> None:
    for _ in range(2):
        keep(tmp_path / "new" / "run").claim(RECIPE)
    assert (tmp_path / "new/run/training/request.toml").is_file()
    empty = tmp_path / "empty"
    empty.mkdir()
    keep(empty).claim(RECIPE)


@pytest.mark.parametrize(
    "change",
    [
        {"updates": 7},
        {"minutes": 3.0},
        {"patience": None},
        {"validate_every": 9},
        {"save_every": 9},
        {"average_last": 2},
        {"keep_at": (0, 5)},
        {"decodes_at_validation": False},
    ],
)
def test_when_it_looks_saves_and_ends_may_change(tmp_path: Path, change: dict[str, object]) -> None:
    keep(tmp_path).claim(RECIPE)
    keep(tmp_path).claim(changed(**change))


def test_what_a_run_learns_may_not_change(tmp_path: Path) -> None:
    keep(tmp_path).claim(RECIPE)
    with pytest.raises(UsageError) as refusal:
        keep(tmp_path).claim(changed(seed=9))
    assert str(refusal.value) == (
        f"{tmp_path} holds a run with training.seed = 1, not 9: give the same recipe and files to "
        "continue it, or another --out to start anew"
    )
    other = read_recipe("transformer-tiny", ["data.train=['b.en|b.de']"])
    sentence = "holds a run with data.train = ['a.en|a.de'], not ['b.en|b.de']: give the same"
    with pytest.raises(UsageError, match=re.escape(sentence)):
        keep(tmp_path).claim(other)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    (tmp_path / "file").touch()
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(ModelFolderError) as refusal:
            keep(place).claim(RECIPE)
        assert str(refusal.value) == (
            f"{place} exists and holds no training run: choose another --out"
        )
    with pytest.raises(ModelFolderError) as impossible:
        keep(tmp_path / "file" / "run").claim(RECIPE)
    assert str(impossible.value) == (
        f"{tmp_path / 'file' / 'run'} cannot be made: Not a directory; choose another --out"
    )


def test_what_never_began_leaves_nothing(tmp_path: Path) -> None:
    keeper = keep(tmp_path / "deep" / "run")
    keeper.claim(RECIPE)
    (tmp_path / "deep/run/training/tokenizers").mkdir()
    keeper.release()
    assert not list(tmp_path.iterdir())


def test_what_was_there_before_stays(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    keeper = keep(empty)
    keeper.claim(RECIPE)
    keeper.release()
    assert empty.is_dir()
    assert not list(empty.iterdir())
    keep(empty).claim(RECIPE)
    again = keep(empty)
    again.claim(RECIPE)
    again.release()
    assert (empty / "training/request.toml").is_file()


def test_a_folder_is_one_runs_alone_while_it_lives(tmp_path: Path) -> None:
    first = keep(tmp_path / "run")
    first.claim(RECIPE)
    request = (tmp_path / "run/training/request.toml").read_bytes()
    for asked in (RECIPE, changed(updates=7), changed(seed=9)):
        with pytest.raises(TrainingError, match=f"process {os.getpid()}"):
            keep(tmp_path / "run").claim(asked)
    assert (tmp_path / "run/training/request.toml").read_bytes() == request
    second = FolderKeeper(tmp_path / "run", Ranks(1, 2), 3)
    second.claim(RECIPE)  # of the same run: the first process holds the lock for all
    first.close()
    keep(tmp_path / "run").claim(RECIPE)


def test_what_a_kill_between_lock_and_request_leaves_is_claimed(tmp_path: Path) -> None:
    (tmp_path / "run/training").mkdir(parents=True)
    (tmp_path / "run/training/LOCK").write_text("{}", encoding="utf-8")
    keep(tmp_path / "run").claim(RECIPE)
    assert (tmp_path / "run/training/request.toml").is_file()


def test_a_request_that_is_no_text_is_refused(tmp_path: Path) -> None:
    keep(tmp_path).claim(RECIPE)
    (tmp_path / "training/request.toml").write_bytes(b"name = '\xff'")
    with pytest.raises(ModelFolderError, match="UTF-8"):
        keep(tmp_path).claim(RECIPE)


def test_only_the_first_process_writes(tmp_path: Path) -> None:
    second = FolderKeeper(tmp_path / "run", Ranks(1, 2), 3)
    second.claim(RECIPE)
    model = build()
    path = second.save(model, Updater(model), Progress(update=4), is_planned=True)
    second.keep_best(model)
    assert path.endswith("000004")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ema", [None, 0.9])
def test_everything_comes_back(tmp_path: Path, ema: float | None) -> None:
    model = build()
    updater = Updater(model, ema=ema)
    updater.gradient.normal_()
    updater.update(0.1, 1.0, None)
    progress = Progress(3, 1, 2, 4.5, -1.25, 2, 8.0)
    keep(tmp_path).save(model, updater, progress, is_planned=True)
    other = build()
    empty = Updater(other, ema=ema)
    assert keep(tmp_path).restore(other, empty) == progress
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, other.state_dict()[name])
    assert empty.n_updates == 1
    for key, value in updater.state().items():
        assert torch.equal(value, empty.state()[key])
    assert keep(tmp_path).last_update() == 3


def test_nothing_saved_is_a_new_run(tmp_path: Path) -> None:
    model = build()
    assert keep(tmp_path).restore(model, Updater(model)) is None
    assert keep(tmp_path).last_update() == 0


def test_the_best_weights_come_back(tmp_path: Path) -> None:
    keeper, model, other = keep(tmp_path), build(), build()
    keeper.keep_best(model)
    keeper.restore_best(other)
    assert torch.equal(model.output.weight, other.output.weight)


def test_a_damaged_checkpoint_is_passed_over(tmp_path: Path) -> None:
    keeper = keep(tmp_path)
    save(keeper, 2)
    save(keeper, 4)
    file = keeper.checkpoints.folder / "000004" / "weights.safetensors"
    file.write_bytes(file.read_bytes()[:-1])
    assert keeper.last_update() == 2


def test_old_checkpoints_go(tmp_path: Path) -> None:
    keeper = keep(tmp_path, n_kept=3)
    for update in range(2, 14, 2):
        save(keeper, update)
    assert there(keeper) == [6, 8, 10, 12]


def test_the_average_is_over_those_that_were_planned(tmp_path: Path) -> None:
    """However often a run was interrupted, the same checkpoints are averaged."""
    keeper = keep(tmp_path, n_kept=3)
    weights = {}
    for update in (5, 10, 15, 20):
        weights[update] = save(keeper, update)
    for update in (21, 22, 24):  # stopped three times
        save(keep(tmp_path, n_kept=3), update, is_planned=False)
        assert keeper.last_update() == update
    assert there(keeper) == [15, 20, 24]
    weights[25] = save(keeper, 25)
    assert there(keeper) == [15, 20, 25]
    model = build()
    assert keeper.average_last(model, 3) == 3
    expected = (weights[15].double() + weights[20].double() + weights[25].double()) / 3
    torch.testing.assert_close(model.output.weight.double(), expected, rtol=1e-6, atol=1e-7)


def test_one_that_was_not_planned_is_not_averaged_even_if_it_is_still_there(tmp_path: Path) -> None:
    keeper = keep(tmp_path, n_kept=2)
    first = save(keeper, 2)
    save(keeper, 3, is_planned=False)
    hidden = tmp_path / "aside"
    (keeper.checkpoints.folder / "000003").rename(hidden)
    second = save(keeper, 4)
    hidden.rename(keeper.checkpoints.folder / "000003")  # as if killed before it was removed
    model = build()
    assert keeper.average_last(model, 2) == 2
    torch.testing.assert_close(model.output.weight, (first + second) / 2)


def stepped(update: int) -> Stepped:
    return Stepped(update, 0, 2.5, 100, 0.1, 1.0, 3.0)


def test_metrics_keep_every_tenth_step_and_all_else(tmp_path: Path) -> None:
    file = MetricsFile(tmp_path / "metrics.jsonl", 0)
    for update in range(1, 31):
        file.write(stepped(update))
    file.write(Validated(30, 2.0, 7.4, None, True, 3.0))
    file.write(Finished(30, "all updates done", "best validated", 3.0))
    records = read_metrics(tmp_path / "metrics.jsonl")
    assert [(r["event"], r["update"]) for r in records] == [
        ("stepped", 10),
        ("stepped", 20),
        ("stepped", 30),
        ("validated", 30),
        ("finished", 30),
    ]
    assert records[0] == {
        "event": "stepped",
        "update": 10,
        "epoch": 0,
        "loss": 2.5,
        "n_tokens": 100,
        "learning_rate": 0.1,
        "gradient_norm": 1.0,
        "seconds": 3.0,
        "share": 0.0,
    }


def test_a_continued_run_takes_out_what_it_will_do_again(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    file = MetricsFile(path, 0)
    for update in range(1, 41):
        file.write(stepped(update))
    file.write(Finished(40, "interrupted", "", 3.0))
    with path.open("a", encoding="utf-8") as half:
        half.write('{"event": "stepped", "upd')  # killed while writing
    MetricsFile(path, 20)
    assert [r["update"] for r in read_metrics(path)] == [10, 20]
    assert all(json.loads(line) for line in path.read_text(encoding="utf-8").splitlines())
    MetricsFile(path, 40).write(stepped(30))
    assert [r["update"] for r in read_metrics(path)] == [10, 20, 30]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    file = MetricsFile(tmp_path / "metrics.jsonl", 0)
    file.path.unlink()
    file.path.symlink_to("/dev/full")
    with pytest.raises(ModelFolderError) as full:
        file.write(stepped(10))
    said = str(full.value)
    assert said.startswith(f"{file.path} cannot be written: No space left on device")
    assert "what was saved before is untouched" in said
    assert "make room" in said


@pytest.mark.parametrize(
    "line",
    [
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"event": "stepped", "update": NaN}',
        b'{"event": "stepped", "update": "10"}',
        b'{"update": 10}',
        b'{"event": "stepped", "update": 10, "loss": ' + b"9" * 5_000 + b"}",
        b"17",
        b'{"event": "stepped", "upd',
    ],
)
def test_a_line_that_is_no_event_is_passed_over(tmp_path: Path, line: bytes) -> None:
    path = tmp_path / "metrics.jsonl"
    MetricsFile(path, 0).write(stepped(10))
    whole = path.read_bytes()
    path.write_bytes(line + b"\n" + whole + line)
    assert [one["update"] for one in read_metrics(path)] == [10]
    MetricsFile(path, 10)
    assert path.read_bytes() == whole


@pytest.mark.parametrize(
    "change",
    [
        {"progress": {"update": float("nan")}},
        {"progress": {"update": 4.0}},
        {"progress": {"seconds": float("nan")}},
        {"progress": {"batch": -1}},
        {"progress": {"elsewhere": 3}},
        {"progress": None},
        {"n_ranks": float("nan")},
        {"n_updates": "four"},
    ],
)
def test_a_state_that_does_not_say_how_far_it_is_is_refused(
    tmp_path: Path, change: dict[str, object]
) -> None:
    keeper = keep(tmp_path)
    save(keeper, 4)
    latest = keeper.checkpoints.latest()
    assert latest is not None
    keeper.checkpoints.save(4, build(), latest.state() | change)
    with pytest.raises(ModelFolderError, match=r"000004.state\.json"):
        keeper.restore(model := build(), Updater(model))
