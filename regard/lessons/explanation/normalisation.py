"""Layer normalisation against batch normalisation on the lecture's table; the residual."""

import torch

from regard.attention import batch_normalise, layer_normalise, residual
from regard.lessons.explanation.steps import ExplainedStep, Explanation, NumberTable
from regard.shapes import Float, Tensor

LECTURE_TABLE = ((1, 3, 6), (2, 2, 2), (0, 1, 5), (4, 6, 1), (5, 2, 3), (1, 0, 1))
"""Rows are six features, columns the three examples of a batch."""

PRINTED_FOR_BATCH = ((3, 3), (2, 0), (3, 3), (4, 3), (3, 2), (1, 1))
PRINTED_FOR_LAYER = ((2, 2), (3, 2), (3, 2))
"""Mean and standard deviation as the lecture prints them, for each row and for each column."""

FEATURES = [f"feature {i}" for i in range(6)]
EXAMPLES = [f"example {i}" for i in range(3)]


def explain_normalisation() -> Explanation:
    """Normalise the lecture's table both ways, then add a residual and normalise."""
    table = torch.tensor(LECTURE_TABLE, dtype=torch.float64)
    # The library puts examples in rows; the lecture puts them in columns.
    by_batch = batch_normalise(table.T).T
    by_layer = layer_normalise(table.T).T
    return Explanation(
        topic="normalisation",
        title="Layer norm against batch norm",
        lead=(
            "The lecture's table: three examples (columns) of six features (rows). Batch norm "
            "compares a feature across examples, layer norm the features of one example."
        ),
        steps=(
            ExplainedStep(
                "The table",
                "x",
                "Two ways to take a mean: along a row, or down a column.",
                (NumberTable.of("x", table, FEATURES, EXAMPLES, look="plain"),),
            ),
            ExplainedStep(
                "Batch norm: along each row",
                "( x - μ_feature ) / √( σ²_feature + ε )",
                "The mean and the spread depend on who else is in the batch. "
                + _misprints(table, PRINTED_FOR_BATCH, "row"),
                (
                    _statistics("batch statistics", table, PRINTED_FOR_BATCH, FEATURES),
                    NumberTable.of("batch norm", by_batch, FEATURES, EXAMPLES),
                    _check("batch norm, each row", by_batch, FEATURES),
                ),
            ),
            ExplainedStep(
                "Layer norm: down each column",
                "( x - μ_example ) / √( σ²_example + ε )",
                "Each example needs only itself: the same in training and in use, "
                "for one sentence or many. " + _misprints(table.T, PRINTED_FOR_LAYER, "column"),
                (
                    _statistics("layer statistics", table.T, PRINTED_FOR_LAYER, EXAMPLES),
                    NumberTable.of("layer norm", by_layer, FEATURES, EXAMPLES),
                    _check("layer norm, each column", by_layer.T, EXAMPLES),
                ),
            ),
            _add_and_norm(table[:, 0]),
        ),
    )


def _statistics(
    name: str, rows: Float[Tensor, "R C"], printed: tuple[tuple[int, int], ...], labels: list[str]
) -> NumberTable:
    """Computed mean and deviations beside what the lecture prints."""
    computed = torch.stack(
        [rows.mean(-1), rows.std(-1, correction=0), rows.std(-1, correction=1)], dim=-1
    )
    columns = ("mean", "std (n)", "std (n-1)", "lecture's mean", "lecture's std")
    cells = tuple((*row, *given) for row, given in zip(computed.tolist(), printed, strict=True))
    return NumberTable(name, tuple(labels), columns, cells, look="plain")


def _misprints(rows: Float[Tensor, "R C"], printed: tuple[tuple[int, int], ...], what: str) -> str:
    """Say where the lecture's rounded numbers are not the true ones rounded."""
    computed = torch.stack([rows.mean(-1), rows.std(-1, correction=1)], dim=-1)
    found = [
        f"the mean of the {what} {' '.join(f'{x:g}' for x in row.tolist())} is {true:.2f}, "
        f"not {given}"
        for row, (true, _), (given, _) in zip(rows, computed.tolist(), printed, strict=True)
        if round(true) != given
    ]
    deviations = zip(computed[:, 1].tolist(), printed, strict=True)
    assert all(round(true) == given for true, (_, given) in deviations)
    return (
        "The lecture prints whole numbers, and the deviation that divides by n - 1; the norm "
        f"itself divides by n. There is a misprint: {'; '.join(found)}."
    )


def _check(name: str, rows: Float[Tensor, "R C"], labels: list[str]) -> NumberTable:
    """Mean 0 and deviation 1, or 0 where all numbers were equal."""
    numbers = torch.stack([rows.mean(-1), rows.std(-1, correction=0)], dim=-1)
    return NumberTable.of(name, numbers, labels, ["mean", "std"], look="plain")


def worked_layer(x: Float[Tensor, "D"]) -> Float[Tensor, "D"]:
    """The layer that stands for any other: ``F(x) = max(0, x - 2)``."""
    return torch.relu(x - 2)


def _add_and_norm(example: Float[Tensor, "D"]) -> ExplainedStep:
    added = residual(example, worked_layer)
    unchanged = residual(example, torch.zeros_like)
    columns = ["x", "F(x)", "H(x)", "norm( H(x) )", "H(x) if F = 0"]
    numbers = torch.stack(
        [example, worked_layer(example), added, layer_normalise(added), unchanged], -1
    )
    return ExplainedStep(
        "Residual, then norm",
        "H(x) = F(x) + x",
        "Example 0 through the layer F(x) = max(0, x - 2). The layer learns only what to change: "
        "where F is 0, x passes through untouched, and so does its gradient.",
        (NumberTable.of("add and norm", numbers, FEATURES, columns, look="plain"),),
    )
