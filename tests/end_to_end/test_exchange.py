"""`regard import`, `regard export` and `regard translate --engine` as commands."""

import json
from pathlib import Path

import pytest
import torch

from regard.cli import main
from regard.config import Recipe, TransformerSection
from regard.folder import save
from regard.systems import build
from regard.text import SentencePieceText

from .commands import run

SENTENCES = ["the dog runs over the street", "a cat sleeps near the old house"]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(1)
    tokenizer = SentencePieceText.train(SENTENCES, 300, is_upper_limit=True)
    section = TransformerSection(n_layers=1, d_model=12, n_heads=2, d_feedforward=20)
    network = build(section, len(tokenizer), len(tokenizer))
    folder = tmp_path_factory.mktemp("exchange") / "model"
    return save(folder, network, Recipe(model=section), tokenizer, tokenizer)


def command(*arguments: object) -> int:
    """The command in this process: starting torch five times would take longer than all else."""
    with pytest.raises(SystemExit) as left:
        main([str(one) for one in arguments])
    return int(left.value.code or 0)


def test_out_in_and_through_the_engine(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("ctranslate2")
    theirs, back, text = (tmp_path / name for name in ("theirs", "back", "text.en"))
    text.write_text("".join(f"{line}\n" for line in SENTENCES))
    assert command("export", model, "--to", "huggingface", "--out", theirs) == 0
    out, said = capsys.readouterr()
    assert not out
    assert "model.safetensors" in said
    assert command("import", theirs, "--out", back) == 0
    out, said = capsys.readouterr()
    assert not out
    assert "a model of kind transformer, 1 + 1 layers of width 12" in said
    written = []
    for name, *arguments in ((model,), (back,), (model, "--engine", "ctranslate2")):
        search = ("--beam", "1", "--device", "cpu", "--threads", "1")
        assert command("translate", name, text, *arguments, *search) == 0
        written.append(capsys.readouterr().out)
    assert len(written[0].splitlines()) == len(SENTENCES)
    assert written == written[:1] * 3
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
