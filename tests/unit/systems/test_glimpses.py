"""What places are worth, by the last glimpse or by every one."""

import pytest
import torch

from regard.data import Batch
from regard.models import RecurrentAttention
from regard.models.glimpses import Retina
from regard.systems.glimpse_data import glimpse_loss, rewards


def test_a_place_is_worth_what_is_believed_after_it() -> None:
    logits = torch.randn(3, 4, 5, generator=torch.Generator().manual_seed(1))
    labels = torch.tensor([0, 4, int(logits[2, -1].argmax())])
    last = rewards(logits, labels, "last")
    assert last.shape == (3, 3)
    assert last[2].tolist() == [1, 1, 1]
    assert set(last.flatten().tolist()) <= {0.0, 1.0}
    every = rewards(logits, labels, "every")
    for row, label in enumerate(labels.tolist()):
        torch.testing.assert_close(every[row], logits.softmax(-1)[row, 1:, label])


@pytest.mark.parametrize(("feedback", "is_learned"), [("last", False), ("every", True)])
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
