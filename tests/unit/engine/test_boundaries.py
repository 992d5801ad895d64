"""What does not fit together is refused in Python, before a kernel reads foreign memory."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from regard import engine
from regard.engine import Spans
from regard.errors import SizeError

from .boundaries import CASES

SCRIPT = Path(__file__).with_name("boundaries.py")


@pytest.mark.parametrize("path", ["/nowhere", os.environ.get("PATH", "")], ids=["torch", "native"])
def test_what_does_not_fit_ends_no_process(path: str) -> None:
    """Where shapes are not checked by the tests' own means, with the C++ kernels and without."""
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "PATH": path},
    )
    assert done.stdout.splitlines() == [f"{name}: refused" for name in CASES], done.stderr
    assert done.returncode == 0, done.stderr


def test_tensors_that_lie_apart_are_read_right(native: None) -> None:
    """Every second number: a kernel that took them as lying end to end would read others."""
    wide, apart = torch.randn(6, 64), torch.randn(64)
    value, weight = wide[:, ::2].contiguous(), apart[::2]
    assert not weight.is_contiguous()
    plain = weight.contiguous()
    for given in (
        lambda one: engine.add_norm(value, None, one, one)[1],
        lambda one: engine.bias_relu_dropout(value.clone(), one, 0.0),
        lambda one: engine.bias_gelu_dropout(value.clone(), one, 0.0),
        lambda one: torch.tensor(engine.gradient_norm(one)),
    ):
        torch.testing.assert_close(given(weight), given(plain))
    with pytest.raises(SizeError, match="row after row"):  # which is written over
        engine.bias_relu_dropout(wide.clone()[:, ::2], plain, 0.0)
    ids, places = torch.tensor([1, 0]), torch.tensor([0, 3])
    torch.testing.assert_close(
        engine.embed(wide[:, ::2], ids, value, places, scale=2.0, p=0.0),
        engine.embed(value, ids, value, places, scale=2.0, p=0.0),
    )


def test_spans_are_checked_once_a_batch() -> None:
    starts = torch.tensor([0, 2, 6], dtype=torch.int32)
    spans = Spans(starts, starts)
    spans.require_rows(6, 6)
    starts[-1] = 99  # nobody looks again: per element, nothing is checked on the way
    spans.require_rows(6, 6)
