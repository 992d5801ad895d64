"""The notebooks run from top to bottom, without a network, and are kept without their outputs."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "docs" / "notebooks").glob("*.ipynb"))


def outputs(notebook: nbformat.NotebookNode) -> list[nbformat.NotebookNode]:
    return [one for cell in notebook.cells for one in cell.get("outputs", [])]


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["attention-by-hand", "look"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_cleared(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    assert outputs(notebook) == []
    assert all(cell.get("execution_count") is None for cell in notebook.cells)


# What the tools around a kernel deprecate is not ours to mend.
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    printed = "".join(one.get("text", "") for one in outputs(notebook))
    shown = [one.data for one in outputs(notebook) if "data" in one]
    assert any("image/svg+xml" in one for one in shown)
    if path.stem == "look":
        (trace,) = [one for one in shown if "text/html" in one]
        assert "三" in trace["image/svg+xml"]
        assert "sandbox" in trace["text/html"]
        for digit in "三一四五九":
            assert f"{digit} looks most at {digit}" in printed
        assert "before  九五四一三" in printed
    else:
        assert printed.count("0.") == 5  # the five best, with their shares
