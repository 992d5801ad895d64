"""What every test stands on: checked shapes, threads that fit the machine, steady random draws."""

from pathlib import Path

import jaxtyping

# Shapes are checked only in modules imported after this line, so nothing of ours comes before it.
# Two rooms check their values by other means: recipes by pydantic, the command line by typer.
HOUSE = Path(__file__).parent.parent / "regard"
ROOMS = {room.name for room in HOUSE.iterdir() if room.is_dir()} - {"recipes", "cli", "corpora"}
jaxtyping.install_import_hook(
    sorted(f"regard.{room}" for room in ROOMS if room.isidentifier()), "beartype.beartype"
)

import pytest  # noqa: E402
import torch  # noqa: E402
from hypothesis import settings  # noqa: E402

# The tensors are tiny, and the other cores belong to other workers: threads would only wait.
torch.set_num_threads(1)

# The default run draws the same examples every time, here and in CI; to look for new ones:
# `pytest --hypothesis-profile explore tests/property`.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=40)
settings.register_profile("explore", deadline=None, max_examples=1000)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def _steady_seed() -> None:
    torch.manual_seed(0)


@pytest.fixture
def as_users_call(monkeypatch: pytest.MonkeyPatch) -> None:
    """Types are checked while tests run alone: what a user's wrong call meets is our refusal."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
