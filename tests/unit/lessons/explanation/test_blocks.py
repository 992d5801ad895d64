"""The blocks in numbers are those that the explanations show."""

import numpy as np
import pytest

from regard.errors import SizeError
from regard.lessons.explanation import (
    explain_masks,
    explain_normalisation,
    explain_positions,
    explain_scores,
)
from regard.lessons.explanation.blocks import (
    MaskName,
    mask_numbers,
    norm_numbers,
    position_numbers,
    score_numbers,
)


def test_positions() -> None:
    found = position_numbers(30, 8)
    assert found.encoding == [list(row) for row in explain_positions(30, 8).table("PE").cells]
    alike = np.array(found.alike)
    assert alike.shape == (24, 24)
    product = explain_positions(30, 8).table("product")
    assert product.columns[1] == "k=1"
    assert alike[0, 1] == pytest.approx(product.cells[0][1], abs=1e-5)
    with pytest.raises(SizeError, match="even"):
        position_numbers(3, 5)


@pytest.mark.parametrize(
    ("chosen", "name"),
    [
        (["causal"], "causal"),
        (["padding"], "padding"),
        (["window"], "window"),
        (["window", "causal", "padding"], "combined"),
    ],
)
def test_masks(chosen: list[MaskName], name: str) -> None:
    found, told = mask_numbers(chosen, seed=3), explain_masks(7, 1, seed=3)
    assert found.mask == [[bool(one) for one in row] for row in told.table(f"{name} mask").cells]
    weights = told.table(f"{name} weights")
    assert found.weights == [list(row) for row in weights.cells]
    assert tuple(found.words) == weights.rows
    assert mask_numbers(chosen, seed=4).weights != found.weights


def test_without_a_mask_everybody_sees_everybody() -> None:
    found = mask_numbers([], seed=3)
    assert np.all(found.mask)
    assert np.sum(found.weights, -1) == pytest.approx(np.ones(7))
    assert "<pad>" not in found.words


def test_norms() -> None:
    found, told = norm_numbers(), explain_normalisation()
    assert found.batch_norm == [list(row) for row in told.table("batch norm").cells]
    assert found.layer_norm == [list(row) for row in told.table("layer norm").cells]
    assert found.residual == [list(row[:4]) for row in told.table("add and norm").cells]
    other = norm_numbers([[1.0, 2.0], [3.0, 4.0], [0.0, 8.0]])
    assert np.mean(other.layer_norm, 0) == pytest.approx([0, 0], abs=1e-9)
    assert np.mean(other.batch_norm, 1) == pytest.approx([0, 0, 0], abs=1e-9)
    for crooked in ([], [[]], [[1.0], [1.0, 2.0]]):
        with pytest.raises(SizeError, match="one length"):
            norm_numbers(crooked)


def test_scores() -> None:
    found, told = score_numbers(seed=5), explain_scores(4, seed=5)
    assert found.weights == [list(row) for row in told.table("weights").cells]
    assert found.names == list(told.table("weights").rows)
    assert found.formulas == [row[0] for row in told.table("formulas").cells]
    assert score_numbers(5, found.query).weights == found.weights
    other = score_numbers(5, [1.0, 0.0, 0.0, -1.0])
    assert (other.keys, other.query) == (found.keys, [1, 0, 0, -1])
    changed = np.abs(np.subtract(other.weights, found.weights)).max(-1) > 1e-6
    # A linear score adds the same for a query to every key, and the softmax drops it.
    assert dict(zip(found.names, changed, strict=True)) == {
        name: name != "concatenating" for name in found.names
    }
