"""Luong's translator: look after the step, everywhere or nearby, and feed what was seen."""

import pytest
import torch

from regard.errors import SizeError, UsageError
from regard.inspection.recording import record
from regard.models.luong import Luong
from regard.models.recurrent import RecurrentSizes

SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3]])
HIDDEN = 7
WEIGHTS = "decoder.attention.weights"


def build(**options: object) -> Luong:
    return Luong(11, 13, RecurrentSizes(6, HIDDEN, 2), **options).double()  # type: ignore[arg-type]


def weights_of(model: Luong) -> torch.Tensor:
    with record(model, WEIGHTS) as recording:
        model(SOURCE, TARGET)
    return torch.cat(recording.all(WEIGHTS), -2)[:, 0]


@pytest.mark.parametrize("feeds_input", [True, False], ids=["fed", "unfed"])
def test_the_papers_equations_by_hand(feeds_input: bool) -> None:
    model = build(feeds_input=feeds_input)
    encoder, decoder = model.encoder, model.decoder
    sources, last = encoder.recurrence.layers(encoder.embedding(SOURCE[:1]))
    W_a = decoder.attention.score.get_parameter("weight")[0]
    words, fed, vectors = decoder.embedding(TARGET[:1]), torch.zeros(1, HIDDEN).double(), []
    for t in range(TARGET.shape[1]):
        value = torch.cat([words[:, t], fed], -1) if feeds_input else words[:, t]
        h, last = decoder.recurrence.layers(value[:, None], last)
        align = (h[0, 0] @ W_a @ sources[0].T).softmax(-1)
        together = torch.cat([align @ sources[0], h[0, 0]])
        fed = torch.tanh(decoder.combine.weight @ together)[None]
        vectors.append(fed)
    hidden = model.hidden(SOURCE[:1], TARGET[:1])
    torch.testing.assert_close(hidden[0], torch.cat(vectors), rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(model(SOURCE, TARGET)[0], hidden[0] @ model.output.weight.T)


def test_without_feeding_all_queries_look_at_once() -> None:
    model = build(feeds_input=False)
    with record(model, WEIGHTS) as recording:
        model(SOURCE, TARGET)
    assert [one.shape for one in recording.all(WEIGHTS)] == [(2, 1, 4, 5)]


@pytest.mark.parametrize("feeds_input", [True, False], ids=["fed", "unfed"])
class TestLocal:
    def test_monotonic_looks_around_its_own_place(self, feeds_input: bool) -> None:
        weights = weights_of(build(normaliser="local-m", reach=1, feeds_input=feeds_input))
        near = (torch.arange(5) - torch.arange(4)[:, None]).abs() <= 1
        assert torch.equal(weights[0] > 0, near)
        assert torch.equal(weights[1] > 0, near & (torch.arange(5) < 3))
        torch.testing.assert_close(weights.sum(-1), torch.ones(2, 4).double())

    def test_predictive_looks_around_a_predicted_place(self, feeds_input: bool) -> None:
        model = build(normaliser="local-p", reach=1, feeds_input=feeds_input)
        weights = weights_of(model)
        assert ((weights > 0).sum(-1) <= 3).all()
        assert (weights[1, :, 3:] == 0).all()
        total = weights.sum(-1)
        assert (total > 0).all()
        assert (total < 1).all()

    def test_hard_looks_at_one_place(self, feeds_input: bool) -> None:
        model = build(normaliser="hard", feeds_input=feeds_input).eval()
        weights = weights_of(model)
        assert torch.equal(weights.sum(-1), torch.ones(2, 4).double())
        assert ((weights == 0) | (weights == 1)).all()
        assert torch.equal(weights_of(model), weights)

    def test_hard_tells_how_probable_its_choice_was(self, feeds_input: bool) -> None:
        model = build(normaliser="hard", feeds_input=feeds_input)
        with record(model, "decoder.attention.*") as recording:
            choice = model.hidden_and_choices(SOURCE[:1], TARGET[:1]).choice
        scores = torch.cat(recording.all("decoder.attention.scores"), -2)[:, 0]
        chosen = torch.cat(recording.all(WEIGHTS), -2)[:, 0]
        assert choice is not None
        expected = (scores.log_softmax(-1) * chosen).sum(-1)
        torch.testing.assert_close(choice.log_probability.detach(), expected)


def test_soft_has_no_choices_to_tell_of() -> None:
    assert build().hidden_and_choices(SOURCE, TARGET).choice is None


def test_unknown_normalisers_are_refused() -> None:
    with pytest.raises(UsageError) as refusal:
        build(normaliser="sparse")
    assert str(refusal.value) == (
        "there is no normaliser 'sparse': choose one of soft, hard, local-m, local-p"
    )


def test_a_reach_of_nothing_is_refused() -> None:
    with pytest.raises(SizeError, match="local attention reaches 1 or more places to each side"):
        build(normaliser="local-m", reach=0)
