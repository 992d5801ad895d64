"""What places are worth, by the last glimpse, by every one, or by each alone too."""

from dataclasses import replace

import pytest
import torch

from regard.data import Batch
from regard.models import RecurrentAttention
from regard.models.glimpses import Glimpsed, Retina
from regard.systems.glimpse_data import FadingFeedback, glimpse_loss, rewards


def test_a_place_is_worth_what_is_believed_after_it() -> None:
    logits, alone = torch.randn(2, 3, 4, 5, generator=torch.Generator().manual_seed(1))
    labels = torch.tensor([0, 4, int(logits[2, -1].argmax())])
    seen = Glimpsed(torch.zeros(3, 4, 2), logits, torch.zeros(3, 3), torch.zeros(3, 3))
    last = rewards(seen, labels, "last")
    assert last.shape == (3, 3)
    assert last[2].tolist() == [1, 1, 1]
    assert set(last.flatten().tolist()) <= {0.0, 1.0}
    every = rewards(seen, labels, "every")
    both = rewards(replace(seen, alone=alone), labels, "alone")
    for row, label in enumerate(labels.tolist()):
        torch.testing.assert_close(every[row], logits.softmax(-1)[row, 1:, label])
        of_glimpse = alone.softmax(-1)[row, 1:, label]
        torch.testing.assert_close(both[row], (every[row] + of_glimpse) / 2)


@pytest.mark.parametrize(
    ("feedback", "is_learned"), [("last", False), ("every", True), ("alone", True)]
)
def test_with_feedback_of_every_glimpse_the_first_belief_is_learned_too(
    feedback: str, is_learned: bool
) -> None:
    torch.manual_seed(2)
    batch = Batch(torch.rand(6, 1, 9, 9) * 2 - 1, torch.tensor([[0], [1], [2]] * 2))
    retina = Retina(4, 1, 9, 3)
    model = RecurrentAttention(3, retina, n_glimpses=2, d_hidden=8, core="rnn", feedback=feedback)
    torch.nn.init.zeros_(model.core.unit.weight_hh)  # the first is forgotten after the second
    seen = list[torch.Tensor]()
    model.core.register_forward_hook(lambda *given: seen.append(given[2][0]))
    loss, n = glimpse_loss(model, batch, 0.0)
    gradient = torch.autograd.grad(loss, seen[0])[0]
    assert n == 6
    assert bool(gradient.abs().max() > 0) == is_learned


def test_what_a_glimpse_tells_alone_is_learned_but_teaches_the_retina_nothing() -> None:
    torch.manual_seed(3)
    batch = Batch(torch.rand(4, 1, 9, 9) * 2 - 1, torch.tensor([[0], [1], [2], [0]]))
    model = RecurrentAttention(3, Retina(4, 1, 9, 3), n_glimpses=2, d_hidden=8, feedback="alone")
    assert model.alone is not None
    seen = model.look(batch.source)
    assert seen.alone is not None
    assert torch.autograd.grad(seen.alone.sum(), model.alone.weight, retain_graph=True)[0].any()
    what = model.glimpse.what.weight
    assert torch.autograd.grad(seen.alone.sum(), what, allow_unused=True)[0] is None
    loss, _ = glimpse_loss(model, batch, 0.0)
    loss.backward()
    assert model.alone.weight.grad is not None


@torch.no_grad()
def test_early_glimpses_count_less_and_less_towards_the_end() -> None:
    torch.manual_seed(4)
    batch = Batch(torch.rand(4, 1, 9, 9) * 2 - 1, torch.tensor([[0], [1], [2], [0]]))
    model = RecurrentAttention(
        3, Retina(4, 1, 9, 3), n_glimpses=3, d_hidden=8, feedback="every", locator="centre"
    )
    task = FadingFeedback(until=0.5, updates=100)
    losses = {update: float(task.at(update)(model, batch, 0.0)[0]) for update in (1, 50, 75, 100)}
    assert losses[1] == losses[50] == float(glimpse_loss(model, batch, 0.0)[0])
    assert losses[75] == pytest.approx((losses[50] + losses[100]) / 2)
    model.eval()
    model.feedback = "last"
    assert losses[100] == pytest.approx(float(glimpse_loss(model, batch, 0.0)[0]))
    assert losses[100] != losses[50]
