"""`regard import`, `regard export` and `regard translate --engine` as commands."""

import json
from pathlib import Path

import pytest
import torch

from regard.checkpoint import save
from regard.models import build
from regard.recipes import Recipe, TransformerSection
from regard.text import SentencePieceText

from .conftest import run

SENTENCES = ["the dog runs over the street", "a cat sleeps near the old house"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(1)
    tokenizer = SentencePieceText.train(SENTENCES, 300, is_upper_limit=True)
    section = TransformerSection(n_layers=1, d_model=12, n_heads=2, d_feedforward=20)
    network = build(section, len(tokenizer), len(tokenizer))
    folder = tmp_path_factory.mktemp("exchange") / "model"
    return save(folder, network, Recipe(model=section), tokenizer, tokenizer)


def translated(*arguments: object, text: Path) -> str:
    done = run(["translate", *map(str, arguments), str(text), "--beam", "1", "--device", "cpu"])
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_out_in_and_through_the_engine(model: Path, tmp_path: Path) -> None:
    pytest.importorskip("ctranslate2")
    text = tmp_path / "text.en"
    text.write_text("".join(f"{line}\n" for line in SENTENCES))
    out = run(["export", str(model), "--to", "huggingface", "--out", str(tmp_path / "theirs")])
    assert (out.returncode, out.stdout) == (0, "")
    assert "model.safetensors" in out.stderr
    back = run(["import", str(tmp_path / "theirs"), "--out", str(tmp_path / "back")])
    assert (back.returncode, back.stdout) == (0, "")
    assert "a model of kind transformer, 1 + 1 layers of width 12" in back.stderr
    expected = translated(model, text=text)
    assert len(expected.splitlines()) == len(SENTENCES)
    assert translated(tmp_path / "back", text=text) == expected
    assert translated(model, "--engine", "ctranslate2", text=text) == expected
    assert (model / "engines" / "ctranslate2-float32" / "model.bin").is_file()


def test_what_is_refused_is_one_sentence_and_exit_2(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "pickled"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "marian"}))
    (folder / "pytorch_model.bin").write_bytes(b"\x80")
    done = run(["import", str(folder), "--out", str(tmp_path / "new")])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"regard: {folder} keeps its weights in pytorch_model.bin")
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "new").exists()
