"""Kernels of decoding against plain torch, by both of their paths."""

import pytest
import torch

from regard.engine import log_sum_exp, recall, top, without_native

ROWS, STORED, KEYS, TOKENS = 5, 23, 7, 150


@pytest.fixture(params=["native", "torch"], autouse=True)
def _path(request: pytest.FixtureRequest) -> object:
    if request.param == "native":
        yield
        return
    with without_native():
        yield


@pytest.mark.parametrize(("n_heads", "d_head"), [(3, 16), (2, 64), (1, 80), (3, 6)])
def test_recall(n_heads: int, d_head: int) -> None:
    width = n_heads * d_head
    query, store = torch.randn(ROWS, 3 * width)[:, :width], torch.randn(STORED, 2 * width)
    key, value = store.chunk(2, dim=1)
    places = torch.randint(0, STORED, (ROWS, KEYS))
    places[0, 3:] = -1
    places[1, ::2] = -1
    places[2] = -1
    context = recall(query, key, value, places, n_heads)
    for row in range(ROWS):
        at = places[row][places[row] >= 0]
        for head in range(n_heads):
            band = slice(head * d_head, (head + 1) * d_head)
            scores = key[at][:, band] @ query[row, band] / d_head**0.5
            expected = scores.softmax(0) @ value[at][:, band]
            torch.testing.assert_close(context[row, band], expected, rtol=1e-5, atol=1e-5)


def test_recall_takes_the_tallest_scores() -> None:
    """Scores far apart do not overflow."""
    query = torch.full((1, 16), 100.0)
    store = torch.cat([torch.full((1, 32), 9.0), torch.full((1, 32), -9.0)])
    key, value = store.chunk(2, dim=1)
    context = recall(query, key, value, torch.tensor([[0, 1]]), 1)
    torch.testing.assert_close(context, torch.full((1, 16), 9.0))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_log_sum_exp(dtype: torch.dtype) -> None:
    logits = 30 * torch.randn(ROWS, TOKENS, dtype=dtype)
    logits[0, 4] = -torch.inf
    logits[1] = -torch.inf
    logits[2] = 1e4
    torch.testing.assert_close(log_sum_exp(logits), logits.logsumexp(-1))
    torch.testing.assert_close(log_sum_exp(logits[:, ::3]), logits[:, ::3].logsumexp(-1))


@pytest.mark.parametrize("k", [1, 2, 5, 64, 70, TOKENS])
def test_top(k: int) -> None:
    logits = torch.randn(ROWS, TOKENS)
    values, ids = top(logits, k)
    expected, places = logits.topk(k)
    assert torch.equal(values, expected)
    assert torch.equal(ids, places)


def test_top_with_less_than_enough() -> None:
    logits = torch.full((1, TOKENS), -torch.inf)
    logits[0, 99] = 1.0
    values, ids = top(logits, 3)
    assert values.tolist() == [[1.0, -torch.inf, -torch.inf]]
    assert ids[0, 0] == 99
