"""What a reader has when the documentation says so: model folders, and a running service."""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from regard.cli import main

# The folders that examples open, and the command that makes each: what the reader would have typed,
# on less data and for two updates, so that only the sizes are those of the real model.
SHORT = ("--set", "training.updates=2", "--device", "cpu", "--threads", "1")
TRAINED = {
    "runs/demo/en-fr/model": (
        *("train", "phrasebook", "--data", "phrasebook:en-fr:1000", *SHORT),
        *("--set", "training.measure=loss", "--set", "training.decodes_at_validation=false"),
        *("--set", "text.size=700"),
    ),
    "runs/stories": ("train", "gpt-tiny", *SHORT),
    "runs/dialogue": (
        *("train", "dialogue", "--data", "smalltalk:en:1000", *SHORT, "--set", "text.size=400"),
        *("--set", "training.decodes_at_validation=false"),
    ),
    "runs/bert": ("train", "bert-tiny", *SHORT),
    "runs/kinds": ("train", "bert-classify", "--data", "sentence-kinds:en:500", *SHORT),
    "runs/roles": ("train", "bert-tag", "--data", "sentence-roles:en:500", *SHORT),
    "runs/parser": ("train", "parser", "--data", "phrasebook:en-fr:train:200", *SHORT),
    "runs/caption": (
        *(
            "train",
            "caption-soft",
            "--data",
            "scenes:en:300",
            *SHORT,
            "--set",
            "model.channels=[4,4,8]",
        ),
        *("--set", "training.measure=loss", "--set", "training.decodes_at_validation=false"),
    ),
    "runs/summary": (
        *("train", "summary", "--data", "smalltalk:en:300", *SHORT, "--set", "text.size=400"),
        *("--set", "training.decodes_at_validation=false"),
    ),
    "runs/ram": ("train", "ram", *SHORT, "--images", "digits:train:100"),
    "runs/sagan": (
        *("train", "sagan", *SHORT, "--images", str(Path(__file__).parents[2] / "docs/pictures")),
        *("--set", "model.channels=[8,8,8,8]", "--set", "training.batch_tokens=2"),
    ),
}
SERVED = "http://127.0.0.1:8000"


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives the model folder of a name in ``TRAINED``, trained when it is first asked for."""
    home = tmp_path_factory.mktemp("reader")

    def give(name: str) -> Path:
        folder = home / name
        if not folder.exists():
            said = io.StringIO()
            with contextlib.redirect_stderr(said), pytest.raises(SystemExit) as left:
                main([*TRAINED[name], "--out", str(folder)])
            assert left.value.code == 0, said.getvalue()
        return folder

    return give


@pytest.fixture
def reader(
    trained: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], None]:
    """Goes to an empty folder that holds no more than the model folders this text names."""
    monkeypatch.chdir(tmp_path)

    def put(text: str) -> None:
        for name in TRAINED:
            if re.search(rf"{re.escape(name)}\b", text):
                shutil.copytree(trained(name), tmp_path / name)

    return put


@contextmanager
def _serving(*arguments: str) -> Iterator[str]:
    """The address of `regard serve` on any free port, until the block ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "regard", "serve", *arguments, "--port", "0", "--threads", "1"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        encoding="utf-8",
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert process.stderr is not None
    try:
        said = process.stderr.readline()
        found = re.search(r"at (http://\S+)", said)
        assert found, said
        while "started" not in said:
            said = process.stderr.readline()
            assert said, "the service ended before it began"
        yield found[1]
    finally:
        process.kill()
        process.communicate()


@pytest.fixture
def served(trained: Callable[[str], Path]) -> Callable[[], contextlib.AbstractContextManager[str]]:
    """Serves both models, as docs/serve.md does."""

    def serve() -> contextlib.AbstractContextManager[str]:
        return _serving(
            f"en-fr={trained('runs/demo/en-fr/model')}", f"stories={trained('runs/stories')}"
        )

    return serve
