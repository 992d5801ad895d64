"""A kill or a full disk while saving leaves what was saved before."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from safetensors import SafetensorError

from regard.config import Recipe, read_recipe
from regard.errors import ModelFolderError
from regard.folder import Checkpoints, begin, save, save_weights
from regard.models import Transformer
from regard.systems import build, load
from regard.text import Words


def make() -> tuple[Transformer, Recipe, Words]:
    tokenizer = Words.train(["ein hund", "a dog"])
    sizes = ["model.n_layers=1", "model.d_model=8", "model.n_heads=2", "model.dropout=0"]
    recipe = read_recipe("transformer-tiny", sizes)
    return build(recipe.model, len(tokenizer), len(tokenizer)), recipe, tokenizer


@contextmanager
def disk_with_room_for(n_bytes: int) -> Iterator[None]:
    """No file may grow beyond this: what a write on a full disk meets, and without a mock."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no kill -9")
def test_killed_at_any_moment_what_was_saved_before_can_be_used(tmp_path: Path) -> None:
    script = Path(__file__).with_name("killed_while_saving.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path), "20"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) > 1  # some saves did end before the kill


@pytest.mark.skipif(sys.platform == "win32", reason="there are no limits on files")
@pytest.mark.parametrize("room", [0, 30, 2_000])
def test_a_full_disk_leaves_what_was_saved_before(tmp_path: Path, room: int) -> None:
    model, recipe, tokenizer = make()
    folder = save(tmp_path / "run", model, recipe, tokenizer, tokenizer)
    checkpoints = Checkpoints(folder)
    checkpoints.save(1, model, {"step": 1})
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    changed, _, _ = make()
    with disk_with_room_for(room):
        with pytest.raises(ModelFolderError) as weights:
            save_weights(folder, changed)
        with pytest.raises(ModelFolderError) as checkpoint:
            checkpoints.save(2, changed, {"step": 2})
    after = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert after == before
    said = str(weights.value)
    assert said.startswith(f"{folder / 'weights.safetensors'} cannot be written: File too large")
    assert "what was saved before is untouched" in said
    assert "make room" in said
    assert "cannot be written: File too large" in str(checkpoint.value)
    latest = checkpoints.latest()
    assert latest is not None
    assert latest.state() == {"step": 1}
    assert torch.equal(load(folder).model.output.weight, model.output.weight)


def test_the_sentence_names_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, recipe, tokenizer = make()

    def full(*_: object) -> None:
        raise SafetensorError("Error: I/O error: No space left on device (os error 28)")

    monkeypatch.setattr("regard.folder.weights.save_file", full)
    with pytest.raises(ModelFolderError) as caught:
        save(tmp_path, model, recipe, tokenizer, tokenizer)
    assert str(caught.value) == (
        f"{tmp_path / 'weights.safetensors'} cannot be written: No space left on device; make "
        "room and give the command again, or choose another place"
    )
    assert not list(tmp_path.glob("*.partial"))


def test_a_place_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    _, recipe, tokenizer = make()
    with pytest.raises(ModelFolderError) as caught:
        begin(tmp_path / "file" / "run", recipe, tokenizer, tokenizer)
    assert str(caught.value) == f"{tmp_path / 'file' / 'run'} cannot be made: Not a directory"
