"""Imports point one way: the table below is the rule, and every module of regard/ keeps it."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).parents[2]

# A room is a folder or file directly under regard/. The bottom row carries all the others.
BOTTOM = ("errors", "shapes", "special", "counting")

MAY_IMPORT: dict[str, tuple[str, ...]] = {
    # room            may import, besides itself
    "errors": (),
    "files": ("errors",),
    "devices": ("errors",),
    "shapes": (),
    "special": (),
    "counting": (),
    "config": ("errors", "counting"),
    "text": ("errors", "files", "special"),  # not shapes, which brings torch in
    "attention": BOTTOM,
    "evaluation": BOTTOM,
    "corpora": ("errors", "text.turns"),
    "data": (*BOTTOM, "files", "text", "corpora"),
    "models": (*BOTTOM, "attention"),  # layers take plain arguments
    # The same numbers, sooner: it knows the models, and they know nothing of it.
    "engine": (*BOTTOM, "files", "attention", "models"),
    "decoding": (*BOTTOM, "models.interface"),  # any search serves any model
    "inspection": (*BOTTOM, "files", "text", "attention"),  # its probes; any model that has them
    "folder": (*BOTTOM, "config", "files", "attention", "models", "text"),
    # A run validates by decoding and scoring, and saves as it goes (docs/decisions/001).
    "training": (
        *BOTTOM,
        "config",
        *("files", "engine", "models", "data", "text", "folder"),
        *("decoding", "evaluation"),
    ),
    # What one can train and use: the one room that knows them all.
    "systems": (
        *BOTTOM,
        *("config", "files", "devices", "text", "corpora", "data", "engine", "attention"),
        *("models", "decoding", "evaluation", "inspection", "folder", "training"),
    ),
    # What is shown rather than used; no room but service and command line build on it.
    "lessons": (
        *BOTTOM,
        "config",
        "files",
        *("text", "corpora", "data", "attention", "models", "decoding", "evaluation"),
        *("inspection", "folder", "training", "systems"),
    ),
    # It wraps models so that a search over them can be heard, and broken off (docs/decisions/014).
    "serving": (
        *BOTTOM,
        "config",
        *("decoding", "inspection", "folder", "models", "text", "systems"),
        "lessons.explanation",  # for learners at the page (docs/decisions/022)
    ),
    "cli": ("*",),
    "api": (*BOTTOM, "inspection", "systems", "training"),  # what scripts use
    "__init__": ("api", "errors"),  # and only when it is asked for
    "__main__": ("cli",),
}

# Packages that a room and all it imports must do without.
DOES_WITHOUT = dict.fromkeys(("errors", "files", "config", "text", "corpora"), ("torch",))


def violations(path: str, source: str) -> list[str]:
    """What a module imports against the table, one sentence each; ``path`` starts at regard/."""
    parts = Path(path).with_suffix("").parts
    room = parts[1]
    if room not in MAY_IMPORT:
        return [f"{path}:1: {room} is not in the table of rooms: say there what it may import"]
    found = []
    for line, name in _imports(ast.parse(source), package=parts[:-1]):
        outer, _, inner = name.partition(".")
        if outer != "regard":
            if outer in DOES_WITHOUT.get(room, ()):
                found.append(f"{path}:{line}: {room} does without {outer}, but imports {name}")
            continue
        wanted = inner.partition(".")[0]
        if not wanted or wanted == "__version__" or wanted == room:
            continue
        allowed = MAY_IMPORT[room]
        if "*" in allowed or any(f"{inner}.".startswith(f"{one}.") for one in allowed):
            continue
        choices = ", ".join(allowed) or "nothing of ours"
        found.append(f"{path}:{line}: {room} may import {choices}; not {name}")
    return found


def _imports(tree: ast.AST, package: tuple[str, ...]) -> Iterator[tuple[int, str]]:
    """Each imported name in full with its line, wherever in the module it stands."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                above = package[: len(package) - level + 1] if level else ()
                start = ".".join((*above, *([module] if module else [])))
                yield from ((node.lineno, f"{start}.{alias.name}") for alias in names)
            case ast.Call(func=function, args=[ast.Constant(value=str(name)), *_]):
                if ast.unparse(function).split(".")[-1] in {"import_module", "__import__"}:
                    yield node.lineno, name


def _modules() -> list[Path]:
    return sorted((PROJECT / "regard").rglob("*.py"))


def test_every_module_keeps_the_direction() -> None:
    assert _modules()
    found = [
        sentence
        for module in _modules()
        for sentence in violations(
            module.relative_to(PROJECT).as_posix(), module.read_text(encoding="utf-8")
        )
    ]
    assert not found, "\n" + "\n".join(found)


def test_the_table_goes_round_in_no_circle() -> None:
    done: set[str] = set()

    def visit(room: str, above: tuple[str, ...]) -> None:
        assert room not in above, " -> ".join((*above, room))
        if room not in done:
            for below in MAY_IMPORT[room]:
                if below != "*":
                    visit(below.partition(".")[0], (*above, room))
            done.add(room)

    for room in MAY_IMPORT:
        visit(room, ())


def test_text_does_without_torch_at_run_time() -> None:
    code = "import regard.text, sys; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=PROJECT, check=False).returncode == 0


@pytest.mark.parametrize(
    ("path", "source", "sentence"),
    [
        (
            "regard/attention/scores.py",
            "import math\nimport regard.models.transformer\n",
            "regard/attention/scores.py:2: attention may import …; not regard.models.transformer",
        ),
        (
            "regard/models/gpt.py",
            "def look():\n    from regard.inspection import record\n",
            "regard/models/gpt.py:2: models may import …; not regard.inspection.record",
        ),
        (
            "regard/models/gpt.py",
            "from regard import attention, training\n",
            "regard/models/gpt.py:1: models may import …; not regard.training",
        ),
        (
            "regard/data/readers.py",
            "from ..models import Transformer\n",
            "regard/data/readers.py:1: data may import …; not regard.models.Transformer",
        ),
        (
            "regard/data/__init__.py",
            "from .. import cli\n",
            "regard/data/__init__.py:1: data may import …; not regard.cli",
        ),
        (
            "regard/decoding/beam.py",
            "from regard.models import Step\n",
            "regard/decoding/beam.py:1: decoding may import …; not regard.models.Step",
        ),
        (
            "regard/decoding/beam.py",
            "from regard.models.interfaces import Step\n",
            "regard/decoding/beam.py:1: decoding may import …; not regard.models.interfaces.Step",
        ),
        (
            "regard/errors.py",
            "from regard.shapes import Tensor\n",
            "regard/errors.py:1: errors may import nothing of ours; not regard.shapes.Tensor",
        ),
        (
            "regard/config/schema.py",
            "import importlib\nimportlib.import_module('regard.text')\n",
            "regard/config/schema.py:2: config may import …; not regard.text",
        ),
        (
            "regard/text/words.py",
            "if True:\n    import torch.nn as nn\n",
            "regard/text/words.py:2: text does without torch, but imports torch.nn",
        ),
        (
            "regard/text/words.py",
            "from regard.shapes import Tensor\n",
            "regard/text/words.py:1: text may import …; not regard.shapes.Tensor",
        ),
        (
            "regard/helpers/strings.py",
            "",
            "regard/helpers/strings.py:1: helpers is not in the table of rooms: "
            "say there what it may import",
        ),
    ],
)
def test_the_checker_catches(path: str, source: str, sentence: str) -> None:
    allowed = ", ".join(MAY_IMPORT.get(Path(path).with_suffix("").parts[1], ()))
    assert violations(path, source) == [sentence.replace("…", allowed)]


def test_layers_never_see_configuration() -> None:
    """Only systems, which build a model from a recipe, know both."""
    rooms = [PROJECT / "regard" / room for room in ("attention", "models", "decoding")]
    found = [
        path.relative_to(PROJECT).as_posix()
        for room in rooms
        for path in sorted(room.rglob("*.py"))
        if "regard.config" in path.read_text("utf-8")
    ]
    assert not found


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("regard/attention/attend.py", "from regard.attention.probe import Probe\n"),
        ("regard/attention/attend.py", "from .probe import Probe\nfrom . import masks\n"),
        ("regard/attention/attend.py", "import torch\nfrom regard.shapes import Float\n"),
        ("regard/decoding/beam.py", "from regard.models.interface import Step\n"),
        ("regard/decoding/beam.py", "from regard.models import interface\n"),
        ("regard/decoding/beam.py", "import regard.models.interface\n"),
        ("regard/training/loop.py", "from regard import folder, __version__\n"),
        ("regard/cli/train.py", "from regard.training import train\nimport regard\n"),
        ("regard/__main__.py", "from regard.cli import main\n"),
        ("regard/text/words.py", "import regardless\nfrom regard.errors import TextError\n"),
    ],
)
def test_the_checker_lets_pass(path: str, source: str) -> None:
    assert violations(path, source) == []
