"""T-DMCA: decoding word by word is reading at once; neither padding nor the future is seen."""

import pytest
import torch
from torch import Tensor

from regard.errors import SizeError, UsageError
from regard.inspection.recording import record
from regard.models import CompressedDecoder, Sizes, long_layers
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
    model, target = build(layers), draw(2, 9)
    source = draw(2, max(lengths))
    for row, length in enumerate(lengths):
        source[row, length:] = 0
    whole = model(source, target)
    logits, state = model.step(model.start(source), target[:, 0])
    torch.testing.assert_close(logits, whole[:, 0])
    rows = torch.tensor([1, 0, 1])  # hypotheses of one source share what was read
    state = model.reorder(state, rows)
    for place in range(1, 9):
        logits, state = model.step(state, target[rows, place])
        torch.testing.assert_close(logits, whole[rows, place])


@torch.inference_mode()
def test_rows_of_one_source_share_what_was_read() -> None:
    model, source, target = build("LM"), draw(1, 11), draw(3, 5)
    whole = model(source.expand(3, -1), target)
    state = model.reorder(model.start(source), torch.tensor([0, 0, 0]))
    for place in range(5):
        logits, state = model.step(state, target[:, place])
        torch.testing.assert_close(logits, whole[:, place])


def test_the_future_and_the_padding_change_nothing() -> None:
    model, source, target = build("LMLML"), draw(2, 13), draw(2, 8)
    whole = model(source, target)
    torch.testing.assert_close(model(source, target[:, :5]), whole[:, :5])
    padded = torch.cat([source, torch.zeros(2, 30, dtype=torch.long)], dim=1)
    torch.testing.assert_close(model(padded, target), whole)


def test_the_words_of_the_source_are_learned_where_they_count() -> None:
    model, source, target = build().train(), draw(2, 13), draw(2, 8)
    source[1, 9:] = 0
    is_real = torch.ones(2, 8, dtype=torch.bool)
    assert model.predict(source, target, is_real).cost is None
    model.source_loss = 0.5
    for one in model.modules():
        if isinstance(one, torch.nn.Dropout):
            one.p = 0.0
    cost = model.predict(source, target, is_real).cost
    hidden = model.through(model.embedding(source))  # nothing behind a place changes it
    wanted = source[:, 1:].flatten()
    losses = torch.nn.functional.cross_entropy(
        model.output(hidden[:, :-1]).flatten(0, 1), wanted, reduction="none"
    )
    expected = 0.5 * losses[wanted != 0].mean()
    assert cost is not None
    torch.testing.assert_close(cost, expected)
    assert model.eval().predict(source, target, is_real).cost is None


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
    source, target = draw(1, 12), draw(1, 3)
    found = []
    for kept in (100, 4):
        monkeypatch.setattr(module, "_KEPT_WHOLE", kept)
        model = build().train()
        torch.manual_seed(5)  # the same dropout in both passes of both ways
        model(source, target).sin().sum().backward()
        found.append([one.grad for one in model.parameters()])
    for mine, other in zip(*found, strict=True):
        torch.testing.assert_close(mine, other)


@torch.inference_mode()
def test_what_passes_in_pieces_is_what_passes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model, source, target = build(), draw(1, 12), draw(1, 3)
    whole = model(source, target)
    monkeypatch.setattr(long_layers, "_TOGETHER", 5)
    torch.testing.assert_close(model(source, target), whole)


@torch.inference_mode()
def test_watching_changes_nothing_and_every_row_sums_to_one() -> None:
    model, source, target = build("LM"), draw(1, 8), draw(1, 3)
    unwatched = model(source, target)
    probes = [site.probe for site in model.sites]
    with record(model, *probes) as recording:
        torch.testing.assert_close(model(source, target), unwatched)
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


@pytest.mark.parametrize("layers", ["L", "M", "LMLML"])
@pytest.mark.parametrize("lengths", [(20, 15), (16, 6), (13, 1)])
@torch.inference_mode()
def test_reading_piece_by_piece_is_reading_at_once(
    layers: str, lengths: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(1)
    model = CompressedDecoder(N_TOKENS, SIZES, layers=layers, block=4, stride=3, copies=True)
    model.double().eval()
    source, target = draw(2, max(lengths)), draw(2, 7)
    for row, length in enumerate(lengths):
        source[row, length:] = 0
    whole = model(source, target)
    monkeypatch.setattr(module, "_PIECE", 7)  # places; blocks of 3 leave 6
    state = model.start(source)
    for place in range(7):
        logits, state = model.step(state, target[:, place])
        torch.testing.assert_close(logits, whole[:, place])
