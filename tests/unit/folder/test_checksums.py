"""Every file of a model is as it was written, or refused; where nothing was kept, it is taken."""

import random
import shutil
from pathlib import Path

import pytest
import torch

from regard.config import read_recipe
from regard.errors import ModelFolderError
from regard.files import CHECKSUMS, expected_checksums
from regard.folder import keep_moment, save, save_weights
from regard.systems import build, load, load_moment
from regard.text import Words

FILES = ("weights.safetensors", "recipe.toml", "tokenizer.json")


def small(seed: int = 0):
    torch.manual_seed(seed)
    tokenizer = Words.train(["ein hund läuft", "a dog runs", "the cat sleeps"])
    sizes = ("model.n_layers=1", "model.d_model=6", "model.n_heads=2", "model.d_feedforward=10")
    recipe = read_recipe("transformer-tiny", [*sizes, "model.dropout=0.1"])
    return build(recipe.model, len(tokenizer), len(tokenizer)), recipe, tokenizer, tokenizer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save(tmp_path / "run", *small())


def flip(path: Path, at: int) -> None:
    held = bytearray(path.read_bytes())
    held[at] ^= 1
    path.write_bytes(held)


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_anywhere_is_refused_by_the_name_of_the_file(folder: Path, name: str) -> None:
    draw, path = random.Random(name), folder / name
    for _ in range(20):
        at = draw.randrange(path.stat().st_size)
        flip(path, at)
        with pytest.raises(ModelFolderError) as caught:
            load(folder)
        assert str(path) in str(caught.value)
        assert CHECKSUMS in str(caught.value)
        flip(path, at)
    load(folder)


def test_damage_is_found_before_a_run_goes_on(folder: Path) -> None:
    flip(folder / "weights.safetensors", -1)
    with pytest.raises(ModelFolderError, match="damaged"):
        save(folder, *small())


@pytest.mark.parametrize("said", [b"", b"\xff\xfe", b"nonsense\n", b"00000000 1  other\n\xff\n"])
def test_checksums_that_are_damaged_themselves_are_refused(folder: Path, said: bytes) -> None:
    (folder / CHECKSUMS).write_bytes(said)
    with pytest.raises(ModelFolderError, match=CHECKSUMS):
        load(folder)


def test_a_folder_without_checksums_opens_as_before(folder: Path) -> None:
    (folder / CHECKSUMS).unlink()
    flip(folder / "weights.safetensors", -1)
    load(folder)
    before = (folder / "recipe.toml").read_bytes()
    model, *_ = small(1)
    save_weights(folder, model)
    assert expected_checksums(folder).keys() == {"weights.safetensors"}
    assert (folder / "recipe.toml").read_bytes() == before
    flip(folder / "weights.safetensors", -1)
    with pytest.raises(ModelFolderError, match="damaged"):
        load(folder)


def test_a_line_that_was_taken_out_checks_nothing(folder: Path) -> None:
    lines = (folder / CHECKSUMS).read_text(encoding="utf-8").splitlines(keepends=True)
    kept = "".join(line for line in lines if "recipe.toml" not in line)
    (folder / CHECKSUMS).write_text(kept, encoding="utf-8")
    path = folder / "recipe.toml"
    path.write_text(path.read_text(encoding="utf-8") + "# mine\n", encoding="utf-8")
    load(folder)


def test_checksums_that_say_nothing_of_a_file(folder: Path) -> None:
    (folder / CHECKSUMS).write_bytes(b"00000000 1  other\n")
    load(folder)


def test_at_every_moment_of_a_save_and_after_every_kill_the_folder_opens(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a kill leaves is a copy of the folder, taken before each rename and after it."""
    replace, moments = Path.replace, list[Path]()

    def seen(self: Path, target: Path) -> Path:
        for happens in (lambda: None, lambda: replace(self, target)):
            happens()
            moments.append(tmp_path / f"moment-{len(moments)}")
            shutil.copytree(folder, moments[-1])
        return target

    weights = {seed: small(seed)[0].output.weight for seed in (0, 1, 2)}
    monkeypatch.setattr(Path, "replace", seen)
    save_weights(folder, small(1)[0])
    monkeypatch.undo()
    assert len(moments) == 6  # the promise, the weights, the promise kept
    for moment in moments:
        found = load(moment).model.output.weight
        assert any(torch.equal(found, weights[seed]) for seed in (0, 1))
        save_weights(moment, small(2)[0])
        assert torch.equal(load(moment).model.output.weight, weights[2])
        assert [len(one) for one in expected_checksums(moment).values()] == [1, 1, 1]


def test_moments_are_checked_too(folder: Path) -> None:
    model, *_ = small(1)
    for update in (5, 7):
        keep_moment(folder, update, model)
    flip(folder / "training/moments/000005.safetensors", -1)
    load_moment(folder, 7)
    with pytest.raises(ModelFolderError, match="000005"):
        load_moment(folder, 5)
