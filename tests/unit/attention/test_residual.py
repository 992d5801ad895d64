"""Add and norm as plain functions, against torch's modules and the lecture's table."""

import torch
from torch import nn

from regard.attention import batch_normalise, layer_normalise, residual

TABLE = torch.tensor(
    [[1, 3, 6], [2, 2, 2], [0, 1, 5], [4, 6, 1], [5, 2, 3], [1, 0, 1]], dtype=torch.float64
)


def test_residual_adds_what_the_layer_changes() -> None:
    value = torch.randn(2, 3)
    torch.testing.assert_close(residual(value, lambda x: 2 * x), 3 * value)
    assert torch.equal(residual(value, torch.zeros_like), value)


def test_layer_normalisation_is_torchs() -> None:
    for value in (TABLE, torch.randn(2, 3, 5, dtype=torch.float64)):
        norm = nn.LayerNorm(value.shape[-1]).double()
        torch.testing.assert_close(layer_normalise(value), norm(value))
    torch.testing.assert_close(
        layer_normalise(TABLE, epsilon=0.1), nn.LayerNorm(3, eps=0.1).double()(TABLE)
    )


def test_batch_normalisation_is_torchs_while_training() -> None:
    norm = nn.BatchNorm1d(3).double().train()
    torch.testing.assert_close(batch_normalise(TABLE), norm(TABLE))


def test_each_normalises_its_own_axis() -> None:
    rows, columns = layer_normalise(TABLE), batch_normalise(TABLE)
    torch.testing.assert_close(rows.mean(1), torch.zeros(6, dtype=torch.float64))
    torch.testing.assert_close(columns.mean(0), torch.zeros(3, dtype=torch.float64))
    assert rows[1].tolist() == [0, 0, 0], "a row of equal numbers has nothing left"
    ones = torch.ones(3, dtype=torch.float64)
    torch.testing.assert_close(columns.std(0, correction=0), ones, atol=1e-5, rtol=0)


def test_one_is_the_other_of_the_table_turned() -> None:
    torch.testing.assert_close(layer_normalise(TABLE.T).T, batch_normalise(TABLE))
