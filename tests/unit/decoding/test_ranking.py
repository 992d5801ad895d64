"""The best next tokens, against torch's own."""

import pytest
import torch

from regard.decoding.ranking import log_sum_exp, top

ROWS, TOKENS = 5, 330


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_log_sum_exp(dtype: torch.dtype) -> None:
    logits = 30 * torch.randn(ROWS, TOKENS, dtype=dtype)
    logits[0, 4] = -torch.inf
    logits[1] = -torch.inf
    logits[2] = 1e4
    torch.testing.assert_close(log_sum_exp(logits), logits.logsumexp(-1))
    torch.testing.assert_close(log_sum_exp(logits[:, ::3]), logits[:, ::3].logsumexp(-1))


@pytest.mark.parametrize("k", [1, 2, 4, 5, 70, TOKENS])
@pytest.mark.parametrize("n_tokens", [TOKENS, 320])
def test_top(k: int, n_tokens: int) -> None:
    logits = torch.randn(ROWS, TOKENS)[:, :n_tokens]
    logits[0, -1] = 9.0
    k = min(k, n_tokens)
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
    assert len(set(ids[0].tolist())) == 3
