"""Analogies solved by vectors: a is to b as c is to which word?

3CosAdd takes the largest ``cos(d, b) - cos(d, a) + cos(d, c)`` (Mikolov et al. 2013), 3CosMul the
largest ``cos(d, b) cos(d, c) / (cos(d, a) + ε)`` with cosines moved to 0 … 1 (Levy and Goldberg
2014). The three given words are never the answer. That alone makes many answers right: the nearest
word to c, whatever a and b are, is the control (Linzen 2016).
"""

import numpy as np
import numpy.typing as npt

from regard.shapes import Bool, Float, Int

METHODS = ("3CosAdd", "3CosMul", "nearest to c")
_EPSILON = 0.001
_TOGETHER = 256  # questions


def solve(
    vectors: Float[np.ndarray, "V D"], questions: Int[np.ndarray, "N 4"]
) -> dict[str, Bool[np.ndarray, " N"]]:
    """Whether each method finds d, for questions as numbers of rows."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = (vectors / np.maximum(norms, 1e-12)).astype(np.float32)
    right: dict[str, list[npt.NDArray[np.bool_]]] = {name: [] for name in METHODS}
    for start in range(0, len(questions), _TOGETHER):
        part = questions[start : start + _TOGETHER]
        words, inverse = np.unique(part[:, :3], return_inverse=True)
        cosines = unit[words] @ unit.T
        a, b, c = (cosines[column] for column in inverse.reshape(-1, 3).T)
        tables = (b - a + c, (b + 1) * (c + 1) / (a + 1 + 2 * _EPSILON), c.copy())
        for name, table in zip(METHODS, tables, strict=True):
            np.put_along_axis(table, part[:, :3], -np.inf, axis=1)
            right[name].append(table.argmax(1) == part[:, 3])
    return {name: np.concatenate([*some, np.zeros(0, bool)]) for name, some in right.items()}
