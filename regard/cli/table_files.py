"""Tables of scores as files: .csv to compute with, .json with all of it, a picture to show."""

import csv
import io
import json
from pathlib import Path

from regard.errors import UsageError
from regard.systems.evaluation import ScoreTable, TabledScores

DATA = (".csv", ".json")


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
    """The columns that hold numbers between 0 and 100, as shades."""
    import numpy as np

    from regard.inspection.figures import table

    kept = [
        j for j in range(1, len(shown.heads)) if all(map(_is_share, (r[j] for r in shown.rows)))
    ]
    values = np.array([[float(row[j]) for j in kept] for row in shown.rows])
    names = [row[0] for row in shown.rows]
    table(values, names, [shown.heads[j] for j in kept], shown.title).save(path)


def _is_share(cell: str) -> bool:
    try:
        return "." in cell and 0 <= float(cell) <= 100
    except ValueError:
        return False
