"""A whole Transformer on packed rows is the Transformer on padded ones."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from regard.attention import Probe
from regard.data import Batch, MemoryCorpus, collate
from regard.models import Sizes, Transformer
from regard.models.packing import pack
from regard.training.tasks import translation

PAIRS = [([4, 5, 6, 7, 8], [9, 4]), ([5], [6, 6, 7, 8, 9, 5, 4]), ([7, 8], [5]), ([9], [9])]
BATCH = collate(MemoryCorpus(PAIRS), range(len(PAIRS)))


def build(width: int = 12, dropout: float = 0.0, **options: object) -> Transformer:
    is_pre_norm, activation = (
        bool(options.pop("is_pre_norm", False)),
        options.pop("activation", "relu"),
    )
    sizes = Sizes(
        d_model=width,
        n_heads=2,
        d_feedforward=20,
        is_pre_norm=is_pre_norm,
        activation=str(activation),
        dropout=dropout,
        attention_dropout=dropout,
        feedforward_dropout=dropout,
        embedding_dropout=dropout,
    )
    options = {"n_layers": 1, "n_decoder_layers": 2, **options}
    model = Transformer(11, 11, sizes, **options)  # type: ignore[arg-type]
    with torch.no_grad():  # biases and norms begin as zeros and ones, which would hide mistakes
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)
    return model


def padded_loss(model: Transformer) -> Tensor:
    target = BATCH.target[:, 1:]
    logits = model(BATCH.source, BATCH.target[:, :-1])
    return F.cross_entropy(
        logits[target != 0], target[target != 0], reduction="sum", label_smoothing=0.1
    )


@pytest.mark.parametrize("is_pre_norm", [False, True], ids=["post", "pre"])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
@pytest.mark.parametrize("width", [12, 32])
def test_hidden_vectors(
    path: str, is_pre_norm: bool, activation: str, positions: str, width: int
) -> None:
    model = build(
        width, is_pre_norm=is_pre_norm, activation=activation, positions=positions, max_length=9
    )
    shifted = BATCH.target[:, :-1]
    is_real = BATCH.target[:, 1:] != 0
    packed = model.hidden_packed(pack(BATCH.source, BATCH.source != 0), pack(shifted, is_real))
    torch.testing.assert_close(
        packed, model.hidden(BATCH.source, shifted)[is_real], rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("is_pre_norm", [False, True], ids=["post", "pre"])
@pytest.mark.parametrize("tie", ["three-way", "two-way", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_loss_and_gradients(path: str, is_pre_norm: bool, tie: str, positions: str) -> None:
    model = build(32, is_pre_norm=is_pre_norm, tie=tie, positions=positions, max_length=9)
    loss, n_tokens = translation(model, BATCH, 0.1)
    reference = padded_loss(model)
    assert n_tokens == BATCH.n_target_tokens == 15
    torch.testing.assert_close(loss, reference, rtol=1e-5, atol=1e-5)
    loss.backward()
    ours = {name: p.grad for name, p in model.named_parameters()}
    model.zero_grad()
    reference.backward()
    for name, parameter in model.named_parameters():
        mine, theirs = ours[name], parameter.grad
        assert mine is not None, name
        assert theirs is not None, name
        torch.testing.assert_close(mine, theirs, rtol=1e-3, atol=1e-4, msg=name)


def test_a_watched_model_is_not_packed() -> None:
    model = build()
    assert model.is_packable
    probe = model.get_submodule("encoder.layers.0.attention.weights")
    assert isinstance(probe, Probe)

    def listen(value: Tensor) -> Tensor:
        return value

    probe.attach(listen)
    assert not model.is_packable
    watched, _ = translation(model, BATCH, 0.1)
    probe.detach(listen)
    assert model.is_packable
    torch.testing.assert_close(watched, translation(model, BATCH, 0.1)[0])


def test_noise_is_of_the_right_size_on_average(path: str) -> None:
    """Dropout leaves the expected loss near the loss without it, and differs every time."""
    torch.manual_seed(1)
    model = build(32, dropout=0.05)
    losses = [translation(model, BATCH, 0.0)[0].item() for _ in range(60)]
    assert len(set(losses)) == len(losses)
    calm = translation(model.eval(), BATCH, 0.0)[0].item()
    assert sum(losses) / len(losses) == pytest.approx(calm, rel=0.05)


def test_sentences_do_not_see_each_other(path: str) -> None:
    """The loss of a batch is the sum of the losses of its sentences."""
    model = build(32)
    alone = sum(
        translation(model, collate(MemoryCorpus(PAIRS), [i]), 0.1)[0].item()
        for i in range(len(PAIRS))
    )
    assert translation(model, BATCH, 0.1)[0].item() == pytest.approx(alone, rel=1e-5)


@pytest.mark.parametrize("width", [12, 32])
def test_what_was_measured_first_can_be_learned_from(path: str, width: int) -> None:
    """Layouts of sentences of one length are kept: they must not belong to where nothing learns."""
    ids = torch.randint(4, 11, (width + 2, 3 + (path == "C++")))  # a shape that no other test has
    model, batch = build(width), Batch(ids, ids)
    with torch.inference_mode():
        translation(model.eval(), batch, 0.0)
    loss, _ = translation(model.train(), batch, 0.0)
    loss.backward()
    assert model.output.weight.grad is not None
