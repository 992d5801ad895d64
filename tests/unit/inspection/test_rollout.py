"""Rollouts worked out by hand, and of traces."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from regard.errors import UsageError
from regard.inspection import rollout
from regard.inspection.rollout import roll_out, roll_out_decoder

# Two heads, of which only the mean counts.
FIRST = torch.tensor([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]])  # mean: all 1/2
SECOND = torch.tensor([[[1.0, 0.0], [0.6, 0.4]], [[1.0, 0.0], [0.2, 0.8]]])  # mean: 1 0, 0.4 0.6


def test_two_layers_by_hand() -> None:
    one, two = roll_out([FIRST, SECOND])
    torch.testing.assert_close(one, torch.tensor([[0.75, 0.25], [0.25, 0.75]]))
    # Row 1 of ½A + ½I is 0.2, 0.8: 0.2 · (0.75, 0.25) + 0.8 · (0.25, 0.75).
    torch.testing.assert_close(two, torch.tensor([[0.75, 0.25], [0.35, 0.65]]))


def test_a_decoder_by_hand() -> None:
    encoder = torch.tensor([[0.9, 0.1, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]])
    own = torch.tensor([[[1.0, 0.0], [0.5, 0.5]]])
    cross = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]])
    (source, target), (later, _) = roll_out_decoder([own, own], [cross, cross], encoder)
    torch.testing.assert_close(target, torch.tensor([[0.5, 0.0], [0.125, 0.375]]))
    expected = torch.tensor([[0.45, 0.05, 0.0], [0.0, 0.25, 0.25]])
    torch.testing.assert_close(source, expected)
    # Row 1 keeps ¾ of its own and takes ¼ of row 0, then half of that, and half of cross again.
    row = 0.5 * (0.75 * expected[1] + 0.25 * expected[0]) + 0.5 * encoder[2]
    torch.testing.assert_close(later[1], row)


def test_a_trace_is_followed_through_all_its_layers(make_trace) -> None:
    trace = make_trace(n_layers=3)
    found = rollout(trace)
    assert found.encoder.shape == (3, 6, 6)
    assert found.source.shape == (3, 5, 6)
    assert found.target.shape == (3, 5, 5)
    ones = torch.ones(3, 5, dtype=torch.float64)
    torch.testing.assert_close(found.source.sum(-1) + found.target.sum(-1), ones, atol=1e-6, rtol=0)
    assert (found.target.triu(1) == 0).all()
    product = np.eye(6)
    for layer in range(3):
        mean = trace.site("encoder", layer).weights.mean(0)
        product = (0.5 * mean + 0.5 * np.eye(6)) @ product
    np.testing.assert_allclose(found.encoder[-1], product, atol=1e-6)


def test_what_has_no_self_attention_is_refused(make_trace) -> None:
    trace = make_trace(kinds=("cross",))
    origin = replace(trace.provenance, model="mine", kind="bahdanau")
    with pytest.raises(UsageError) as refused:
        rollout(replace(trace, provenance=origin))
    assert str(refused.value) == (
        "a rollout follows self-attention from layer to layer, and mine (bahdanau) has none on "
        "both sides: choose a Transformer"
    )
