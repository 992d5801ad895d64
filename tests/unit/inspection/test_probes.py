"""Probes find what a linear map can find, and nothing where there is nothing."""

import numpy as np
import torch

from regard.inspection.probes import (
    WordVectors,
    control_labels,
    read_labels,
    read_trees,
    tree_distances,
)

GENERATOR = np.random.default_rng(7)


def random_tree(n: int) -> list[tuple[int, int]]:
    return [(int(GENERATOR.integers(0, k)), k) for k in range(1, n)]


def test_distances_count_edges() -> None:
    far = tree_distances([(0, 1), (1, 2), (1, 3)], 5)
    assert far[0].tolist() == [0, 1, 2, 2, -1]  # nothing leads to the last
    assert far[2, 3] == 2


def test_a_linear_probe_tells_the_layer_that_knows() -> None:
    labels = torch.from_numpy(GENERATOR.integers(0, 3, (1, 900)))
    noise = torch.randn(2, 900, 8, generator=torch.Generator().manual_seed(1))
    noise[1, :, :3] += 5 * torch.nn.functional.one_hot(labels[0], 3)  # the second layer knows
    parts = [WordVectors(noise[:, rows], (0, 300)) for rows in (slice(600), slice(600, None))]
    told = read_labels(parts[0], labels[:, :600], parts[1], 3)
    right = (told == labels[:, None, 600:]).float().mean(-1)
    assert right.shape == (1, 2)
    assert right[0, 0] < 0.5
    assert right[0, 1] > 0.9


def test_control_labels_are_of_forms() -> None:
    labels = np.array([0, 1, 1, 1])
    mine, others = control_labels(["a", "b", "a", "c"], labels, ["c", "d"])
    assert mine[0] == mine[2]
    assert mine[3] == others[0]


def test_a_structural_probe_finds_the_trees() -> None:
    # A word is the sum of the edges on its way to the root, each a direction of its own: squared
    # distances are those in the tree. Chance has turned them, and the first layer is noise.
    longest, parts, edges, distances = 7, [], [], []
    turned = np.linalg.qr(GENERATOR.normal(size=(12, 12)))[0].astype(np.float32)
    for _ in range(120):
        n = int(GENERATOR.integers(4, longest + 1))
        tree = random_tree(n)
        words = np.zeros((n, 12), np.float32)
        for parent, child in tree:
            words[child] = words[parent]
            words[child, child] += 1
        parts.append(np.stack([GENERATOR.normal(size=(n, 12)).astype(np.float32), words @ turned]))
        edges.append({*tree})
        distances.append(tree_distances(tree, n))

    def vectors(some: slice) -> WordVectors:
        starts = np.cumsum([0, *(part.shape[1] for part in parts[some])])
        return WordVectors(
            torch.from_numpy(np.concatenate(parts[some], axis=1)), tuple(starts.tolist())
        )

    told = read_trees(vectors(slice(90)), [distances[:90]], vectors(slice(90, None)))
    n = sum(len(one) for one in edges[90:])
    share = [
        sum(len(a & b) for a, b in zip(layer, edges[90:], strict=True)) / n for layer in told[0]
    ]
    assert share[1] > 0.9
    assert share[0] < 0.7
    assert all(len(one) == len(truth) for one, truth in zip(told[0][1], edges[90:], strict=True))
