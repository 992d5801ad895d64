"""The Universal Transformer: one layer repeated, halting by the book, stepping = whole."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention import Probe, masks, sinusoids
from regard.decoding import Limits, Search, beam_search, greedy
from regard.errors import SizeError, UsageError
from regard.models import Sizes
from regard.models.halting import Depth, Halting
from regard.models.interface import Step
from regard.models.universal import UniversalTransformer

PAD, BOS, EOS = 0, 2, 3
SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0], [7, 3, 0, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3], [2, 4, 4, 5]])
SOURCE_TOKENS, TARGET_TOKENS, WIDTH, HEADS = 11, 13, 12, 3
FIXED, ADAPTIVE = Depth(3), Depth(6, is_adaptive=True)


def sizes(*, is_pre_norm: bool = False, dropout: float = 0.0, d_model: int = WIDTH) -> Sizes:
    rates = (dropout,) * 4
    return Sizes(d_model, HEADS, 16, is_pre_norm, "relu", *rates)


def build(
    depth: Depth = FIXED,
    *,
    is_pre_norm: bool = False,
    dropout: float = 0.0,
    tie: str = "two-way",
    decoder_depth: Depth | None = None,
) -> UniversalTransformer:
    model = UniversalTransformer(
        SOURCE_TOKENS,
        TARGET_TOKENS,
        sizes(is_pre_norm=is_pre_norm, dropout=dropout),
        depth=depth,
        decoder_depth=decoder_depth,
        tie=tie,
    )
    for stack, bias in ((model.encoder, 0.5), (model.decoder, -2.0)):
        if stack.halt is not None:  # words that differ, and have opinions about when to halt
            nn.init.normal_(stack.halt.weight, std=0.3)
            nn.init.constant_(stack.halt.bias, bias)
            stack.embedding.weight.data.mul_(4)
    return model


@contextmanager
def hearing(probe: Probe) -> Iterator[list[Tensor]]:
    heard: list[Tensor] = []

    def listen(value: Tensor) -> Tensor:
        heard.append(value.detach())
        return value

    probe.attach(listen)
    yield heard
    probe.detach(listen)


norms = pytest.mark.parametrize("is_pre_norm", [False, True], ids=["post-norm", "pre-norm"])
depths = pytest.mark.parametrize("depth", [FIXED, ADAPTIVE], ids=["fixed", "adaptive"])


@norms
@depths
def test_a_step_at_a_time_is_the_whole(is_pre_norm: bool, depth: Depth) -> None:
    """Words that halted early leave keys for words that think on."""
    model = build(depth, is_pre_norm=is_pre_norm).double().eval()
    assert isinstance(model, Step)
    with hearing(model.decoder.steps) as steps:
        whole, state = model(SOURCE, TARGET), model.start(SOURCE)
        assert whole.shape == (*TARGET.shape, TARGET_TOKENS)
        for t in range(TARGET.shape[1]):
            stepped, state = model.step(state, TARGET[:, t])
            torch.testing.assert_close(stepped, whole[:, t], rtol=1e-10, atol=1e-10)
    at_once, *one_by_one = steps
    assert torch.equal(torch.cat(one_by_one, 1), at_once)
    if depth.is_adaptive:
        assert len(at_once.unique()) >= 3


def test_a_word_that_thinks_on_sees_words_that_have_halted() -> None:
    """The halted word's state stands; if its keys were missing, gradients would be too."""
    model = build(ADAPTIVE).double().eval()
    with hearing(model.decoder.steps) as steps:
        hidden = model.hidden(SOURCE, TARGET)
    (taken,) = steps
    row, early, late = next(
        (row, i, j)
        for row in range(3)
        for i in range(4)
        for j in range(i + 1, 4)
        if taken[row, i] < taken[row, j]
    )
    (gradient,) = torch.autograd.grad(hidden[row, late, 0], model.decoder.embedding.weight)
    assert gradient[TARGET[row, early]].abs().max() > 1e-9


def test_the_state_of_a_halted_word_is_copied() -> None:
    """By hand: one word halts at once, and the other sees it so at its second and third step."""
    model = build(Depth(3, is_adaptive=True)).double().eval()
    encoder, ids = model.encoder, torch.tensor([[5, 6]])
    everywhere = torch.ones(1, 1, 1, 2, dtype=torch.bool)
    signals = sinusoids(4, WIDTH).double()
    first = encoder.layer(encoder.embedding(ids) + signals[:2] + signals[1], everywhere)
    assert encoder.halt is not None
    with torch.no_grad():  # a plane between the two states: one halts, the other does not
        difference, middle = first[0, 0] - first[0, 1], first[0].mean(0)
        encoder.halt.weight[0] = 20 * difference / difference.square().sum()
        encoder.halt.bias[:] = -encoder.halt.weight[0] @ middle - 4
    second = encoder.layer(first + signals[:2] + signals[2], everywhere)
    copied = torch.stack([first[:, 0], second[:, 1]], dim=1)
    third = encoder.layer(copied + signals[:2] + signals[3], everywhere)
    p, q = (torch.sigmoid(encoder.halt(state))[0, :, 0] for state in (first, second))
    assert p[0] > 0.99
    assert p[1] + q[1] < 0.99
    with hearing(encoder.steps) as steps:
        thought = encoder(ids, everywhere)
    assert steps[0].tolist() == [[1, 3]]
    torch.testing.assert_close(thought.value[0, 0], first[0, 0])
    remainder = 1 - p[1] - q[1]
    mean = p[1] * first[0, 1] + q[1] * second[0, 1] + remainder * third[0, 1]
    torch.testing.assert_close(thought.value[0, 1], mean, rtol=1e-10, atol=1e-10)
    torch.testing.assert_close(thought.cost[0], torch.stack([2 + 0 * p[0], 3 + remainder]))


@norms
def test_fixed_steps_are_the_layer_repeated_by_hand(is_pre_norm: bool) -> None:
    model = build(FIXED, is_pre_norm=is_pre_norm, decoder_depth=Depth(2)).double().eval()
    signals = sinusoids(9, WIDTH).double()
    mask = masks.keeping(SOURCE != PAD)
    memory = model.encoder.embedding(SOURCE)
    for t in (1, 2, 3):
        memory = model.encoder.layer(memory + signals[:5] + signals[t], mask)
    memory = model.encoder.norm(memory)
    value = model.decoder.embedding(TARGET)
    for t in (1, 2):
        value = model.decoder.layer(value + signals[:4] + signals[t], masks.causal(4), memory, mask)
    hidden, ponder = model.hidden_and_ponder(SOURCE, TARGET)
    torch.testing.assert_close(hidden, model.decoder.norm(value), rtol=1e-10, atol=1e-10)
    assert ponder == 0
    with hearing(model.encoder.steps) as encoder, hearing(model.decoder.steps) as decoder:
        model(SOURCE, TARGET)
    assert torch.equal(encoder[0], 3.0 * (SOURCE != PAD))
    assert torch.equal(decoder[0], torch.full((3, 4), 2.0).double())


def test_ponder_cost_counted_by_hand() -> None:
    """Halts at steps 2, 1 and (the last) 3: N + R is 2 + 0.7, 1 + 1, 3 + 0.5; padding is free."""
    probabilities = torch.tensor([[[0.3, 0.995, 0.2, 0.4], [0.8, 0.5, 0.3, 0.9], [0.1] * 4]])
    states = torch.arange(1.0, 4.0)[:, None, None].expand(3, 4, 2)
    is_real = torch.tensor([[True, True, True, False]])
    account = Halting.start(torch.zeros(1, 4, 2), is_real)
    weights = []
    for n in range(3):
        weight, account = account.after(states[n][None], probabilities[:, n], 0.99, is_last=n == 2)
        weights.append(weight[0])
    expected = [[0.3, 1.0, 0.2, 0.0], [0.7, 0.0, 0.3, 0.0], [0.0, 0.0, 0.5, 0.0]]
    torch.testing.assert_close(torch.stack(weights), torch.tensor(expected))
    torch.testing.assert_close(account.cost, torch.tensor([[2.7, 2.0, 3.5, 0.0]]))
    assert account.n_steps.tolist() == [[2, 1, 3, 0]]
    mean = torch.tensor([0.3 + 2 * 0.7, 1.0, 0.2 + 2 * 0.3 + 3 * 0.5, 0.0])
    torch.testing.assert_close(account.mean[0], mean[:, None].expand(4, 2))
    assert not account.is_running.any()


def test_weights_of_halting_sum_to_one_for_every_word() -> None:
    model = build(ADAPTIVE).double().eval()
    with (
        hearing(model.encoder.halting) as read,
        hearing(model.decoder.halting) as written,
        hearing(model.encoder.steps) as steps,
    ):
        model(SOURCE, F.pad(TARGET, (0, 2), value=PAD))
    is_real = (SOURCE != PAD).double()
    torch.testing.assert_close(read[0].sum(-1), is_real)
    torch.testing.assert_close(written[0].sum(-1), F.pad(torch.ones(3, 4), (0, 2)).double())
    assert torch.equal((read[0] > 0).sum(-1).double(), steps[0])
    assert len(steps[0][SOURCE != PAD].unique()) >= 2
    assert steps[0].max() <= ADAPTIVE.n_steps


def test_the_ponder_cost_is_the_mean_of_steps_and_remainders() -> None:
    model = build(ADAPTIVE).double().eval()
    target = F.pad(TARGET, (0, 2), value=PAD)
    with (
        hearing(model.encoder.steps) as n_read,
        hearing(model.decoder.steps) as n_written,
        hearing(model.encoder.halting) as read,
        hearing(model.decoder.halting) as written,
    ):
        _, ponder = model.hidden_and_ponder(SOURCE, target)
    expected = 0.0
    for ids, taken, weights in (
        (SOURCE, n_read[0], read[0]),
        (target, n_written[0], written[0]),
    ):
        is_real = ids != PAD
        last = (taken[is_real] - 1).long()[:, None]
        expected += float((taken[is_real] + weights[is_real].gather(1, last)[:, 0]).mean())
    assert ponder.shape == ()
    assert ponder.item() == pytest.approx(expected, abs=1e-10)


def test_paying_for_thought_makes_it_shorter() -> None:
    model = build(ADAPTIVE)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model.hidden_and_ponder(SOURCE, TARGET)[1]
    for _ in range(20):
        optimiser.zero_grad()
        model.hidden_and_ponder(SOURCE, TARGET)[1].backward()
        optimiser.step()
    assert model.hidden_and_ponder(SOURCE, TARGET)[1] < before - 0.5


@norms
@depths
def test_padding_and_neighbours_change_nothing(is_pre_norm: bool, depth: Depth) -> None:
    model = build(depth, is_pre_norm=is_pre_norm).double().eval()
    together = model(SOURCE, TARGET)
    for row, length in enumerate((5, 3, 2)):
        alone = model(SOURCE[row : row + 1, :length], TARGET[row : row + 1])
        torch.testing.assert_close(alone[0], together[row], rtol=1e-10, atol=1e-10)
    longer, target = F.pad(SOURCE, (0, 6), value=PAD), F.pad(TARGET, (0, 3), value=PAD)
    torch.testing.assert_close(model(longer, target)[:, :4], together, rtol=1e-10, atol=1e-10)
    _, ponder = model.hidden_and_ponder(SOURCE, TARGET)
    torch.testing.assert_close(model.hidden_and_ponder(longer, target)[1], ponder)
    rows = torch.tensor([2, 0, 1])
    torch.testing.assert_close(model(SOURCE[rows], TARGET[rows]), together[rows])


@norms
@depths
def test_no_gradient_comes_from_the_future(is_pre_norm: bool, depth: Depth) -> None:
    model, target = build(depth, is_pre_norm=is_pre_norm).double(), torch.tensor([[2, 5, 6, 9]])
    for t in range(4):
        vector = model.hidden(SOURCE[:1], target)[0, t, 0]
        (gradient,) = torch.autograd.grad(vector, model.decoder.embedding.weight)
        seen = gradient.abs().sum(-1).nonzero().flatten().tolist()
        assert seen == sorted(target[0, : t + 1].tolist())


@depths
def test_a_state_is_a_value_and_rows_can_be_reordered(depth: Depth) -> None:
    model, rows = build(depth).double().eval(), torch.tensor([2, 0, 0, 1])
    for n_written in (0, 2):
        state = model.start(SOURCE)
        for t in range(n_written):
            _, state = model.step(state, TARGET[:, t])
        token = TARGET[:, n_written]
        plain, _ = model.step(state, token)
        model.step(state, token + 1)
        reordered, after = model.step(model.reorder(state, rows), token[rows])
        torch.testing.assert_close(reordered, plain[rows])
        narrowed, _ = model.step(model.reorder(after, torch.tensor([3])), TARGET[1:2, 3])
        assert narrowed.shape == (1, TARGET_TOKENS)
        assert torch.equal(model.step(state, token)[0], plain)


@norms
@depths
@pytest.mark.parametrize("tie", ["two-way", "none"])
def test_gradients_reach_every_parameter(is_pre_norm: bool, depth: Depth, tie: str) -> None:
    model = build(depth, is_pre_norm=is_pre_norm, tie=tie)
    hidden, ponder = model.hidden_and_ponder(SOURCE, TARGET)
    loss = F.cross_entropy(model.output(hidden).flatten(0, 1), TARGET.flatten())
    (loss + 0.01 * ponder).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        if not name.endswith("key.bias"):  # adds the same to every score: softmax forgets it
            assert parameter.grad.abs().max() > 1e-12, name


@depths
def test_a_source_of_nothing_but_padding_gives_numbers(depth: Depth) -> None:
    model, source = build(depth), SOURCE.clone()
    source[1] = PAD
    hidden, ponder = model.hidden_and_ponder(source, TARGET)
    assert torch.isfinite(hidden).all()
    (hidden.pow(2).sum() + ponder).backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
    assert torch.isfinite(model(torch.zeros_like(source), TARGET)).all()


def test_depth_costs_no_parameters() -> None:
    shallow, deep = (
        sum(parameter.numel() for parameter in build(Depth(n)).parameters()) for n in (1, 9)
    )
    attention, feedforward, norm = 4 * (12 * 12 + 12), 12 * 16 + 16 + 16 * 12 + 12, 2 * 12
    layers = 3 * attention + 2 * feedforward + 5 * norm
    assert shallow == deep == (SOURCE_TOKENS + TARGET_TOKENS) * WIDTH + layers


def test_tables_are_tied_as_asked() -> None:
    two, none = build(tie="two-way"), build(tie="none")
    assert two.output.weight is two.decoder.embedding.weight
    assert none.output.weight is not none.decoder.embedding.weight
    three = UniversalTransformer(9, 9, sizes(), depth=FIXED)
    assert three.output.weight is three.encoder.embedding.weight is three.decoder.embedding.weight
    with pytest.raises(SizeError, match="one table cannot serve 11 source tokens and 13 target"):
        build(tie="three-way")
    with pytest.raises(UsageError, match="there is no tie 'both'"):
        build(tie="both")


@pytest.mark.parametrize(
    ("n_steps", "is_adaptive", "threshold", "sentence"),
    [
        (0, False, 0.99, "a layer is repeated 1 or more times, not 0"),
        (
            3,
            True,
            1.0,
            "a threshold of halting lies between 0 and 1, not at 1.0: choose 0.99 as in the paper",
        ),
        (
            1,
            True,
            0.99,
            "adaptive computation time has nothing to decide in 1 step: "
            "allow 2 or more, or choose a fixed number of steps",
        ),
    ],
)
def test_impossible_depths_are_refused(
    n_steps: int, is_adaptive: bool, threshold: float, sentence: str
) -> None:
    with pytest.raises(SizeError) as refusal:
        Depth(n_steps, is_adaptive, threshold)
    assert str(refusal.value) == sentence


@depths
def test_freezing_ends_training_and_changes_no_number(depth: Depth) -> None:
    model = build(depth, dropout=0.5)
    assert not torch.allclose(model(SOURCE, TARGET), model(SOURCE, TARGET))
    model.eval()
    plain, _ = model.step(model.start(SOURCE), TARGET[:, 0])
    model.eval().requires_grad_(False)
    torch.testing.assert_close(model.step(model.start(SOURCE), TARGET[:, 0])[0], plain)
    assert torch.equal(model(SOURCE, TARGET), model(SOURCE, TARGET))
    assert not any(parameter.requires_grad for parameter in model.parameters())
    names = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    assert set(model.state_dict()) == names


@depths
def test_searches_serve_it(depth: Depth) -> None:
    model, limits = build(depth).double().eval(), Limits(factor=1.0, extra=3)
    one = greedy(model, SOURCE, Search(1, limits=limits))
    assert [h[0].tokens for h in beam_search(model, SOURCE, Search(1, limits=limits))] == [
        h.tokens for h in one
    ]
    for row, hypotheses in zip(
        SOURCE, beam_search(model, SOURCE, Search(3, 3, limits=limits)), strict=True
    ):
        for hypothesis in hypotheses:
            target = torch.tensor([[BOS, *hypothesis.tokens, EOS]])
            steps = model(row[None], target[:, :-1]).log_softmax(-1).gather(2, target[:, 1:, None])
            assert hypothesis.log_probability == pytest.approx(steps.sum().item(), abs=1e-5)


def copies(n_rows: int, random: torch.Generator) -> tuple[Tensor, Tensor]:
    """3 to 6 symbols of 8, and the same between <BOS> and <EOS>."""
    places, lengths = torch.arange(8), torch.randint(3, 7, (n_rows, 1), generator=random)
    words = torch.randint(4, 12, (n_rows, 8), generator=random)
    source = words.masked_fill(places == lengths, EOS).masked_fill(places > lengths, PAD)
    return source, torch.cat([torch.full((n_rows, 1), BOS), source], dim=1)


@pytest.mark.slow
@depths
def test_learns_to_copy(depth: Depth) -> None:
    random = torch.Generator().manual_seed(1)
    model = UniversalTransformer(12, 12, sizes(d_model=48), depth=Depth(2, depth.is_adaptive))
    n_updates = 250
    optimiser = torch.optim.Adam(model.parameters(), lr=4e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, n_updates)
    for _ in range(n_updates):
        source, target = copies(64, random)
        hidden, ponder = model.hidden_and_ponder(source, target[:, :-1])
        loss = F.cross_entropy(
            model.output(hidden).flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD
        )
        optimiser.zero_grad()
        (loss + 0.001 * ponder).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    model.eval().requires_grad_(False)
    source, _ = copies(500, random)
    wanted = [tuple(t for t in row if t not in (PAD, EOS)) for row in source.tolist()]
    written = greedy(model, source)
    n_right = sum(h.tokens == w for h, w in zip(written, wanted, strict=True))
    assert n_right >= 0.99 * len(wanted)
