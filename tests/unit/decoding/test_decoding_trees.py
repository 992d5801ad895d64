"""The best tree: as good as the best of all trees, with one word under the root."""

from itertools import product

import numpy as np
import pytest

from regard.decoding import best_tree


def is_tree(heads: tuple[int, ...]) -> bool:
    """Whether every word reaches the root, and one alone hangs on it."""
    for word in range(1, len(heads) + 1):
        at, n = word, 0
        while at and n <= len(heads):
            at, n = heads[at - 1], n + 1
        if at:
            return False
    return heads.count(0) == 1


@pytest.mark.parametrize("seed", range(40))
def test_it_is_the_best_of_all(seed: int) -> None:
    random = np.random.default_rng(seed)
    n = 1 + seed % 5
    arcs = random.normal(size=(n + 1, n + 1))
    arcs[:, 0] += seed % 3  # several words would like the root
    trees = [one for one in product(range(n + 1), repeat=n) if is_tree(one)]
    best = max(trees, key=lambda heads: sum(arcs[d, g] for d, g in enumerate(heads, 1)))
    assert tuple(best_tree(arcs)) == best
