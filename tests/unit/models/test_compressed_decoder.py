"""T-DMCA: decoding word by word is reading at once; neither padding nor the future is seen."""

import pytest
import torch
from torch import Tensor

from regard.errors import SizeError, UsageError
from regard.inspection.recording import record
from regard.models import CompressedDecoder, Sizes
from regard.models import compressed_decoder as module

N_TOKENS = 50
SIZES = Sizes(12, 3, 24, is_pre_norm=True)


def build(layers: str = "LMLM", block: int = 4) -> CompressedDecoder:
    torch.manual_seed(1)
    model = CompressedDecoder(N_TOKENS, SIZES, layers=layers, block=block, stride=3)
    return model.double().eval()


def draw(rows: int, length: int) -> Tensor:
    return torch.randint(1, N_TOKENS, (rows, length))


@pytest.mark.parametrize("layers", ["L", "M", "LMLML"])
@pytest.mark.parametrize("lengths", [(1, 1), (5, 2), (13, 9), (12, 3)])
@torch.inference_mode()
def test_decoding_with_its_memory_is_reading_at_once(layers: str, lengths: tuple[int, int]) -> None:
    model, ids = build(layers), draw(2, 22)
    whole = model(ids)
    prompt = torch.zeros(2, max(lengths), dtype=torch.long)
    for row, length in enumerate(lengths):
        prompt[row, :length] = ids[row, :length]
    logits, state = model.step(model.start(prompt), torch.tensor([1, 1]))
    for row, length in enumerate(lengths):
        torch.testing.assert_close(logits[row], whole[row, length - 1])
    rows = [1, 0, 1]  # hypotheses of one sequence share what was read
    state = model.reorder(state, torch.tensor(rows))
    for place in range(8):
        at = [lengths[row] + place for row in rows]
        logits, state = model.step(state, ids[rows, at])
        torch.testing.assert_close(logits, whole[rows, at])


def test_the_future_and_the_padding_change_nothing() -> None:
    model, ids = build("LMLML"), draw(2, 20)
    whole = model(ids)
    torch.testing.assert_close(model(ids[:, :13]), whole[:, :13])
    padded = torch.cat([ids[:, :13], torch.zeros(2, 30, dtype=torch.long)], dim=1)
    torch.testing.assert_close(model(padded)[:, :13], whole[:, :13])


def test_local_layers_alone_reach_as_far_as_their_windows_and_compressed_ones_everywhere() -> None:
    ids = draw(1, 40)
    for layers, reaches in (("LL", False), ("LM", True)):
        model = build(layers)
        embedded = model.embedding(ids).detach().requires_grad_()
        value = embedded
        for layer in model.layers:
            value = layer(value)
        (gradient,) = torch.autograd.grad(value[0, -1].sum(), embedded)
        # Two windows of four places see six places back.
        assert bool(gradient[0, : 40 - 7].any()) == reaches
        assert bool(gradient[0, -7:].any())


def test_long_sequences_are_computed_again_for_the_same_gradient(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = draw(1, 12)
    found = []
    for kept in (100, 4):
        monkeypatch.setattr(module, "_KEPT_WHOLE", kept)
        model = build().train()
        torch.manual_seed(5)  # the same dropout in both passes of both ways
        model(ids).sin().sum().backward()
        found.append([one.grad for one in model.parameters()])
    for mine, other in zip(*found, strict=True):
        torch.testing.assert_close(mine, other)


@torch.inference_mode()
def test_what_passes_in_pieces_is_what_passes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, ids = build(), draw(1, 12)
    whole = model(ids)
    monkeypatch.setattr(module, "_TOGETHER", 5)
    torch.testing.assert_close(model(ids), whole)


@torch.inference_mode()
def test_watching_changes_nothing_and_every_row_sums_to_one() -> None:
    model, ids = build("LM"), draw(1, 11)
    unwatched = model(ids)
    probes = [site.probe for site in model.sites]
    with record(model, *probes) as recording:
        torch.testing.assert_close(model(ids), unwatched)
    local, compressed = (recording[probe] for probe in probes)
    assert local.shape == (1, 3, 11, 4)  # of the window
    assert compressed.shape == (1, 3, 11, 1 + 3)  # the null key and blocks of three
    for weights in (local, compressed):
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))


def test_impossible_stacks_and_empty_sequences_are_refused() -> None:
    with pytest.raises(UsageError, match="'LX'"):
        build("LX")
    with pytest.raises(UsageError, match="blocks of 0"):
        build(block=0)
    with pytest.raises(SizeError, match="no words"):
        build().start(torch.zeros(1, 3, dtype=torch.long))
