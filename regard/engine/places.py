"""Which rows of a store belong to whom, while it is written on.

These tables are small and change at every step. Each of torch's operations lets another thread have
the interpreter, and two searches side by side would wait for each other dozens of times a step: so
on a CPU numpy changes them.
"""

import numpy as np
import torch

from regard.shapes import Int, Tensor


def longer_places(places: Int[Tensor, "R T"], first: int) -> Int[Tensor, "R T1"]:
    """Places with one more a row: ``first``, ``first + 1``, …"""
    n_rows, n_places = places.shape
    if places.device.type != "cpu":
        new = torch.arange(first, first + n_rows, device=places.device, dtype=places.dtype)
        return torch.cat([places, new[:, None]], dim=1)
    table = places.numpy()
    grown = np.empty((n_rows, n_places + 1), dtype=table.dtype)
    grown[:, :-1] = table
    grown[:, -1] = np.arange(first, first + n_rows)
    return torch.from_numpy(grown)


def taken_rows(table: Int[Tensor, "R ..."], rows: Int[Tensor, "N"]) -> Int[Tensor, "N ..."]:
    """These rows of a table, in this order."""
    if table.device.type != "cpu":
        return table.index_select(0, rows)
    return torch.from_numpy(table.numpy()[rows.numpy()])
