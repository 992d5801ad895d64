"""A model folder gives back what was saved, or says in one sentence why it cannot."""

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from regard.config import read_recipe
from regard.errors import ModelFolderError, RegardError
from regard.folder import begin, load_weights, put_into, save, save_weights
from regard.systems import build, load
from regard.text import Characters, Words

FIXTURES = Path(__file__).parents[2] / "fixtures"

SOURCE, TARGET = torch.tensor([[4, 7, 5, 3], [6, 3, 0, 0]]), torch.tensor([[2, 9, 8], [2, 5, 4]])


def small(*changes: str):
    tokenizer = Words.train(["ein hund läuft", "a dog runs", "the cat sleeps"])
    sizes = ("model.n_layers=1", "model.d_model=6", "model.n_heads=2", "model.d_feedforward=10")
    recipe = read_recipe("transformer-tiny", [*sizes, "model.dropout=0.1", *changes])
    return build(recipe.model, len(tokenizer), len(tokenizer)), recipe, tokenizer, tokenizer


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return save(tmp_path / "run", *small())


def refusal(path: Path) -> str:
    with pytest.raises(RegardError) as caught:
        load(path)
    return str(caught.value)


@pytest.mark.parametrize("tie", ["three-way", "two-way", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_what_was_saved_comes_back(tmp_path: Path, tie: str, positions: str) -> None:
    model, recipe, *tokenizers = small(f"model.tie={tie}", f"model.positions={positions}")
    save(tmp_path / "run", model, recipe, *tokenizers)
    loaded = load(tmp_path / "run")
    assert not loaded.model.training
    assert (loaded.recipe, loaded.path, loaded.format) == (recipe, tmp_path / "run", 1)
    assert loaded.source_tokenizer is loaded.target_tokenizer
    assert loaded.source_tokenizer.fingerprint == tokenizers[0].fingerprint
    assert torch.equal(loaded.model(SOURCE, TARGET), model.eval()(SOURCE, TARGET))
    assert len(list(loaded.model.parameters())) == len(list(model.parameters()))


def test_the_folder_holds_these_files(folder: Path) -> None:
    assert sorted(one.name for one in folder.iterdir()) == [
        "CHECKSUMS",
        "FORMAT",
        "recipe.toml",
        "tokenizer.json",
        "weights.safetensors",
    ]
    assert (folder / "FORMAT").read_text() == "1\n"
    modes = {one.stat().st_mode for one in folder.iterdir()}
    assert len(modes) == 1  # all as the user's mask has it


def test_tied_weights_are_stored_once(folder: Path) -> None:
    names = load_file(folder / "weights.safetensors").keys()
    assert "encoder.embedding.weight" in names
    assert "decoder.embedding.weight" not in names
    assert "output.weight" not in names
    with safe_open(folder / "weights.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt"}


def test_weights_that_lie_in_one_buffer_are_stored_apart(tmp_path: Path) -> None:
    model, *rest = small()
    parameters = list(model.parameters())
    flat = torch.cat([p.detach().flatten() for p in parameters])
    start = 0
    for parameter in parameters:
        parameter.data = flat[start : start + parameter.numel()].view_as(parameter)
        start += parameter.numel()
    save(tmp_path / "run", model, *rest)
    loaded = load(tmp_path / "run")
    assert torch.equal(loaded.model(SOURCE, TARGET), model.eval()(SOURCE, TARGET))
    # Loading copies in place, so the buffer stays the model's home.
    flat.zero_()
    load_weights(tmp_path / "run", model)
    assert torch.equal(loaded.model(SOURCE, TARGET), model(SOURCE, TARGET))
    assert flat.abs().sum() > 0


def test_separate_tokenizers_are_two_files(tmp_path: Path) -> None:
    _, recipe, source, _ = small("model.tie=two-way")
    target = Characters.train(["a dog runs"])
    model = build(recipe.model, len(source), len(target))
    save(tmp_path / "run", model, recipe, source, target)
    names = {one.name for one in (tmp_path / "run").glob("tokenizer*")}
    assert names == {"tokenizer.source.json", "tokenizer.target.json"}
    loaded = load(tmp_path / "run")
    assert loaded.source_tokenizer.encode("dog runs") == source.encode("dog runs")
    assert loaded.target_tokenizer.encode("dog") == target.encode("dog")


def test_loading_leaves_random_numbers_alone(folder: Path) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    load(folder)
    assert torch.equal(torch.rand(3), expected)


def test_new_weights_take_the_place_of_the_old(folder: Path) -> None:
    model, *_ = small()
    save_weights(folder, model)
    assert torch.equal(load(folder).model(SOURCE, TARGET), model.eval()(SOURCE, TARGET))


def test_other_training_and_dropout_is_still_the_same_model(folder: Path) -> None:
    save(folder, *small("training.updates=7", "model.dropout=0.4"))
    loaded = load(folder)
    assert (loaded.recipe.training.updates, loaded.recipe.model.dropout) == (7, 0.4)


def test_another_model_is_refused(folder: Path) -> None:
    before = load(folder)
    with pytest.raises(ModelFolderError) as caught:
        save(folder, *small("model.activation=gelu"))
    assert str(caught.value) == (
        f"{folder} already holds another model, with model.activation = 'relu', not 'gelu': choose "
        "another folder, or remove this one"
    )
    model, recipe, *_ = small()
    other = Words.train(["uno dos tres"])
    with pytest.raises(ModelFolderError) as caught:
        save(folder, model, recipe, other, other)
    assert "already holds another model, with another tokenizer:" in str(caught.value)
    assert torch.equal(load(folder).model(SOURCE, TARGET), before.model(SOURCE, TARGET))


def test_before_there_are_weights_anything_may_change(tmp_path: Path) -> None:
    _, recipe, source, target = small("model.tie=two-way")
    begin(tmp_path, recipe, source, Words.train(["x y"]))
    begin(tmp_path, recipe, source, target)
    assert [one.name for one in tmp_path.glob("tokenizer*")] == ["tokenizer.json"]
    assert refusal(tmp_path) == (
        f"{tmp_path} has no weights.safetensors yet: its training has not kept any weights so "
        "far; let it go on"
    )


def test_leftovers_are_cleaned_by_the_next_save(folder: Path) -> None:
    (folder / "weights.safetensors.partial").mkdir()
    (folder / "weights.safetensors.partial" / ".tmpX").write_bytes(b"half")
    (folder / "recipe.toml.partial").write_text("half")
    save(folder, *small())
    assert not list(folder.glob("*.partial"))
    load(folder)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert refusal(tmp_path / "no") == (
        f"there is no model folder {tmp_path / 'no'}: give the folder that `regard train --out` "
        "made"
    )


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    assert refusal(tmp_path) == (
        f"{tmp_path} is not a model folder: it has no FORMAT, recipe.toml, weights.safetensors "
        "and tokenizer.*; give the folder that `regard train --out` made"
    )
    begin(tmp_path, *small()[1:])
    (tmp_path / "recipe.toml").unlink()
    (tmp_path / "tokenizer.json").unlink()
    (tmp_path / "weights.safetensors").touch()
    assert refusal(tmp_path) == (
        f"{tmp_path} is not a model folder: it has no recipe.toml and tokenizer.*; give the folder "
        "that `regard train --out` made"
    )


def test_a_pickle_is_never_opened(tmp_path: Path) -> None:
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x02")
    reason = "a pickle, which can run code when it is opened, so Regard never opens one"
    assert refusal(tmp_path / "pytorch_model.bin") == (
        f"{tmp_path / 'pytorch_model.bin'} is {reason}: give the folder that `regard train` made"
    )
    assert refusal(tmp_path) == (
        f"{tmp_path} is not a model folder: it holds pytorch_model.bin, {reason}"
    )


def test_a_file_is_not_a_folder(folder: Path) -> None:
    file = folder / "weights.safetensors"
    assert refusal(file) == f"{file} is a file: give the folder that `regard train` made"
    with pytest.raises(ModelFolderError) as caught:
        save(file, *small())
    assert str(caught.value) == f"{file} is a file: a model needs a folder of its own"


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.999])
def test_weights_that_were_cut_short(folder: Path, share: float) -> None:
    file = folder / "weights.safetensors"
    os.truncate(file, int(share * file.stat().st_size))
    assert "CHECKSUMS" in refusal(folder)
    (folder / "CHECKSUMS").unlink()
    sentence = refusal(folder)
    assert sentence.startswith(f"{file} is damaged or was cut short (")
    assert sentence.endswith("): copy it again from where it came from, or train again")
    assert "\n" not in sentence


def test_a_newer_format(folder: Path) -> None:
    (folder / "FORMAT").write_text("3\n")
    sentence = (
        f"{folder} was made by a newer Regard (format 3; this one reads up to 1): update Regard's "
        "source folder and run pip install . there"
    )
    assert refusal(folder) == sentence
    (folder / "weights.safetensors").unlink()  # a newer format may name its files differently
    assert refusal(folder) == sentence


@pytest.mark.parametrize("said", ["", "one", "0", "-1", "²", "1" * 20])
def test_a_format_that_is_none(folder: Path, said: str) -> None:
    (folder / "FORMAT").write_text(said, encoding="utf-8")
    assert refusal(folder) == (
        f"{folder / 'FORMAT'} says {said!r}: the number of a format is "
        "expected (this Regard reads up to 1)"
    )


def test_a_damaged_recipe(folder: Path) -> None:
    (folder / "recipe.toml").write_text("[model")
    assert "CHECKSUMS" in refusal(folder)
    (folder / "CHECKSUMS").unlink()
    assert refusal(folder).startswith(f"{folder / 'recipe.toml'}, line 1 is not TOML: ")


def test_a_hugging_face_folder_is_told_how_it_becomes_one(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(b"")
    assert refusal(tmp_path) == (
        f"{tmp_path} is a Hugging Face folder and not a model folder: make one of it with `regard "
        f"import {tmp_path} --out MODEL`, and give that"
    )


def test_weights_of_another_model(folder: Path) -> None:
    file = folder / "weights.safetensors"
    (folder / "CHECKSUMS").unlink()
    whole = load_file(file)
    lacking = dict(whole)
    del lacking["decoder.norm.bias"], lacking["decoder.norm.weight"]
    save_file(lacking, file)
    assert refusal(folder) == (
        f"{file} does not fit the recipe: it lacks decoder.norm.weight (and 1 more); recipe and "
        "weights are of different models, take both from one"
    )
    save_file({**whole, "extra": torch.zeros(2)}, file)
    assert refusal(folder) == (
        f"{file} does not fit the recipe: it has extra, which the model has not; recipe and "
        "weights are of different models, take both from one"
    )
    save_file({**whole, "decoder.norm.bias": torch.zeros(5, 2)}, file)
    assert refusal(folder) == (
        f"{file} does not fit the recipe: decoder.norm.bias has shape 5 × 2, and the recipe and "
        "tokenizer ask for 6; they are of different models, take all from one"
    )


def test_a_recipe_of_a_larger_model_is_refused_before_it_is_built(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "CHECKSUMS").unlink()
    path = folder / "recipe.toml"
    larger = path.read_text(encoding="utf-8").replace("d_feedforward = 10", "d_feedforward = 60000")
    path.write_text(larger, encoding="utf-8")
    monkeypatch.setattr("regard.systems.loading.build", lambda *_: pytest.fail("it was built"))
    sentence = refusal(folder)
    assert str(folder / "weights.safetensors") in sentence
    assert "60000" in sentence


def test_a_tied_tensor_may_come_under_any_of_its_names() -> None:
    model, *_ = small()
    twin, *_ = small()
    put_into(twin, model.state_dict())
    assert torch.equal(twin.eval()(SOURCE, TARGET), model.eval()(SOURCE, TARGET))
    renamed = {
        {"encoder.embedding.weight": "output.weight"}.get(name, name): tensor
        for name, tensor in model.state_dict().items()
        if name not in ("decoder.embedding.weight", "output.weight")
    }
    fresh, *_ = small()
    put_into(fresh, renamed)
    assert torch.equal(fresh.eval()(SOURCE, TARGET), model(SOURCE, TARGET))


def test_half_precision_weights_load_as_floats(folder: Path) -> None:
    model, *_ = small()
    save_weights(folder, {name: t.bfloat16() for name, t in nn.Module.state_dict(model).items()})
    loaded = load(folder).model
    assert {p.dtype for p in loaded.parameters()} == {torch.float32}


@pytest.mark.parametrize("version", [1])
def test_every_past_format_gives_the_same_numbers_for_good(version: int) -> None:
    loaded = load(FIXTURES / f"model-format-{version}")
    stored = json.loads((FIXTURES / f"model-format-{version}.expected.json").read_text())
    logits = loaded.model(torch.tensor(stored["source"]), torch.tensor(stored["target"]))
    torch.testing.assert_close(logits, torch.tensor(stored["logits"]), rtol=1e-5, atol=1e-6)
    assert loaded.source_tokenizer.encode("ein hund läuft") == stored["source"][0][:-1]
    assert loaded.format == version
