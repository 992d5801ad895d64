"""The package builds without a compiler: quietly, and without kernels."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]
TAKEN = ("setup.py", "pyproject.toml", "README.md", "LICENSE")


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    for name in TAKEN:
        shutil.copy(PROJECT / name, tmp_path)
    left = shutil.ignore_patterns("compiled", "__pycache__")
    shutil.copytree(PROJECT / "regard", tmp_path / "regard", ignore=left)
    return tmp_path


def build(sources: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", ".", "--quiet"]
    command += ["--no-build-isolation", "--no-deps", "--no-index", "--wheel-dir", "out"]
    without = {"PATH": str(sources / "nothing"), "HOME": str(sources), "LANG": "C.UTF-8"}
    clean = without | environment
    return subprocess.run(
        command, cwd=sources, env=clean, capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(os.name == "nt", reason="compilers of Windows are not found by the path")
@pytest.mark.slow
def test_without_a_compiler_the_package_has_no_kernels(sources: Path) -> None:
    done = build(sources)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    (wheel,) = (sources / "out").glob("regard-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "regard/engine/native.py" in names
    assert "regard/engine/cpp/beams.cpp" in names
    assert not [name for name in names if name.endswith(".so")]
    refused = build(sources, REGARD_REQUIRE_NATIVE="1")
    assert refused.returncode
    assert "REGARD_REQUIRE_NATIVE is set" in refused.stdout + refused.stderr
