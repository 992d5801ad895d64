"""No test runs a benchmark: what they import of Regard is there all the same."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "benchmarks").glob("*.py"))


def test_they_are_found() -> None:
    assert SCRIPTS


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_what_a_script_imports_exists(script: Path) -> None:
    for node in ast.walk(ast.parse(script.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "regard":
            module = import_module(node.module or "")
            missing = [one.name for one in node.names if not _has(module, one.name)]
            assert not missing, f"{script.name}:{node.lineno}: {node.module} has no {missing}"


def _has(module: object, name: str) -> bool:
    if hasattr(module, name):
        return True
    try:
        import_module(f"{getattr(module, '__name__', '')}.{name}")
    except ModuleNotFoundError:
        return False
    return True
