"""docs/architecture.md adds a system: its files, put into a copy of Regard, train and are used."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .pages import DOCS, PROJECT

PAGES = [DOCS / "architecture.md", DOCS / "architecture.zh.md"]
TITLED = re.compile(r'^```\w+ title="([^"]+)"\n(.*?)^```$', re.MULTILINE | re.DOTALL)
SECTIONS = "regard/config/networks.py"
ENTRY, TERMINAL, SCRIPT = f"NETWORKS in {SECTIONS}", "in a terminal", "in Python"
# What the reader types, on less data and for a few updates.
LESS = {
    "--corpus reverse --out": "--corpus reverse:600 --device cpu --threads 1 "
    "--set training.updates=4 --set training.batch_tokens=128 "
    "--set training.measure=loss --set training.decodes_at_validation=false --out",
    "reverse:test": "reverse:test:20",
}
RUN = """
import sys
from pathlib import Path
import regard
from regard.cli import main
assert Path(regard.__file__).is_relative_to(Path.cwd()), regard.__file__
for arguments in {commands!r}:
    print("$", *arguments, flush=True)
    try:
        main(arguments)
    except SystemExit as left:
        if left.code:
            raise
exec(compile(Path("script.py").read_text("utf-8"), "script.py", "exec"))
"""


def shown() -> dict[str, str]:
    """Title -> text of each block that the page names."""
    return dict(TITLED.findall(PAGES[0].read_text("utf-8")))


def test_both_languages_show_the_same_files() -> None:
    english, chinese = (TITLED.findall(page.read_text("utf-8")) for page in PAGES)
    assert english
    assert english == chinese


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with Regard and what the page adds."""
    home = tmp_path_factory.mktemp("added")
    leave = shutil.ignore_patterns("__pycache__", "recorded", "studio*")
    shutil.copytree(PROJECT / "regard", home / "regard", ignore=leave)
    blocks = shown()
    listed = home / SECTIONS
    before, found, after = listed.read_text("utf-8").partition("NETWORKS: dict[")
    head, end, tail = f"{found}{after}".partition("\n}\n")
    assert found
    assert end
    listed.write_text(
        f"{before}{blocks.pop(SECTIONS)}\n\n{head}\n{blocks.pop(ENTRY).rstrip()}{end}{tail}",
        "utf-8",
    )
    (home / "script.py").write_text(blocks.pop(SCRIPT), "utf-8")
    blocks.pop(TERMINAL)
    assert len(blocks) == 3, "a model, a system and a recipe"
    for name, text in blocks.items():
        assert not (home / name).exists(), f"{name} is new"
        (home / name).write_text(text, "utf-8")
    return home


def commands() -> list[list[str]]:
    typed = shown()[TERMINAL]
    for long, short in LESS.items():
        assert long in typed
        typed = typed.replace(long, short)
    return [shlex.split(line)[2:] for line in typed.splitlines()]


def test_the_files_are_formatted_and_sound(copy: Path) -> None:
    config = str(PROJECT / "pyproject.toml")
    names = [SECTIONS, *(name for name in shown() if name.endswith(".py") and " " not in name)]
    for check in (["format", "--check"], ["check"]):
        done = subprocess.run(
            [sys.executable, "-m", "ruff", *check, "--no-cache", "--config", config, *names],
            cwd=copy,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_system_is_trained_used_traced_and_evaluated(copy: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", RUN.format(commands=commands())],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (copy / "runs" / "reverse" / "weights.safetensors").exists()
    assert "$ look runs/reverse 3 1 4 1 5\n3 1 4 1 5\n" in done.stdout
    assert re.search(r"^exact match +\d", done.stdout, re.MULTILINE)
    assert "pointer, 1 + 1 layers of GRU, 128 wide" in done.stdout
    *_, matrix, measured = done.stdout.splitlines()
    assert matrix.startswith("AttentionMatrix(cross.0, mean of heads,")
    assert re.fullmatch(r"ExactMatch\(n_sequences=100, exact=[\d.e-]+\)", measured)
