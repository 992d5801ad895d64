"""Adam in one pass is torch's AdamW."""

import math

import pytest
import torch
from torch import nn

from regard.engine import Adam, adam_step, gradient_norm


def test_its_steps_are_those_of_adamw(path: str) -> None:
    adam = Adam((0.8, 0.95), 1e-6, 0.1)
    theirs = nn.Parameter(torch.randn(1001))
    ours, moments = theirs.detach().clone(), (torch.zeros(1001), torch.zeros(1001))
    reference = torch.optim.AdamW([theirs], betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)
    for step in range(1, 6):
        gradient, rate = torch.randn(1001), 0.01 * step
        theirs.grad = 0.3 * gradient
        reference.param_groups[0]["lr"] = rate
        reference.step()
        adam_step(adam, ours, gradient, moments, factor=0.3, rate=rate, step=step)
        assert not gradient.any()
        torch.testing.assert_close(ours, theirs.detach(), rtol=1e-5, atol=1e-6)
    kept = reference.state[theirs]
    torch.testing.assert_close(moments[0], kept["exp_avg"], rtol=1e-5, atol=1e-7)
    torch.testing.assert_close(moments[1], kept["exp_avg_sq"], rtol=1e-5, atol=1e-7)


def test_a_gradient_s_norm_is_torch_s(path: str) -> None:
    gradient = torch.randn(100_003)
    assert gradient_norm(gradient) == pytest.approx(float(gradient.norm()), rel=1e-5)
    assert gradient_norm(torch.full((3,), 4.0)) == pytest.approx(48**0.5)
    gradient[70_000] = float("nan")
    assert math.isnan(gradient_norm(gradient))
    gradient[70_000] = float("inf")
    assert math.isinf(gradient_norm(gradient))
