"""A bias of the logits, embeddings that are not scaled, and silu: the same by every path."""

import pytest
import torch
from torch.nn import functional as F

from regard.data import Batch
from regard.engine import for_decoding
from regard.models import Transformer
from regard.models.transformer import Sizes
from regard.special import BOS, PAD
from regard.training.tasks import translation


def model_of(activation: str = "relu", *, d_model: int = 32, scales: bool = True) -> Transformer:
    sizes = Sizes(d_model, 2, 24, activation=activation, dropout=0.0, attention_dropout=0.0,
                  feedforward_dropout=0.0, embedding_dropout=0.0)  # fmt: skip
    model = Transformer(
        11, 13, sizes, n_layers=1, n_decoder_layers=2, tie="two-way",
        scales_embeddings=scales, has_output_bias=True,
    )  # fmt: skip
    assert model.output.bias is not None
    torch.nn.init.normal_(model.output.bias)
    return model.eval()


SOURCE = torch.tensor([[5, 6, 7, 3], [8, 9, 3, PAD]])
TARGET = torch.tensor([[BOS, 4, 12], [BOS, 9, 5]])


# Heads of 16 numbers are served by the frozen kernel, others are not.
@pytest.mark.parametrize("d_model", [32, 24])
@pytest.mark.parametrize("activation", ["relu", "silu"])
@pytest.mark.parametrize("is_frozen", [False, True])
def test_step_by_step_is_all_at_once(activation: str, d_model: int, is_frozen: bool) -> None:
    model = model_of(activation, d_model=d_model, scales=activation == "relu")
    with torch.no_grad():
        expected = model(SOURCE, TARGET)
        plain = model.hidden(SOURCE, TARGET) @ model.output.weight.T
        torch.testing.assert_close(expected, plain + model.output.bias)
        decoder = for_decoding(model) if is_frozen else model
        state = decoder.start(SOURCE)
        for place in range(TARGET.shape[1]):
            logits, state = decoder.step(state, TARGET[:, place])
            torch.testing.assert_close(logits, expected[:, place], atol=2e-5, rtol=1e-5)


def test_it_learns() -> None:
    model = model_of().train()
    target = torch.tensor([[BOS, 4, 12, 3], [BOS, 9, 3, PAD]])
    loss, n = translation(model, Batch(SOURCE, target), 0.1)
    loss.backward()
    found = model.output.bias.grad
    model.zero_grad()
    logits = model(SOURCE, target[:, :-1])
    expected = F.cross_entropy(
        logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD, label_smoothing=0.1,
        reduction="sum",
    )  # fmt: skip
    expected.backward()
    assert n == 5
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(found, model.output.bias.grad)


def test_embeddings_may_stay_as_small_as_their_table() -> None:
    model = model_of(scales=False)
    torch.testing.assert_close(
        model.encoder.embedding(SOURCE[:1]) - model.encoder.embedding.positions.table[:4],
        model.encoder.embedding.weight[SOURCE[:1]],
    )
