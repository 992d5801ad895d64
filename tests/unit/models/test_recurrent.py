"""What every recurrent translator keeps, whatever its parts: the promises of a model that steps."""

import copy
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention import Unplaced
from regard.decoding import Limits, Search, beam_search, greedy
from regard.errors import SizeError, UsageError
from regard.inspection.recording import record
from regard.models.bahdanau import Bahdanau
from regard.models.interface import Step
from regard.models.luong import Luong
from regard.models.recurrent import Recurrence, RecurrentEncoder, RecurrentSizes
from regard.models.sublayers import Embedding
from regard.models.sutskever import Sutskever

PAD, BOS, EOS = 0, 2, 3
SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0], [7, 3, 0, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3], [2, 4, 4, 5]])
SOURCE_TOKENS, TARGET_TOKENS, WORD, HIDDEN = 11, 13, 6, 7
EXACT = {"rtol": 1e-10, "atol": 1e-10}

Translator = Sutskever | Bahdanau | Luong


def sutskever(n_layers: int = 2, dropout: float = 0.0, **options: object) -> Sutskever:
    sizes = RecurrentSizes(WORD, HIDDEN, n_layers, dropout)
    return Sutskever(SOURCE_TOKENS, TARGET_TOKENS, sizes, **options)  # type: ignore[arg-type]


def bahdanau(dropout: float = 0.0, **options: object) -> Bahdanau:
    sizes = RecurrentSizes(WORD, HIDDEN, 1, dropout)
    return Bahdanau(SOURCE_TOKENS, TARGET_TOKENS, sizes, **options)  # type: ignore[arg-type]


def luong(n_layers: int = 2, dropout: float = 0.0, **options: object) -> Luong:
    sizes = RecurrentSizes(WORD, HIDDEN, n_layers, dropout)
    options = {"reach": 2, **options}
    return Luong(SOURCE_TOKENS, TARGET_TOKENS, sizes, **options)  # type: ignore[arg-type]


BUILDS: dict[str, Callable[[], Translator]] = {
    "sutskever": sutskever,
    "sutskever forwards": lambda: sutskever(reverses_source=False),
    "sutskever gru": lambda: sutskever(cell="gru", n_layers=1),
    "bahdanau": bahdanau,
    "bahdanau tanh": lambda: bahdanau(readout="tanh", d_output=5),
    "bahdanau additive": lambda: bahdanau(score="additive"),
    "bahdanau general": lambda: bahdanau(score="general"),
    "bahdanau concatenating": lambda: bahdanau(score="concatenating"),
    "bahdanau location": lambda: bahdanau(score="location", max_length=20),
    "luong": luong,
    "luong unfed": lambda: luong(feeds_input=False),
    "luong reversed": lambda: luong(reverses_source=True),
    "luong gru": lambda: luong(cell="gru", n_layers=1),
    "luong dot": lambda: luong(score="dot"),
    "luong scaled-dot": lambda: luong(score="scaled-dot"),
    "luong additive": lambda: luong(score="additive"),
    "luong concatenating": lambda: luong(score="concatenating"),
    "luong perceptron": lambda: luong(score="perceptron"),
    "luong content": lambda: luong(score="content"),
    "luong location": lambda: luong(score="location", max_length=20),
    "luong local-m": lambda: luong(normaliser="local-m"),
    "luong local-m unfed": lambda: luong(normaliser="local-m", feeds_input=False, reach=1),
    "luong local-p": lambda: luong(normaliser="local-p"),
    "luong local-p unfed": lambda: luong(normaliser="local-p", feeds_input=False),
    "luong hard": lambda: luong(normaliser="hard"),
    "luong hard unfed": lambda: luong(normaliser="hard", feeds_input=False),
}
each = pytest.mark.parametrize("name", list(BUILDS))
each_system = pytest.mark.parametrize("name", ["sutskever", "bahdanau", "luong", "luong unfed"])
attentive = pytest.mark.parametrize("name", [name for name in BUILDS if "sutskever" not in name])


def build(name: str) -> Translator:
    """With opinions: fresh weights, made larger, in float64."""
    model = BUILDS[name]().double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    return model


def stepped(model: Translator, source: Tensor, target: Tensor) -> Tensor:
    step: Step = model  # type: ignore[type-arg]
    state, logits = step.start(source), []
    for t in range(target.shape[1]):
        of_step, state = step.step(state, target[:, t])
        logits.append(of_step)
    return torch.stack(logits, 1)


@each
def test_a_step_at_a_time_is_the_whole(name: str) -> None:
    model = build(name)
    whole = model(SOURCE, TARGET)
    assert whole.shape == (*TARGET.shape, TARGET_TOKENS)
    torch.testing.assert_close(stepped(model, SOURCE, TARGET), whole, **EXACT)
    torch.testing.assert_close(model.output(model.hidden(SOURCE, TARGET)), whole)


@each
def test_padding_and_neighbours_change_nothing(name: str) -> None:
    model = build(name)
    together = model(SOURCE, TARGET)
    for row, length in enumerate((5, 3, 2)):
        alone = model(SOURCE[row : row + 1, :length], TARGET[row : row + 1])
        torch.testing.assert_close(alone[0], together[row], **EXACT)
    longer = F.pad(SOURCE, (0, 6), value=PAD)
    torch.testing.assert_close(model(longer, TARGET), together, **EXACT)
    target = F.pad(TARGET, (0, 3), value=PAD)
    torch.testing.assert_close(model(SOURCE, target)[:, :4], together, **EXACT)
    rows = torch.tensor([2, 0, 1])
    torch.testing.assert_close(model(SOURCE[rows], TARGET[rows]), together[rows], **EXACT)


@each
def test_the_future_is_invisible_and_the_past_is_not(name: str) -> None:
    model = build(name)
    plain, changed = model(SOURCE, TARGET), TARGET.clone()
    changed[:, 2] = (changed[:, 2] + 4) % TARGET_TOKENS
    output = model(SOURCE, changed)
    torch.testing.assert_close(output[:, :2], plain[:, :2], **EXACT)
    for t in (2, 3):
        assert not torch.allclose(output[:, t], plain[:, t])


@each
def test_every_word_of_the_source_matters(name: str) -> None:
    """The first two words changed with each other are another sentence."""
    model = build(name)
    other = SOURCE[:, [1, 0, 2, 3, 4]]
    plain, changed = model(SOURCE, TARGET), model(other, TARGET)
    assert ((plain - changed).abs().amax((1, 2)) > 1e-6).all()


@each
def test_a_state_is_a_value_and_its_rows_are_taken_freely(name: str) -> None:
    step: Step = build(name)  # type: ignore[type-arg]
    rows = torch.tensor([2, 0, 0, 1])
    state = step.start(SOURCE)
    for t in range(3):
        plain, after = step.step(state, TARGET[:, t])
        step.step(state, TARGET[:, t] + 1)
        taken, taken_after = step.step(step.reorder(state, rows), TARGET[rows, t])
        torch.testing.assert_close(taken, plain[rows], **EXACT)
        back = step.reorder(taken_after, torch.tensor([1, 3, 0]))
        again, _ = step.step(back, TARGET[:, t + 1])
        expected, _ = step.step(after, TARGET[:, t + 1])
        torch.testing.assert_close(again, expected, **EXACT)
        still, _ = step.step(state, TARGET[:, t])
        assert torch.equal(still, plain)
        state = after


@each_system
def test_a_beam_that_stays_within_its_sentences_moves_right(name: str) -> None:
    """Rows of one sentence that have written different words change places."""
    step: Step = build(name)  # type: ignore[type-arg]
    doubled = step.reorder(step.start(SOURCE), torch.tensor([0, 0, 1, 1, 2, 2]))
    first = torch.tensor([5, 6, 7, 8, 9, 4])
    _, state = step.step(doubled, first)
    swapped = torch.tensor([1, 0, 2, 2, 5, 4])
    following = torch.full((6,), 7)
    plain, _ = step.step(state, following)
    moved, _ = step.step(step.reorder(state, swapped), following)
    torch.testing.assert_close(moved, plain[swapped], **EXACT)
    assert not torch.allclose(plain[0], plain[1])


@pytest.mark.parametrize(
    "name", ["sutskever", "bahdanau", "luong", "luong local-m", "luong local-p", "luong hard"]
)
def test_searches_serve_it(name: str) -> None:
    model = build(name)
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


@each
def test_gradients_reach_every_parameter(name: str) -> None:
    model = build(name).train()
    if name.startswith("luong hard"):
        assert isinstance(model, Luong)
        predicted = model.predict(SOURCE, TARGET, TARGET != PAD)
        assert predicted.log_choice is not None
        assert predicted.baseline is not None
        drawn = predicted.log_choice.sum() + predicted.baseline.sum()
        loss = model.output(predicted.hidden).pow(2).sum() + drawn
    else:
        loss = model(SOURCE, TARGET).log_softmax(-1)[:, :, 5].sum()
    loss.backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.abs().max() > 1e-12, parameter_name


@each
def test_a_source_of_nothing_but_padding_gives_numbers(name: str) -> None:
    model, source = build(name), SOURCE.clone()
    source[1] = PAD
    output = model(source, TARGET)
    assert torch.isfinite(output).all()
    torch.testing.assert_close(output[[0, 2]], model(SOURCE, TARGET)[[0, 2]], **EXACT)
    output.pow(2).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


@attentive
def test_weights_can_be_recorded_and_replaced(name: str) -> None:
    """Joined along the queries they are one matrix, however often the decoder looked."""
    model = build(name)
    with record(model, "*.weights") as recording:
        plain = model(SOURCE, TARGET)
    assert list(recording) == ["decoder.attention.weights"]
    whole = torch.cat(recording.all("decoder.attention.weights"), -2)
    assert whole.shape == (3, 1, 4, 5)
    assert (whole[1, ..., 3:] == 0).all()
    with record(model, "*.weights") as recording:
        stepped(model, SOURCE, TARGET)
    by_steps = recording.all("decoder.attention.weights")
    assert [weights.shape for weights in by_steps] == [(3, 1, 1, 5)] * 4
    torch.testing.assert_close(torch.cat(by_steps, -2), whole, **EXACT)
    with record(model, replace={"decoder.attention.weights": torch.zeros_like}):
        assert not torch.allclose(model(SOURCE, TARGET), plain)


@each_system
def test_a_frozen_model_decodes_the_same(name: str) -> None:
    plain = build(name).float()
    frozen = copy.deepcopy(plain)
    frozen.eval().requires_grad_(False)
    assert not any(parameter.requires_grad for parameter in frozen.parameters())
    assert not frozen.training
    with torch.inference_mode():
        logits = stepped(frozen, SOURCE, TARGET)
    torch.testing.assert_close(logits, plain(SOURCE, TARGET))


@pytest.mark.parametrize("build_one", [sutskever, bahdanau, luong])
def test_dropout_acts_while_training_only(build_one: Callable[..., Translator]) -> None:
    model = build_one(dropout=0.5)
    assert not torch.allclose(model(SOURCE, TARGET), model(SOURCE, TARGET))
    model.eval()
    assert torch.equal(model(SOURCE, TARGET), model(SOURCE, TARGET))


@pytest.mark.parametrize("cell", ["lstm", "gru"])
@pytest.mark.parametrize("is_bidirectional", [False, True])
@pytest.mark.parametrize("reverses_source", [False, True])
def test_the_encoder_is_torchs_own(
    cell: str, is_bidirectional: bool, reverses_source: bool
) -> None:
    embedding = Embedding(SOURCE_TOKENS, WORD, Unplaced(), 0.0, PAD)
    recurrence = Recurrence(
        cell, WORD, RecurrentSizes(WORD, HIDDEN, 2), is_bidirectional=is_bidirectional
    )
    encoder = RecurrentEncoder(embedding, recurrence, reverses_source=reverses_source).double()
    kind = nn.LSTM if cell == "lstm" else nn.GRU
    theirs = kind(WORD, HIDDEN, 2, batch_first=True, bidirectional=is_bidirectional).double()
    theirs.load_state_dict(recurrence.layers.state_dict())
    together = encoder(SOURCE)
    for row, length in enumerate((5, 3, 2)):
        ids = SOURCE[row : row + 1, :length]
        outputs, last = theirs(embedding(ids.flip(1) if reverses_source else ids))
        outputs = outputs.flip(1) if reverses_source else outputs
        torch.testing.assert_close(together.outputs[row, :length], outputs[0], **EXACT)
        assert (together.outputs[row, length:] == 0).all()
        lasts = last if isinstance(last, tuple) else (last,)
        for part, expected in zip(together.remembered, lasts, strict=True):
            torch.testing.assert_close(part[:, row], expected[:, 0], **EXACT)


class TestTies:
    @pytest.mark.parametrize("build_one", [sutskever, luong])
    def test_widths_must_be_equal(self, build_one: Callable[..., Translator]) -> None:
        with pytest.raises(SizeError) as refusal:
            build_one(tie="two-way")
        assert str(refusal.value) == (
            "vectors of width 7 cannot be compared with embeddings of width 6: make the widths "
            "equal, or tie none"
        )

    def test_two_way_is_two_tables(self) -> None:
        model = bahdanau(tie="two-way")
        assert model.output.weight is model.decoder.embedding.weight
        assert model.encoder.embedding.weight is not model.output.weight

    def test_three_way_is_one_table(self) -> None:
        model = Sutskever(11, 11, RecurrentSizes(6, 6), tie="three-way")
        assert (
            model.output.weight is model.decoder.embedding.weight is model.encoder.embedding.weight
        )

    def test_unequal_vocabularies_cannot_be_one_table(self) -> None:
        with pytest.raises(SizeError) as refusal:
            bahdanau(tie="three-way")
        assert str(refusal.value) == (
            "one table cannot serve 11 source tokens and 13 target tokens: share one vocabulary, "
            "or tie two-way"
        )

    def test_unknown_ties_are_refused(self) -> None:
        with pytest.raises(UsageError) as refusal:
            luong(tie="both")
        assert str(refusal.value) == (
            "there is no tie 'both': choose one of three-way, two-way, none"
        )


def test_unknown_cells_are_refused() -> None:
    with pytest.raises(UsageError) as refusal:
        sutskever(cell="elman")
    assert str(refusal.value) == "there is no cell 'elman': choose one of lstm, gru"


def test_sizes_of_nothing_are_refused() -> None:
    with pytest.raises(SizeError) as refusal:
        RecurrentSizes(8, 0)
    assert str(refusal.value) == (
        "a recurrent model of d_embedding = 8, d_hidden = 0 and n_layers = 1 is not possible: "
        "each is 1 or more"
    )
