"""A wheel brings its C++ kernels: in a clean environment without a compiler they are used."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

WHEEL = os.environ.get("REGARD_WHEEL")

pytestmark = pytest.mark.skipif(
    not WHEEL, reason="no wheel: run make wheel, and set REGARD_WHEEL to what it puts into dist/"
)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment with the wheel, and with the dependencies that are here."""
    folder = tmp_path_factory.mktemp("clean") / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    given = Path(str(WHEEL))
    (wheel,) = given.parent.glob(given.name)
    pip = [f"{folder}/bin/python", "-I", "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", "--no-index", "--no-deps", wheel], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    return folder


def run(environment: Path, folder: Path, *command: str) -> str:
    clean = {"PATH": str(environment / "bin"), "HOME": str(folder), "LANG": "C.UTF-8"}
    done = subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def test_its_kernels_are_used(environment: Path, tmp_path: Path) -> None:
    asked = "from regard import engine; print(engine.__file__, engine.instructions())"
    place, said = run(environment, tmp_path, "python", "-c", asked).split()
    assert Path(place).is_relative_to(environment)
    assert said != "None"
    (tmp_path / "pairs.tsv").write_text("a b c\tc b a\nb d\td b\n" * 9, encoding="utf-8")
    trained = run(
        *(environment, tmp_path, "regard", "train", "transformer-tiny", "--data", "pairs.tsv"),
        *("--set", "text.kind=words", "--set", "training.updates=2", "--out", "model"),
    )
    assert f"C++ kernels ({said})" in trained
    assert not (tmp_path / ".cache" / "regard").exists()  # nothing was compiled
