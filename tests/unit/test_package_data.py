"""What the package reads at run time is in its wheel: every file that is no module is declared."""

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

PROJECT = Path(__file__).parents[2]


def test_every_data_file_is_declared() -> None:
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = declared["tool"]["setuptools"]["package-data"]["regard"]
    package = PROJECT / "regard"
    data = [
        path.relative_to(package).as_posix()
        for path in package.rglob("*")
        if path.is_file()
        and path.suffix != ".py"
        and {"__pycache__", "compiled"}.isdisjoint(path.parts)  # which setup.py puts there
    ]
    assert "corpora/phrasebook/words.toml" in data
    missing = [name for name in data if not any(fnmatchcase(name, one) for one in patterns)]
    assert missing == []


def test_every_pattern_finds_something() -> None:
    declared = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = declared["tool"]["setuptools"]["package-data"]["regard"]
    assert [one for one in patterns if not any((PROJECT / "regard").glob(one))] == []
