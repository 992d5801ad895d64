"""The Neural Turing Machine: addressing by the paper's equations, and a memory that copies."""

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.decoding import Limits, Search, beam_search, greedy
from regard.errors import SizeError, UsageError
from regard.inspection.recording import record
from regard.models.interface import Step
from regard.models.ntm import EMPTY, MemoryHead, NeuralTuring, Slots
from regard.models.recurrent import RecurrentSizes
from regard.special import BOS, EOS, PAD

SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0], [7, 3, 0, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3], [2, 4, 4, 5]])
LENGTHS = torch.tensor([5, 3, 2])
SOURCE_TOKENS, TARGET_TOKENS, WORD, HIDDEN, N_SLOTS, D_SLOT = 11, 13, 6, 7, 9, 8
EXACT = {"rtol": 1e-10, "atol": 1e-10}

both = pytest.mark.parametrize("addressing", ["content", "full"])


def build(addressing: str = "full", dropout: float = 0.0, **options: object) -> NeuralTuring:
    """With opinions: fresh weights, made larger, in float64."""
    sizes, slots = RecurrentSizes(WORD, HIDDEN, 1, dropout), Slots(N_SLOTS, D_SLOT, addressing)
    model = NeuralTuring(SOURCE_TOKENS, TARGET_TOKENS, sizes, slots, **options)  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    return model.double().eval()


def stepped(model: NeuralTuring, source: Tensor, target: Tensor) -> Tensor:
    state, logits = model.start(source), []
    for t in range(target.shape[1]):
        of_step, state = model.step(state, target[:, t])
        logits.append(of_step)
    return torch.stack(logits, 1)


class TestHead:
    def head(self, addressing: str = "full", reach: int = 1) -> MemoryHead:
        return MemoryHead(HIDDEN, Slots(N_SLOTS, D_SLOT, addressing, reach)).double()

    def given(self) -> tuple[Tensor, Tensor, Tensor]:
        torch.manual_seed(5)
        before = torch.randn(3, 1, 1, N_SLOTS).double().softmax(-1)
        return torch.randn(3, HIDDEN).double(), torch.randn(3, 1, N_SLOTS, D_SLOT).double(), before

    def by_content(self, said: Tensor, memory: Tensor) -> Tensor:
        key, beta = torch.tanh(said[:D_SLOT]), F.softplus(said[D_SLOT])
        return (beta * F.cosine_similarity(key[None], memory, dim=-1)).softmax(0)

    def test_content_by_hand(self) -> None:
        head, (controller, memory, before) = self.head("content"), self.given()
        weights = head(controller, memory, before)
        assert weights.shape == (3, 1, 1, N_SLOTS)
        for row in range(3):
            expected = self.by_content(head.say(controller[row]), memory[row, 0])
            torch.testing.assert_close(weights[row, 0, 0], expected, **EXACT)

    @pytest.mark.parametrize("reach", [1, 2])
    def test_full_by_hand(self, reach: int) -> None:
        """Equations 5 to 9 of the paper."""
        head, (controller, memory, before) = self.head(reach=reach), self.given()
        weights = head(controller, memory, before)
        for row in range(3):
            said = head.say(controller[row])
            gate, *move, sharpness = said[D_SLOT + 1 :]
            g, gamma = torch.sigmoid(gate), 1 + F.softplus(sharpness)
            s = torch.stack(move).softmax(0)
            by_content = self.by_content(said, memory[row, 0])
            gated = g * by_content + (1 - g) * before[row, 0, 0]
            moved = torch.zeros(N_SLOTS).double()
            for i in range(N_SLOTS):
                for by in range(-reach, reach + 1):
                    moved[i] += gated[(i - by) % N_SLOTS] * s[by + reach]
            expected = moved**gamma / (moved**gamma).sum()
            torch.testing.assert_close(weights[row, 0, 0], expected, rtol=1e-8, atol=1e-8)

    @pytest.mark.parametrize(("place", "by"), [(3, 1), (3, 0), (3, -1), (N_SLOTS - 1, 1), (0, -1)])
    def test_it_moves_as_it_is_told_round_the_ends(self, place: int, by: int) -> None:
        head, (controller, memory, _) = self.head(), self.given()
        with torch.no_grad():
            head.say.weight.zero_()
            head.say.bias[D_SLOT + 1] = -50.0  # stay where you were,
            head.say.bias[D_SLOT + 3 + by] = 50.0  # move,
            head.say.bias[-1] = 500.0  # and sharply
        before = F.one_hot(torch.full((3, 1, 1), place), N_SLOTS).double()
        weights = head(controller, memory, before)
        expected = F.one_hot(torch.tensor((place + by) % N_SLOTS), N_SLOTS).double()
        torch.testing.assert_close(weights, expected.expand(3, 1, 1, N_SLOTS), **EXACT)

    def test_sharpening_never_loses_everything(self) -> None:
        head, (controller, memory, before) = self.head().float(), self.given()
        with torch.no_grad():
            head.say.bias[-1] = 1000.0
        weights = head(controller.float(), memory.float(), before.float())
        assert torch.isfinite(weights).all()
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 1, 1))
        weights.pow(2).sum().backward()
        assert all(torch.isfinite(p.grad).all() for p in head.parameters() if p.grad is not None)


def test_writing_erases_and_adds() -> None:
    model = build()
    with record(model, "encoder.*") as recording:
        begun = model.encoder.begin(1)
        after = model.start(SOURCE[:1, :1])
    word = model.encoder.embedding(SOURCE[:1, :1])[0, 0]
    inputs = torch.cat([word, torch.zeros(D_SLOT).double()])[None]
    h, c = model.encoder.cell(inputs, begun.controller)
    erase, add = model.encoder.change(h)[0].chunk(2)
    w = recording["encoder.write.weights"][0, 0, 0]
    expected = torch.stack([EMPTY * (1 - w_i * torch.sigmoid(erase)) + w_i * add for w_i in w])
    assert torch.equal(recording["encoder.memory"], after.memory)
    torch.testing.assert_close(after.memory[0, 0], expected, rtol=1e-6, atol=1e-10)
    torch.testing.assert_close(after.controller[0], h, **EXACT)
    torch.testing.assert_close(after.controller[1], c, **EXACT)
    read = recording["encoder.read.weights"][0, 0, 0] @ expected
    torch.testing.assert_close(after.read[0], read, rtol=1e-6, atol=1e-10)


def test_slots_that_hold_the_same_cannot_be_told_apart_by_content() -> None:
    """Which is why what they hold at first is learned, where content is all there is."""
    model = build("content")
    assert model.start(SOURCE).memory.std(-2).min() > 1e-3
    with torch.no_grad():
        model.encoder.empty.fill_(EMPTY)
    assert model.start(SOURCE).memory.std(-2).max() < 1e-12
    assert build("full").start(SOURCE).memory.std(-2).min() > 1e-3


@both
def test_a_step_at_a_time_is_the_whole(addressing: str) -> None:
    model = build(addressing)
    assert isinstance(model, Step)
    whole = model(SOURCE, TARGET)
    assert whole.shape == (*TARGET.shape, TARGET_TOKENS)
    torch.testing.assert_close(stepped(model, SOURCE, TARGET), whole, **EXACT)
    torch.testing.assert_close(model.output(model.hidden(SOURCE, TARGET)), whole)


@both
def test_padding_and_neighbours_change_nothing(addressing: str) -> None:
    model = build(addressing)
    together = model(SOURCE, TARGET)
    for row, length in enumerate(LENGTHS):
        alone = model(SOURCE[row : row + 1, :length], TARGET[row : row + 1])
        torch.testing.assert_close(alone[0], together[row], **EXACT)
    torch.testing.assert_close(model(F.pad(SOURCE, (0, 6), value=PAD), TARGET), together, **EXACT)
    target = F.pad(TARGET, (0, 3), value=PAD)
    torch.testing.assert_close(model(SOURCE, target)[:, :4], together, **EXACT)
    rows = torch.tensor([2, 0, 1])
    torch.testing.assert_close(model(SOURCE[rows], TARGET[rows]), together[rows], **EXACT)


@both
def test_the_future_is_invisible_and_every_word_matters(addressing: str) -> None:
    model = build(addressing)
    plain, changed = model(SOURCE, TARGET), TARGET.clone()
    changed[:, 2] = (changed[:, 2] + 4) % TARGET_TOKENS
    output = model(SOURCE, changed)
    torch.testing.assert_close(output[:, :2], plain[:, :2], **EXACT)
    for t in (2, 3):
        assert not torch.allclose(output[:, t], plain[:, t])
    other = model(SOURCE[:, [1, 0, 2, 3, 4]], TARGET)
    assert ((plain - other).abs().amax((1, 2)) > 1e-6).all()


@both
def test_a_state_is_a_value_and_its_rows_are_taken_freely(addressing: str) -> None:
    model = build(addressing)
    rows = torch.tensor([2, 0, 0, 1])
    state = model.start(SOURCE)
    for t in range(3):
        plain, after = model.step(state, TARGET[:, t])
        model.step(state, TARGET[:, t] + 1)
        taken, taken_after = model.step(model.reorder(state, rows), TARGET[rows, t])
        torch.testing.assert_close(taken, plain[rows], **EXACT)
        back = model.reorder(taken_after, torch.tensor([1, 3, 0]))
        again, _ = model.step(back, TARGET[:, t + 1])
        expected, _ = model.step(after, TARGET[:, t + 1])
        torch.testing.assert_close(again, expected, **EXACT)
        still, _ = model.step(state, TARGET[:, t])
        assert torch.equal(still, plain)
        state = after


@both
def test_searches_serve_it(addressing: str) -> None:
    model = build(addressing)
    limits = Limits(factor=1.0, extra=3)
    plain = greedy(model, SOURCE, Search(1, limits=limits))
    one = beam_search(model, SOURCE, Search(1, limits=limits))
    assert [h.tokens for h in plain] == [h[0].tokens for h in one]
    found = beam_search(model, SOURCE, Search(3, 3, limits=limits))
    for row, hypotheses in zip(SOURCE, found, strict=True):
        for hypothesis in hypotheses:
            target = torch.tensor([[BOS, *hypothesis.tokens, EOS]])
            logits = model(row[row != PAD][None], target[:, :-1])
            expected = logits.log_softmax(-1).gather(2, target[:, 1:, None]).sum().item()
            assert hypothesis.log_probability == pytest.approx(expected, abs=1e-6)


@both
def test_gradients_reach_every_parameter(addressing: str) -> None:
    model = build(addressing).train()
    model(SOURCE, TARGET).log_softmax(-1)[:, :, 5].sum().backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 1e-12, name
    assert set(model.state_dict()) == {name for name, _ in model.named_parameters()}


@both
def test_a_source_of_nothing_but_padding_gives_numbers(addressing: str) -> None:
    model, source = build(addressing), SOURCE.clone()
    source[1] = PAD
    output = model(source, TARGET)
    assert torch.isfinite(output).all()
    torch.testing.assert_close(output[[0, 2]], model(SOURCE, TARGET)[[0, 2]], **EXACT)
    output.pow(2).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


@both
def test_weights_can_be_recorded_and_replaced(addressing: str) -> None:
    model = build(addressing)
    with record(model, "*.weights") as recording:
        plain = model(SOURCE, TARGET)
    n_passes = {"encoder.write.weights": 5, "encoder.read.weights": 5, "decoder.read.weights": 4}
    assert set(recording) == set(n_passes)
    is_real = torch.arange(5) < LENGTHS[:, None]
    for name, n in n_passes.items():
        assert [one.shape for one in recording.all(name)] == [(3, 1, 1, N_SLOTS)] * n
        whole = torch.cat(recording.all(name), -2)
        is_sum = is_real.double() if "encoder" in name else torch.ones(3, 4).double()
        torch.testing.assert_close(whole.sum(-1)[:, 0], is_sum, **EXACT)
    with record(model, "decoder.*.weights") as recording:
        stepped(model, SOURCE, TARGET)
    by_steps = torch.cat(recording.all("decoder.read.weights"), -2)
    torch.testing.assert_close(by_steps, whole, **EXACT)
    for name in n_passes:
        with record(model, replace={name: torch.zeros_like}):
            assert not torch.allclose(model(SOURCE, TARGET), plain)


def test_slots_are_not_words() -> None:
    """What it reads from are slots, not words: there is no place where it looks at the source."""
    assert build().sites == ()
    assert build().aligning is None


def test_a_frozen_model_decodes_the_same() -> None:
    plain = build().float()
    frozen = copy.deepcopy(plain)
    frozen.eval().requires_grad_(False)
    with torch.inference_mode():
        logits = stepped(frozen, SOURCE, TARGET)
    torch.testing.assert_close(logits, plain(SOURCE, TARGET))


def test_dropout_acts_while_training_only() -> None:
    model = build(dropout=0.5)
    assert torch.equal(model(SOURCE, TARGET), model(SOURCE, TARGET))
    model.train()
    assert not torch.allclose(model(SOURCE, TARGET), model(SOURCE, TARGET))


def test_tables_are_tied() -> None:
    sizes = RecurrentSizes(6, 6)
    model = NeuralTuring(11, 11, sizes, Slots(5, 4), tie="three-way")
    assert model.output.weight is model.decoder.embedding.weight is model.encoder.embedding.weight


class TestRefusals:
    def refusal(self, kind: type[Exception], **options: object) -> str:
        with pytest.raises(kind) as refused:
            Slots(**options)  # type: ignore[arg-type]
        return str(refused.value)

    def test_unknown_addressing(self) -> None:
        assert self.refusal(UsageError, addressing="location") == (
            "there is no addressing 'location': choose content or full"
        )

    def test_sizes_of_nothing(self) -> None:
        assert self.refusal(SizeError, d_slot=0) == (
            "a memory of n_slots = 128, d_slot = 0 and reach = 1 is not possible: each is 1 or more"
        )

    def test_moves_that_meet_round_the_ends(self) -> None:
        assert self.refusal(SizeError, n_slots=4, reach=2) == (
            "a head that moves 2 to each side needs 5 slots or more, not 4: make n_slots larger, "
            "or reach smaller"
        )
        assert Slots(n_slots=4, reach=2, addressing="content").n_slots == 4

    def test_several_layers(self) -> None:
        with pytest.raises(SizeError) as refused:
            NeuralTuring(11, 13, RecurrentSizes(6, 7, 2))
        assert str(refused.value) == (
            "a Neural Turing Machine's controller has one layer, not 2: choose n_layers = 1, and "
            "a larger d_hidden or memory if it has too little room"
        )


def to_copy(
    n: int, shortest: int, longest: int, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Symbols out of eight, and the same again."""
    words = torch.randint(4, 12, (n, longest + 1), generator=generator)
    lengths = torch.randint(shortest, longest + 1, (n, 1), generator=generator)
    source = words.where(torch.arange(longest + 1) < lengths, PAD).scatter(1, lengths, EOS)
    return source, torch.cat([torch.full((n, 1), BOS), source], 1)


def n_copied(model: NeuralTuring, source: Tensor) -> int:
    wanted = [[token for token in row if token > EOS] for row in source.tolist()]
    found = [list(hypothesis.tokens) for hypothesis in greedy(model, source)]
    return sum(map(list.__eq__, found, wanted))


@pytest.mark.slow
def test_it_learns_to_copy_and_copies_longer_sequences_too() -> None:
    """Of 1 to 10 symbols are learned; what was learned is the rule, and so serves 11 to 20."""
    model = NeuralTuring(12, 12, RecurrentSizes(16, 32), Slots(24, 16))
    generator = torch.Generator().manual_seed(1)
    optimiser = torch.optim.Adam(model.parameters())
    n_steps = 140
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimiser, 0.02, total_steps=n_steps, pct_start=0.1
    )
    for _ in range(n_steps):
        source, target = to_copy(64, 1, 10, generator)
        logits = model(source, target[:, :-1]).flatten(0, 1)
        loss = F.cross_entropy(logits, target[:, 1:].flatten(), ignore_index=PAD)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    model.eval().requires_grad_(False)
    assert n_copied(model, to_copy(200, 1, 10, generator)[0]) >= 198
    assert n_copied(model, to_copy(200, 11, 20, generator)[0]) >= 180
