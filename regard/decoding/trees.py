"""The best dependency tree of scored arcs, with one word under the root.

Chu and Liu (1965), Edmonds (1967): every word takes its best governor; a circle of words is taken
for one word, which takes its best governor in turn.
"""

import numpy as np
import numpy.typing as npt

Scores = npt.NDArray[np.float64]
Heads = npt.NDArray[np.int64]


def best_tree(arcs: Scores) -> list[int]:
    """The governor of each word; ``arcs[d, g]`` scores g as governor of d, and place 0 is the root.

    The tree with the largest sum among all in which one word alone hangs on the root. Gives the
    places of the governors of words 1, 2, ...
    """
    arcs = np.asarray(arcs, np.float64).copy()
    np.fill_diagonal(arcs, -np.inf)
    heads = arcs.argmax(1)
    if _circle(heads) is None and (heads[1:] == 0).sum() == 1:
        return [int(one) for one in heads[1:]]
    # A second word under the root costs more than any other change can gain.
    finite = arcs[np.isfinite(arcs)]
    arcs[:, 0] -= 1 + len(arcs) * (finite.max() - finite.min())
    return [int(one) for one in _spanning(arcs)[1:]]


def _circle(heads: Heads) -> list[int] | None:
    """Words whose governors go round, if there are some."""
    state = np.zeros(len(heads), np.int64)  # 0: not seen; else the walk that saw it first
    state[0] = -1
    for start in range(1, len(heads)):
        at = start
        while not state[at]:
            state[at] = start
            at = int(heads[at])
        if state[at] == start:
            circle = [at]
            while (at := int(heads[at])) != circle[0]:
                circle.append(at)
            return circle
    return None


def _spanning(arcs: Scores) -> Heads:
    heads: Heads = arcs.argmax(1)
    circle = _circle(heads)
    if circle is None:
        return heads
    inside = np.asarray(circle)
    outside = np.setdiff1d(np.arange(len(arcs)), inside)
    n = len(outside)
    smaller = np.full((n + 1, n + 1), -np.inf)
    smaller[:n, :n] = arcs[np.ix_(outside, outside)]
    to_circle = arcs[np.ix_(outside, inside)]
    smaller[:n, n] = to_circle.max(1)
    # Whoever takes a governor outside gives up the one in the circle.
    gains = arcs[np.ix_(inside, outside)] - arcs[inside, heads[inside]][:, None]
    smaller[n, :n] = gains.max(0)
    found = _spanning(smaller)
    result: Heads = heads.copy()
    for place, word in enumerate(outside):
        head = found[place]
        result[word] = inside[to_circle[place].argmax()] if head == n else outside[head]
    entered = found[n]
    result[inside[gains[:, entered].argmax()]] = outside[entered]
    return result
