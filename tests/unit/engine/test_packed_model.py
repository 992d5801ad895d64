"""A whole Transformer on packed rows is the Transformer on padded ones."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from regard.attention import Probe
from regard.data import Batch, MemoryCorpus, collate
from regard.engine import for_training
from regard.models import Sizes, Transformer
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
def test_hidden_vectors(native: None, is_pre_norm: bool, activation: str, positions: str) -> None:
    model = build(
        32, is_pre_norm=is_pre_norm, activation=activation, positions=positions, max_length=9
    )
    shifted = BATCH.target[:, :-1]
    is_real = BATCH.target[:, 1:] != 0
    packed = for_training(model).predict(BATCH.source, shifted, is_real).hidden
    torch.testing.assert_close(
        packed, model.hidden(BATCH.source, shifted)[is_real], rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("is_pre_norm", [False, True], ids=["post", "pre"])
@pytest.mark.parametrize("tie", ["three-way", "two-way", "none"])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_loss_and_gradients(native: None, is_pre_norm: bool, tie: str, positions: str) -> None:
    model = build(32, is_pre_norm=is_pre_norm, tie=tie, positions=positions, max_length=9)
    loss, n_tokens = translation(for_training(model), BATCH, 0.1)
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


def test_a_watched_model_is_not_packed(native: None) -> None:
    model = build(32)
    fast = for_training(model)
    probe = model.get_submodule("encoder.layers.0.attention.weights")
    assert isinstance(probe, Probe)
    heard: list[torch.Size] = []

    def listen(value: Tensor) -> Tensor:
        heard.append(value.shape)
        return value

    probe.attach(listen)
    watched, _ = translation(fast, BATCH, 0.1)
    probe.detach(listen)
    assert heard == [(4, 2, 6, 6)]
    torch.testing.assert_close(watched, translation(fast, BATCH, 0.1)[0])
    assert len(heard) == 1


def test_a_twin_shares_weights_buffers_and_probes(native: None) -> None:
    model = build(32, dropout=0.1)
    fast = for_training(model)
    assert fast is not model
    theirs = dict(model.named_parameters())
    assert all(one is theirs[name] for name, one in fast.named_parameters())
    assert list(fast.state_dict()) == list(model.state_dict())
    assert fast.sites == model.sites
    probes = dict(model.named_modules())
    assert all(one is probes[name] for name, one in fast.named_modules() if isinstance(one, Probe))
    assert for_training(model, precision="bf16") is model
    assert for_training(model.double()) is model


@pytest.mark.parametrize("width", [6, 12])
def test_where_the_kernels_do_not_serve_the_model_computes(native: None, width: int) -> None:
    model = build(width)  # heads that are no multiple of 16 wide
    shifted, is_real = BATCH.target[:, :-1], BATCH.target[:, 1:] != 0
    found = for_training(model).predict(BATCH.source, shifted, is_real).hidden
    assert torch.equal(found, model.predict(BATCH.source, shifted, is_real).hidden)


def test_noise_is_of_the_right_size_on_average(native: None) -> None:
    """Dropout leaves the expected loss near the loss without it, and differs every time."""
    torch.manual_seed(1)
    model = for_training(build(32, dropout=0.05))
    losses = [translation(model, BATCH, 0.0)[0].item() for _ in range(60)]
    assert len(set(losses)) == len(losses)
    calm = translation(model.eval(), BATCH, 0.0)[0].item()
    assert sum(losses) / len(losses) == pytest.approx(calm, rel=0.05)


def test_sentences_do_not_see_each_other(native: None) -> None:
    """The loss of a batch is the sum of the losses of its sentences."""
    model = for_training(build(32))
    alone = sum(
        translation(model, collate(MemoryCorpus(PAIRS), [i]), 0.1)[0].item()
        for i in range(len(PAIRS))
    )
    assert translation(model, BATCH, 0.1)[0].item() == pytest.approx(alone, rel=1e-5)


def test_what_was_measured_first_can_be_learned_from(native: None) -> None:
    """Layouts of sentences of one length are kept: they must not belong to where nothing learns."""
    ids = torch.randint(4, 11, (34, 4))  # a shape that no other test has
    model, batch = for_training(build(32)), Batch(ids, ids)
    with torch.inference_mode():
        translation(model.eval(), batch, 0.0)
    loss, _ = translation(model.train(), batch, 0.0)
    loss.backward()
    assert model.output.weight.grad is not None
