"""Bahdanau's translator: the paper's equations, one by one."""

import pytest
import torch
from torch import Tensor

from regard.errors import SizeError, UsageError
from regard.inspection.recording import record
from regard.models.bahdanau import Bahdanau
from regard.models.recurrent import RecurrentSizes
from regard.models.source_attention import Bridged

SOURCE, TARGET = torch.tensor([[5, 6, 7, 8, 3]]), torch.tensor([[2, 5, 6]])
WORD, HIDDEN = 6, 7


def build(n_layers: int = 1, **options: object) -> Bahdanau:
    sizes = RecurrentSizes(WORD, HIDDEN, n_layers)
    return Bahdanau(11, 13, sizes, **options).double()  # type: ignore[arg-type]


@pytest.mark.parametrize("readout", ["maxout", "tanh"])
def test_the_papers_equations_by_hand(readout: str) -> None:
    model = build(readout=readout, d_output=5)
    w = dict(model.named_parameters())
    h, last = model.encoder.recurrence.layers(model.encoder.embedding(SOURCE))
    h = h[0]  # S 2H: forwards, then backwards
    s = torch.tanh(w["decoder.first.weight"] @ h[0, HIDDEN:] + w["decoder.first.bias"])
    torch.testing.assert_close(last[1, 0], h[0, HIDDEN:])
    words = model.decoder.embedding(TARGET)[0]
    W, U, v = (w[f"decoder.attention.score.{n}"][0] for n in ("weight_query", "weight_key", "v"))
    W_y, b = w["decoder.unit.word.weight"], w["decoder.unit.word.bias"]
    C, U_gates = w["decoder.unit.context.weight"], w["decoder.unit.gates.weight"]
    U_candidate = w["decoder.unit.candidate.weight"]
    with record(model, "decoder.attention.weights") as recording:
        logits = model(SOURCE, TARGET)[0]
    seen = recording.all("decoder.attention.weights")
    for i, y in enumerate(words):
        energies = torch.stack([v @ torch.tanh(W @ s + U @ h_j) for h_j in h])
        alpha = energies.softmax(0)
        torch.testing.assert_close(seen[i][0, 0, 0], alpha.detach())
        c = alpha @ h

        def given(part: int, y: Tensor = y, c: Tensor = c) -> Tensor:
            rows = slice(part * HIDDEN, (part + 1) * HIDDEN)
            return W_y[rows] @ y + b[rows] + C[rows] @ c

        z = torch.sigmoid(given(0) + U_gates[:HIDDEN] @ s)
        r = torch.sigmoid(given(1) + U_gates[HIDDEN:] @ s)
        s = (1 - z) * s + z * torch.tanh(given(2) + U_candidate @ (r * s))
        t = (
            w["decoder.readout.state.weight"] @ s
            + w["decoder.readout.state.bias"]
            + w["decoder.readout.word.weight"] @ y
            + w["decoder.readout.context.weight"] @ c
        )
        t = torch.maximum(t[0::2], t[1::2]) if readout == "maxout" else torch.tanh(t)
        torch.testing.assert_close(logits[i], w["output.weight"] @ t, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("score", ["dot", "scaled-dot", "content"])
def test_scores_that_compare_like_with_like_get_a_bridge(score: str) -> None:
    """The encoder's states are twice as wide as the decoder's: a matrix brings them together."""
    model = build(score=score)
    attention = model.decoder.attention
    assert isinstance(attention.score, Bridged)
    with record(model, "decoder.attention.scores") as recording:
        model.hidden(SOURCE, TARGET)
    scores = recording.all("decoder.attention.scores")[0][:, 0, 0]
    begun = model.start(SOURCE)
    keys = model.encoder(SOURCE).outputs @ attention.score.bridge.weight.T
    products = (keys * begun.state[:, None]).sum(-1)
    lengths = keys.norm(dim=-1) * begun.state.norm(dim=-1)[:, None]
    expected = {"dot": products, "scaled-dot": products / 7**0.5, "content": products / lengths}
    torch.testing.assert_close(scores, expected[score].detach())


@pytest.mark.parametrize("normaliser", ["soft", "hard", "local-m", "local-p"])
def test_every_normaliser_serves(normaliser: str) -> None:
    model = build(normaliser=normaliser, reach=2 if "local" in normaliser else None)
    with record(model, "decoder.attention.weights") as recording:
        model.hidden(SOURCE, TARGET)
    weights = torch.cat(recording.all("decoder.attention.weights"), -2)
    assert weights.shape == (*SOURCE.shape[:1], 1, TARGET.shape[1], SOURCE.shape[1])
    if normaliser == "hard":
        assert set(weights.unique().tolist()) == {0.0, 1.0}
    assert (model.expected is not None) == (normaliser == "hard")


def test_unknown_scores_are_refused() -> None:
    with pytest.raises(UsageError, match="there is no score 'bilinear': choose one of dot, "):
        build(score="bilinear")


def test_more_layers_are_refused() -> None:
    with pytest.raises(SizeError) as refusal:
        build(n_layers=2)
    assert str(refusal.value) == (
        "Bahdanau's translator has one layer each way, not 2: choose n_layers = 1, or Luong's or "
        "Sutskever's translator, which stack them"
    )


def test_unknown_readouts_are_refused() -> None:
    with pytest.raises(UsageError) as refusal:
        build(readout="softmax")
    assert str(refusal.value) == "there is no readout 'softmax': choose maxout or tanh"


def test_location_knows_so_many_places() -> None:
    model = build(score="location", max_length=4)
    with pytest.raises(SizeError, match="knows 4 places and was given 5 keys"):
        model(SOURCE, TARGET)
