"""A language of eight words in which translating is reversing, and the command that learns it."""

import random
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from regard.cli import main

from .commands import run

TINY = (
    "model.d_model=16",
    "model.n_heads=2",
    "model.d_feedforward=32",
    "model.n_layers=1",
    "text.kind=words",
    "training.batch_tokens=128",
    "training.learning_rate=0.01",
    "training.warmup=10",
    "training.updates=60",
    "training.validate_every=20",
    "training.save_every=10",
    "training.average_last=3",
)


@dataclass(frozen=True)
class Toy:
    """A folder with train.a, train.b, valid.a and valid.b."""

    folder: Path

    def arguments(self, out: str | Path, *changes: str) -> list[str]:
        """What follows `regard` to train on it; later changes win."""
        files = {
            "--source": "train.a",
            "--target": "train.b",
            "--valid-source": "valid.a",
            "--valid-target": "valid.b",
        }
        named = [part for key, name in files.items() for part in (key, str(self.folder / name))]
        return ["train", "transformer-tiny", *named, "--out", str(out), *settings(*changes)]


def settings(*changes: str) -> list[str]:
    """Tiny sizes, and changes to them, on one thread."""
    merged = dict(change.split("=", 1) for change in (*TINY, *changes))
    sets = [part for key, value in merged.items() for part in ("--set", f"{key}={value}")]
    return ["--device", "cpu", "--threads", "1", *sets]


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    folder = tmp_path_factory.mktemp("toy")
    draw = random.Random(1)
    for name, n in (("train", 300), ("valid", 30)):
        lines = [draw.choices("abcdefgh", k=draw.randint(3, 9)) for _ in range(n)]
        for side, step in (("a", 1), ("b", -1)):
            text = "".join(" ".join(words[::step]) + "\n" for words in lines)
            (folder / f"{name}.{side}").write_text(text, encoding="utf-8")
    return Toy(folder)


@pytest.fixture(scope="session")
def regard():  # type: ignore[no-untyped-def]
    """The real command, in a process of its own."""
    return run


@pytest.fixture(scope="session")
def finished(
    toy: Toy, tmp_path_factory: pytest.TempPathFactory
) -> tuple[subprocess.CompletedProcess[str], Path]:
    """A run that nobody disturbed, with dropout, and what it printed."""
    out = tmp_path_factory.mktemp("finished") / "run"
    return run(toy.arguments(out)), out


def called(capture: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """What a command says when called in this process: its exit code, stdout and stderr."""
    with pytest.raises(SystemExit) as left:
        main(list(map(str, arguments)))
    out, err = capture.readouterr()
    return int(left.value.code or 0), out, err
