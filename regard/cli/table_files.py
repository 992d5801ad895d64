"""Tables of scores as files: .csv to compute with, .json with all of it, a picture to show."""

import csv
import io
import json
from pathlib import Path

from regard.errors import UsageError
from regard.systems.evaluation import ScoreTable, TabledScores

DATA = (".csv", ".json")
NOTHING = "–"  # a cell that has no number
_UNDRAWN = ("unknown", "chance")  # no shares of right answers, or always the same


def check_ending(path: Path | None) -> None:
    """Refuse a file that could not be written before anything is computed."""
    from regard.inspection.figures import FORMATS

    allowed = (*DATA, *(f".{one}" for one in FORMATS))
    if path is not None and path.suffix.lower() not in allowed:
        raise UsageError(
            f"--save {path}: its ending says what is written: choose {', '.join(allowed)}"
        )


def save_table(path: Path, found: TabledScores, shown: ScoreTable) -> None:
    """Write the rows that are shown, or everything as JSON."""
    from regard.files import write_text

    ending = path.suffix.lower()
    if ending == ".json":
        write_text(path, f"{json.dumps(found.to_dict(), ensure_ascii=False, indent=2)}\n")
    elif ending == ".csv":
        written = io.StringIO()
        rows = csv.writer(written, lineterminator="\n")
        rows.writerows(
            [shown.heads, *([cell.replace(",", "") for cell in row] for row in shown.rows)]
        )
        write_text(path, written.getvalue())
    else:
        _draw(path, shown)


def _draw(path: Path, shown: ScoreTable) -> None:
    """The columns that hold shares of right answers, as shades."""
    import numpy as np

    from regard.inspection.figures import table

    columns = list(zip(*shown.rows, strict=True))
    kept = [
        (head, cells)
        for head, cells in zip(shown.heads, columns, strict=True)
        if head not in _UNDRAWN and all(map(_is_share, cells))
    ]
    values = [
        [np.nan if one == NOTHING else float(one) / 100 for one in cells] for _, cells in kept
    ]
    heads = [head for head, _ in kept]
    table(np.array(values).T, columns[0], heads, shown.title, below="cells: % right").save(path)


def _is_share(cell: str) -> bool:
    if cell == NOTHING:
        return True
    try:
        return "." in cell and 0 <= float(cell) <= 100
    except ValueError:
        return False
