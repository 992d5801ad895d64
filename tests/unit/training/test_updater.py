"""Adam over one flat buffer is torch's Adam over many tensors."""

import copy

import pytest
import torch
from torch import Tensor, nn

from regard.data import MemoryCorpus, collate
from regard.engine import for_training
from regard.models import Sizes, Transformer
from regard.training import Ranks, Updater
from regard.training.tasks import translation

BATCHES = [
    collate(MemoryCorpus([([4, 5, 6], [7, 8]), ([9], [10, 4, 5])]), [0, 1]),
    collate(MemoryCorpus([([8, 8], [4]), ([5, 6], [9, 9])]), [0, 1]),
]


def build(tie: str = "three-way") -> Transformer:
    sizes = Sizes(12, 2, 20, True, "relu", 0.0, 0.0, 0.0, 0.0)
    return Transformer(11, 11, sizes, n_layers=1, tie=tie)


def values(model: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in model.state_dict().items()}


def assert_same(one: nn.Module, other: nn.Module, **tolerance: float) -> None:
    for name, tensor in one.state_dict().items():
        torch.testing.assert_close(tensor, other.state_dict()[name], msg=name, **tolerance)


@pytest.mark.parametrize("weight_decay", [0.0, 0.1])
@pytest.mark.parametrize("clip", [None, 0.05])
@pytest.mark.parametrize("tie", ["three-way", "none"])
def test_updates_are_those_of_adamw(weight_decay: float, clip: float | None, tie: str) -> None:
    """With a large epsilon, as Adam divides noise by noise where a gradient is zero."""
    ours = build(tie)
    theirs = copy.deepcopy(ours)
    updater = Updater(ours, betas=(0.8, 0.9), epsilon=1e-3, weight_decay=weight_decay)
    adam = torch.optim.AdamW(
        theirs.parameters(), lr=1.0, betas=(0.8, 0.9), eps=1e-3, weight_decay=weight_decay
    )
    for n in range(6):
        rate = 0.01 / (n + 1)
        loss, n_tokens = translation(ours, BATCHES[n % 2], 0.1)
        loss.backward()  # type: ignore[no-untyped-call]
        norm = updater.update(rate, float(n_tokens), clip)
        adam.zero_grad()
        loss, n_tokens = translation(theirs, BATCHES[n % 2], 0.1)
        (loss / n_tokens).backward()
        whole = nn.utils.clip_grad_norm_(theirs.parameters(), clip or 1e9)
        adam.param_groups[0]["lr"] = rate
        adam.step()
        assert norm == pytest.approx(float(whole), rel=1e-4)
        assert not updater.gradient.any()
    assert_same(ours, theirs, rtol=1e-4, atol=1e-5)
    assert updater.n_updates == 6


def test_gradients_gather_over_several_batches_wherever_they_are_computed() -> None:
    """Packed and padded rows add to the same places."""
    ours, plain = build(), build()
    plain.load_state_dict(ours.state_dict())
    updater = Updater(ours)
    for batch in BATCHES:
        translation(for_training(ours), batch, 0.1)[0].backward()  # type: ignore[no-untyped-call]
    total = sum((translation(plain, batch, 0.1)[0] for batch in BATCHES), torch.zeros(()))
    total.backward()  # type: ignore[no-untyped-call]
    for (name, mine), theirs in zip(ours.named_parameters(), plain.parameters(), strict=True):
        assert mine.grad is not None
        assert theirs.grad is not None
        assert mine.grad.untyped_storage().data_ptr() == updater.gradient.data_ptr(), name
        torch.testing.assert_close(mine.grad, theirs.grad, rtol=1e-3, atol=1e-5, msg=name)


def test_tied_weights_stay_one_and_lie_in_the_buffer_once() -> None:
    model = build("three-way")
    updater = Updater(model)
    table = model.encoder.embedding.weight
    assert table is model.decoder.embedding.weight
    assert table is model.output.weight
    assert updater.weights.numel() < sum(p.numel() + 16 for p in model.parameters())
    updater.weights.fill_(0.5)
    assert all(bool((p == 0.5).all()) for p in model.parameters())


def test_a_gradient_that_is_not_finite_changes_nothing() -> None:
    model = build()
    updater = Updater(model, ema=0.5)
    before, average = values(model), updater.state()["average"].clone()
    for bad in (float("nan"), float("inf")):
        updater.gradient.fill_(0.1)
        updater.gradient[3] = bad
        norm = updater.update(0.1, 1.0, 1.0)
        assert not norm < float("inf")
        assert updater.n_updates == 0
        assert not updater.gradient.any()  # the next update does not inherit it
    assert all(torch.equal(before[name], tensor) for name, tensor in model.state_dict().items())
    assert torch.equal(updater.state()["average"], average)
    assert not updater.state()["moment.first"].any()


def test_the_average_follows_fast_at_first_and_then_slowly() -> None:
    model = build()
    updater = Updater(model, ema=0.3)
    expected = updater.weights.clone()
    for n in range(1, 8):
        updater.gradient.fill_(1.0)
        updater.update(0.1, 1.0, None)
        decay = min(0.3, (1 + n) / (10 + n))
        expected = decay * expected + (1 - decay) * updater.weights
    torch.testing.assert_close(updater.state()["average"], expected)


def test_averaged_weights_are_lent_and_given_back() -> None:
    model = build()
    updater = Updater(model, ema=0.9)
    updater.gradient.fill_(1.0)
    updater.update(0.1, 1.0, None)
    own = values(model)
    with updater.averaged():
        assert torch.equal(updater.weights, updater.state()["average"])
        assert not torch.equal(model.output.weight, own["output.weight"])
    assert all(torch.equal(own[name], tensor) for name, tensor in model.state_dict().items())
    with pytest.raises(ZeroDivisionError), updater.averaged():
        _ = 1 / 0
    assert all(torch.equal(own[name], tensor) for name, tensor in model.state_dict().items())
    plain = Updater(build())
    with plain.averaged():
        assert plain.average is None


@pytest.mark.parametrize("ema", [None, 0.9])
def test_state_comes_back_exactly(ema: float | None) -> None:
    """What follows is bit for bit the same."""

    def step(model: Transformer, updater: Updater, n: int) -> None:
        loss, n_tokens = translation(model, BATCHES[n % 2], 0.1)
        loss.backward()  # type: ignore[no-untyped-call]
        updater.update(0.01, float(n_tokens), 1.0)

    first = build()
    before = Updater(first, ema=ema)
    for n in range(3):
        step(first, before, n)
    second = build()
    second.load_state_dict(first.state_dict())
    after = Updater(second, ema=ema)
    after.restore({k: v.clone() for k, v in before.state().items()}, before.n_updates)
    for n in range(3, 6):
        step(first, before, n)
        step(second, after, n)
    assert all(
        torch.equal(tensor, second.state_dict()[name])
        for name, tensor in first.state_dict().items()
    )
    assert before.state().keys() == after.state().keys()
    assert all(torch.equal(before.state()[key], after.state()[key]) for key in before.state())


def test_one_process_sums_nothing() -> None:
    updater = Updater(build())
    updater.gradient.fill_(2.0)
    updater.reduce(Ranks())
    assert bool((updater.gradient == 2.0).all())


def test_parts_begin_on_lines_of_the_cache() -> None:
    model = build()
    updater = Updater(model)
    start = updater.weights.data_ptr()
    assert all((p.data_ptr() - start) % 64 == 0 for p in model.parameters())
