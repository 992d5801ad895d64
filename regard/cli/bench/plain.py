"""A report as plain values, for programs."""

import json
from typing import Any

import torch

from regard.lessons.complexity import Fit, Growth, Report, Row


def print_json(report: Report) -> None:
    """Print every number as one JSON object."""
    print(json.dumps(as_json(report), ensure_ascii=True, allow_nan=False))  # noqa: T201


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain values."""
    plan = report.plan
    return {
        "plan": {
            **{"lengths": plan.lengths, "at_width": plan.width},
            **{"widths": plan.widths, "at_length": plan.length},
            **{"reach": plan.reach, "kernel": plan.kernel, "rounds": plan.rounds},
            "torch": torch.__version__,
        },
        "layers": [_row_as_json(row) for row in report.rows],
        "skipped": [
            {
                "layer": one.point.kind.name,
                "n": one.point.length,
                "d": one.point.width,
                "reason": one.reason,
            }
            for one in report.skipped
        ],
    }


def _row_as_json(row: Row) -> dict[str, Any]:
    kind = row.kind
    return {
        "layer": kind.name,
        "stated": {
            "complexity": kind.complexity,
            "exponents": {"n": kind.exponents[0], "d": kind.exponents[1]},
            "sequential": kind.sequential,
            "path": kind.path,
            "dilated_path": kind.dilated_path or None,
        },
        "time": _growth_as_json(row.time),
        "memory": {"expected": kind.memory, **_growth_as_json(row.memory)},
        "structure": [
            {
                "n": one.length,
                "sequential": one.sequential,
                "path": one.path,
                "dilated_path": one.dilated_path,
                "chain_of_operations": one.chain,
            }
            for one in row.structures
        ],
        "points": [
            {
                "n": one.point.length,
                "d": one.point.width,
                "seconds": one.seconds,
                "kept_bytes": one.memory.kept,
                "peak_bytes": one.memory.peak,
                "rounds": one.n_rounds,
            }
            for one in row.points
        ],
    }


def _growth_as_json(growth: Growth) -> dict[str, Any]:
    return {"n": _fit_as_json(growth.with_length), "d": _fit_as_json(growth.with_width)}


def _fit_as_json(fit: Fit | None) -> dict[str, Any] | None:
    if fit is None:
        return None
    return {
        "exponent": fit.exponent,
        "factor": fit.factor,
        "residual": fit.residual,
        "used": fit.sizes,
    }
