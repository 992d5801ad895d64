"""What every test stands on: checked shapes, threads that fit the machine, steady random draws."""

import gc
import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import jaxtyping

# Shapes are checked only in modules imported after this line, so nothing of ours comes before it.
# Two rooms check their values by other means: config by pydantic, the command line by typer.
HOUSE = Path(__file__).parent.parent / "regard"
ROOMS = {room.name for room in HOUSE.iterdir() if room.is_dir()} - {"config", "cli", "corpora"}
jaxtyping.install_import_hook(
    sorted(f"regard.{room}" for room in ROOMS if room.isidentifier()), "beartype.beartype"
)

import pytest  # noqa: E402
import torch  # noqa: E402
from hypothesis import settings  # noqa: E402


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """How wide a terminal is said to be is each test's own; elsewhere nothing is cut."""
    os.environ.pop("COLUMNS", None)


# The tensors are tiny, and the other cores belong to other workers: threads would only wait.
torch.set_num_threads(1)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: looking through it for garbage costs a tenth."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


# The default run draws the same examples every time, here and in CI; to look for new ones:
# `pytest --hypothesis-profile explore tests/property`.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def _steady_seed() -> None:
    torch.default_generator.manual_seed(0)


@pytest.fixture
def as_users_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Types are checked while tests run alone: what a user's wrong call meets is our refusal."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-browser",
        action="store_true",
        help="A test marked browser that is skipped has failed.",
    )
    parser.addoption(
        "--write-skipped",
        metavar="FILE",
        help="Write what was skipped, a line each, to be run elsewhere: pytest @FILE.",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    is_required = item.config.getoption("--require-browser") and item.get_closest_marker("browser")
    if report.skipped and is_required and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, although --require-browser was given: {report.longrepr}"
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Count and name what was skipped; a reason says what would make the tests run."""
    skipped = [one for one in terminalreporter.stats.get("skipped", []) if one.longrepr]
    if file := terminalreporter.config.getoption("--write-skipped"):
        Path(file).write_text("".join(f"{one.nodeid}\n" for one in skipped), encoding="utf-8")
    if not skipped:
        return
    reasons = Counter(str(one.longrepr[2]).removeprefix("Skipped: ") for one in skipped)
    files = {one.nodeid.split("::")[0] for one in skipped}
    terminalreporter.section(f"{len(skipped)} skipped")
    for reason, number in reasons.most_common():
        terminalreporter.line(f"{number:5} {reason}")
    terminalreporter.line(f"      in {', '.join(sorted(files))}")
