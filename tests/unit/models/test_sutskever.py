"""Sutskever's translator: one vector for the whole source, read backwards."""

import pytest
import torch

from regard.errors import UsageError
from regard.inspection.recording import record
from regard.models.recurrent import RecurrentSizes
from regard.models.sutskever import Sutskever

SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3]])


def build(**options: object) -> Sutskever:
    return Sutskever(11, 13, RecurrentSizes(6, 7, 2), **options).double()  # type: ignore[arg-type]


def test_reading_backwards_is_reading_the_turned_source() -> None:
    backwards, forwards = build(), build(reverses_source=False)
    forwards.load_state_dict(backwards.state_dict())
    turned = torch.tensor([[3, 8, 7, 6, 5], [3, 4, 9, 0, 0]])
    torch.testing.assert_close(backwards(SOURCE, TARGET), forwards(turned, TARGET))
    assert not torch.allclose(backwards(SOURCE, TARGET), forwards(SOURCE, TARGET))


def test_what_is_remembered_is_as_large_for_every_source() -> None:
    model = build()
    short, long = (model.start(torch.full((1, n), 5)).remembered for n in (2, 40))
    assert [part.shape for part in short] == [part.shape for part in long] == [(2, 1, 7)] * 2


def test_decoding_by_torchs_own_layers() -> None:
    """The decoder is an LSTM that goes on where the encoder's stopped."""
    model = build(reverses_source=False)
    encoder, decoder = model.encoder, model.decoder
    _, last = encoder.recurrence.layers(encoder.embedding(SOURCE[:1]))
    outputs, _ = decoder.recurrence.layers(decoder.embedding(TARGET[:1]), last)
    expected = outputs @ model.output.weight.T
    torch.testing.assert_close(model(SOURCE[:1], TARGET[:1]), expected)


def test_there_is_no_attention_to_look_at() -> None:
    with pytest.raises(UsageError, match="no probe of this model matches"):
        record(build(), "*.weights").__enter__()


def test_parameters_of_the_papers_sizes() -> None:
    """384 million, "of which 64M are pure recurrent connections (32M … 32M …)" (section 3.4)."""
    with torch.device("meta"):
        model = Sutskever(160_000, 80_000, RecurrentSizes(1000, 1000, 4))
    recurrent = sum(
        p.numel() for name, p in model.named_parameters() if ".recurrence.layers.weight" in name
    )
    assert recurrent == 64_000_000
    assert sum(p.numel() for p in model.parameters()) == pytest.approx(384e6, rel=0.001)
