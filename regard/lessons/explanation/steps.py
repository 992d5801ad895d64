"""What an explanation is made of: titled steps with tables of numbers."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from regard.errors import SizeError
from regard.shapes import Tensor

Cell = float | int | str
Look = Literal["plain", "signed", "share", "bars", "text"]


@dataclass(frozen=True)
class NumberTable:
    """Labelled rows and columns of numbers.

    ``look`` says what the numbers are, so that a reader's eye can be helped: ``signed`` around
    zero, ``share`` from 0 to 1, ``bars`` one column of shares, ``text`` words, ``plain`` neither.
    ``focus`` is the row to point at, ``probe`` the place in the model where the numbers were heard.
    """

    name: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[Cell, ...], ...]
    look: Look = "signed"
    decimals: int = 2
    focus: int | None = None
    probe: str | None = None

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.cells}
        if len(self.cells) != len(self.rows) or widths - {len(self.columns)}:
            raise SizeError(
                f"table {self.name!r} has {len(self.rows)} row labels and {len(self.columns)} "
                f"column labels for {len(self.cells)} rows of {sorted(widths)} cells"
            )

    @classmethod
    def of(
        cls,
        name: str,
        numbers: Tensor,
        rows: Sequence[str],
        columns: Sequence[str] | None = None,
        **display: Any,
    ) -> "NumberTable":
        """The table of a matrix; columns without names are counted from 0."""
        names = range(numbers.shape[-1]) if columns is None else columns
        cells = tuple(tuple(row) for row in numbers.tolist())
        return cls(name, tuple(rows), tuple(map(str, names)), cells, **display)

    def to_json(self) -> dict[str, Any]:
        """The table as JSON holds it: every digit, and the numbers it lacks as words."""
        written: dict[str, Any] = {
            "name": self.name,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "cells": [[_in_json(cell) for cell in row] for row in self.cells],
        }
        return written | ({} if self.probe is None else {"probe": self.probe})


@dataclass(frozen=True)
class ExplainedStep:
    """One step: what is done, as a formula, in words, and in numbers."""

    title: str
    formula: str
    prose: str
    tables: tuple[NumberTable, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The step as JSON holds it."""
        return {
            "title": self.title,
            "formula": self.formula,
            "prose": self.prose,
            "tables": [table.to_json() for table in self.tables],
        }


@dataclass(frozen=True)
class Explanation:
    """A topic, explained step by step."""

    topic: str
    title: str
    lead: str
    steps: tuple[ExplainedStep, ...]

    def table(self, name: str) -> NumberTable:
        """The first table of that name."""
        for step in self.steps:
            for table in step.tables:
                if table.name == name:
                    return table
        names = ", ".join(table.name for step in self.steps for table in step.tables)
        raise KeyError(f"{self.topic} has no table {name!r}; it has {names}")

    def to_lesson(self) -> dict[str, Any]:
        """The explanation as the viewer shows it: with what helps a reader's eye."""
        written = self.to_json()
        for step, told in zip(self.steps, written["steps"], strict=True):
            for table, one in zip(step.tables, told["tables"], strict=True):
                one |= {"look": table.look, "decimals": table.decimals}
                one |= {"focus": table.focus, "probe": table.probe}
        return written

    def to_json(self) -> dict[str, Any]:
        """The explanation as JSON holds it."""
        return {
            "topic": self.topic,
            "title": self.title,
            "lead": self.lead,
            "steps": [step.to_json() for step in self.steps],
        }


def _in_json(cell: Cell) -> Cell:
    # JSON has no infinity; these words become one again with float() and with Number().
    if isinstance(cell, float) and not math.isfinite(cell):
        return "NaN" if math.isnan(cell) else "Infinity" if cell > 0 else "-Infinity"
    return cell
