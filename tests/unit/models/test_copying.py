"""Copying: one softmax over the vocabulary and the places of the source."""

import math

import pytest
import torch
from torch.nn import functional as F

from regard.data import Batch
from regard.inspection.recording import record
from regard.models import CompressedDecoder, CopyingTransformer, EncoderDecoder, Sizes
from regard.models.copying import Copies
from regard.training.tasks import translation

N_TOKENS = 23
SIZES = Sizes(12, 3, 24, is_pre_norm=True, dropout=0.0, attention_dropout=0.0)
SOURCE = torch.tensor([[7, 5, 9, 5, 3, 2], [4, 8, 2, 0, 0, 0]])
TARGET = torch.tensor([[1, 5, 9, 20, 2], [1, 8, 2, 0, 0]])


def build(kind: str) -> EncoderDecoder:
    torch.manual_seed(1)
    if kind == "compressed":
        model: EncoderDecoder = CompressedDecoder(
            N_TOKENS, SIZES, layers="LM", block=3, stride=2, copies=True
        )
    else:
        model = CopyingTransformer(N_TOKENS, N_TOKENS, SIZES, n_layers=1)
    return model.eval()


def test_a_word_gets_what_its_places_and_the_vocabulary_give_it() -> None:
    logits = torch.tensor([[0.0, 1.0, 2.0, 0.5]]).double()
    copies = Copies(torch.tensor([[3.0, 1.0, 3.0]]).double(), torch.tensor([[2, 3, 2]]))
    found = copies.joined(logits).softmax(-1)[0]
    total = sum(map(math.exp, (0, 1, 2, 0.5, 3, 1, 3)))
    expected = [1, math.exp(1), math.exp(2) + 2 * math.exp(3), math.exp(0.5) + math.exp(1)]
    torch.testing.assert_close(found, torch.tensor(expected).double() / total)


def test_the_loss_is_that_of_the_joined_logits() -> None:
    torch.manual_seed(2)
    logits, scores = torch.randn(6, 9).double(), torch.randn(6, 4).double()
    scores.requires_grad_()
    source, labels = torch.randint(9, (6, 4)), torch.randint(9, (6,))
    copies = Copies(scores, source)
    loss = copies.loss(logits, labels, 0.0)
    wanted = F.cross_entropy(copies.joined(logits), labels, reduction="sum")
    torch.testing.assert_close(loss, wanted)
    gradients = [torch.autograd.grad(one, scores)[0] for one in (loss, wanted)]
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("kind", ["transformer", "compressed"])
@torch.inference_mode()
def test_step_by_step_is_at_once(kind: str) -> None:
    model = build(kind)
    whole = model(SOURCE, TARGET)
    state = model.start(SOURCE)
    rows = torch.tensor([0, 1])
    for place in range(3):
        logits, state = model.step(state, TARGET[rows, place])
        torch.testing.assert_close(logits, whole[rows, place], atol=1e-4, rtol=1e-4)
        state, rows = model.reorder(state, torch.tensor([1, 0])), rows.flip(0)


@pytest.mark.parametrize("kind", ["transformer", "compressed"])
def test_padding_changes_nothing_and_what_is_predicted_is_what_is_given(kind: str) -> None:
    model = build(kind)
    batch = Batch(SOURCE, TARGET)
    loss, n = translation(model, batch, 0.0)
    labels = TARGET[:, 1:]
    logits = model(F.pad(SOURCE, (0, 3)), TARGET[:, :-1]).transpose(1, 2)
    wanted = F.cross_entropy(logits, labels, ignore_index=0, reduction="sum")
    torch.testing.assert_close(loss, wanted, atol=1e-4, rtol=1e-4)
    assert n == 6


def test_shares_of_what_is_copied_can_be_watched() -> None:
    model = build("transformer")
    with record(model, "copying.weights") as recording:
        model(SOURCE, TARGET)
    weights = recording.all("copying.weights")[0]
    assert weights.shape == (2, 1, 5, 6)
    torch.testing.assert_close(weights.sum(-1), torch.ones(2, 1, 5))
    assert float(weights[1, ..., 3:].max()) == 0.0
