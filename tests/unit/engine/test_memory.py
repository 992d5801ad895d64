"""What an opened model holds of memory: its matrices once, and the file's pages when asked for."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

from regard.config import Recipe, TrainingSection
from regard.config.networks import TransformerSection
from regard.engine import is_native
from regard.folder import save
from regard.systems import Translator, load
from regard.systems.system import build
from regard.text import Words

WORDS = Words.train([" ".join(f"w{i}" for i in range(3000))])
MEASURED = """
import gc, sys, torch
from regard.decoding import Search
from regard.systems import Translator

def held():
    gc.collect()
    lines = open("/proc/self/status").read().splitlines()
    return sum(int(one.split()[1]) for one in lines if one.startswith(("RssAnon", "RssFile")))

small, folder, precision = sys.argv[1:]
list(Translator.open(small).outputs(["w1 w2"], Search(width=2)))
before = held()
opened = Translator.open(folder, precision=precision)
opened.decoders
print(held() - before)
"""


def folder_of(path: Path, width: int) -> Path:
    torch.manual_seed(1)
    section = TransformerSection(
        d_model=width, n_heads=2, d_feedforward=4 * width, n_layers=2, dropout=0.0
    )
    model = build(section, len(WORDS), len(WORDS))
    recipe = Recipe(model=section, training=TrainingSection(decodes_at_validation=False))
    return save(path, model, recipe, WORDS, WORDS)


@pytest.fixture(autouse=True)
def _needs_kernels() -> None:
    if not is_native():
        pytest.skip("no C++ kernels: install g++ on Linux, for example with apt-get install g++")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what is resident")
@pytest.mark.parametrize(("precision", "most"), [("float32", 1.2), ("int8", 0.6)])
def test_an_opened_model_holds_its_matrices_once(
    tmp_path: Path, precision: str, most: float
) -> None:
    small, large = folder_of(tmp_path / "small", 32), folder_of(tmp_path / "large", 512)
    command = [sys.executable, "-c", MEASURED, str(small), str(large), precision]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(done.stdout) * 1024 < most * (large / "weights.safetensors").stat().st_size


def test_who_looks_inside_finds_the_weights_as_they_were(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", 32)
    plain = load(folder)
    copied = {name: one.clone() for name, one in plain.model.state_dict().items()}
    opened = Translator.open(folder)
    found = opened.translate("w7 w9", max_length=5)
    after = opened.model.state_dict()
    assert all(torch.equal(one, after[name]) for name, one in copied.items())
    assert opened.trace("w7 w9", target=found.text).output == found.text


def test_a_change_of_a_model_stays_out_of_its_file(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "model", 32)
    held = (folder / "weights.safetensors").read_bytes()
    opened = Translator.open(folder)
    with torch.no_grad():
        changed = opened.model.decoder.layers[0].feedforward.widen.weight
        changed.add_(1.0)
    before = changed.clone()
    _ = opened.decoders
    assert torch.equal(changed, before)  # what was given back is the file's alone
    assert (folder / "weights.safetensors").read_bytes() == held
