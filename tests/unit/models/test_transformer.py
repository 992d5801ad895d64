"""The Transformer: cached = uncached, padding and future invisible, tables tied as asked."""

import copy
import math

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention import Sinusoidal
from regard.engine import for_decoding, is_native
from regard.errors import SizeError, UsageError
from regard.models import Sizes, Transformer

PAD, BOS, EOS = 0, 2, 3
SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0], [7, 3, 0, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3], [2, 4, 4, 5]])
SOURCE_TOKENS, TARGET_TOKENS, WIDTH, HEADS = 11, 13, 12, 3


def build(*, is_pre_norm: bool = False, dropout: float = 0.0, **options: object) -> Transformer:
    sizes = Sizes(
        d_model=WIDTH,
        n_heads=HEADS,
        d_feedforward=16,
        is_pre_norm=is_pre_norm,
        dropout=dropout,
        attention_dropout=dropout,
        feedforward_dropout=dropout,
        embedding_dropout=dropout,
    )
    options = {"n_layers": 2, "n_decoder_layers": 3, "tie": "two-way", **options}
    return Transformer(SOURCE_TOKENS, TARGET_TOKENS, sizes, **options)  # type: ignore[arg-type]


def log_probabilities(model: Transformer, source: Tensor, target: Tensor) -> Tensor:
    return F.log_softmax(model(source, target), dim=-1)


norms = pytest.mark.parametrize("is_pre_norm", [False, True], ids=["post-norm", "pre-norm"])
places = pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])


@norms
@places
def test_a_step_at_a_time_is_the_whole(is_pre_norm: bool, positions: str) -> None:
    model = build(is_pre_norm=is_pre_norm, positions=positions).double().eval()
    whole = log_probabilities(model, SOURCE, TARGET)
    assert whole.shape == (*TARGET.shape, TARGET_TOKENS)
    state = model.start(SOURCE)
    for t in range(TARGET.shape[1]):
        stepped, state = model.step(state, TARGET[:, t])
        normalised = stepped.log_softmax(-1)
        torch.testing.assert_close(normalised, whole[:, t], rtol=1e-11, atol=1e-11)


@norms
def test_a_state_is_a_value(is_pre_norm: bool) -> None:
    """Two continuations of one state do not disturb each other."""
    model = build(is_pre_norm=is_pre_norm).double().eval()
    _, state = model.step(model.start(SOURCE), TARGET[:, 0])
    first, _ = model.step(state, TARGET[:, 1])
    model.step(state, TARGET[:, 2])
    again, _ = model.step(state, TARGET[:, 1])
    assert torch.equal(first, again)


def test_rows_can_be_reordered_repeated_and_dropped() -> None:
    model = build().double().eval()
    rows = torch.tensor([2, 0, 0, 1])
    for n_written in (0, 2):
        state = model.start(SOURCE)
        for t in range(n_written):
            _, state = model.step(state, TARGET[:, t])
        token = TARGET[:, n_written]
        plain, _ = model.step(state, token)
        reordered, after = model.step(model.reorder(state, rows), token[rows])
        torch.testing.assert_close(reordered, plain[rows])
        narrowed, _ = model.step(model.reorder(after, torch.tensor([3])), TARGET[1:2, 3])
        assert narrowed.shape == (1, TARGET_TOKENS)
        still, _ = model.step(state, token)
        assert torch.equal(still, plain)


@norms
@places
def test_padding_changes_nothing(is_pre_norm: bool, positions: str) -> None:
    model = build(is_pre_norm=is_pre_norm, positions=positions).double().eval()
    together = model(SOURCE, TARGET)
    for row, length in enumerate((5, 3, 2)):
        alone = model(SOURCE[row : row + 1, :length], TARGET[row : row + 1])
        torch.testing.assert_close(alone[0], together[row], rtol=1e-11, atol=1e-11)
    longer = F.pad(SOURCE, (0, 6), value=PAD)
    torch.testing.assert_close(model(longer, TARGET), together, rtol=1e-11, atol=1e-11)
    target = F.pad(TARGET, (0, 3), value=PAD)
    torch.testing.assert_close(model(SOURCE, target)[:, :4], together, rtol=1e-11, atol=1e-11)


def test_batch_order_changes_nothing() -> None:
    model, rows = build().double().eval(), torch.tensor([2, 0, 1])
    torch.testing.assert_close(model(SOURCE[rows], TARGET[rows]), model(SOURCE, TARGET)[rows])


@norms
def test_the_future_is_invisible(is_pre_norm: bool) -> None:
    model = build(is_pre_norm=is_pre_norm).double().eval()
    plain = model(SOURCE, TARGET)
    for t in range(1, TARGET.shape[1]):
        changed = TARGET.clone()
        changed[:, t:] = (changed[:, t:] + 3) % TARGET_TOKENS
        output = model(SOURCE, changed)
        torch.testing.assert_close(output[:, :t], plain[:, :t], rtol=1e-12, atol=1e-12)
        assert not torch.allclose(output[:, t], plain[:, t])


def test_no_gradient_comes_from_the_future_or_from_padding() -> None:
    model = build(positions="learned").eval()
    loss = model(SOURCE[2:], TARGET[2:])[0, 1].sum()
    loss.backward()
    encoder, decoder = (
        stack.embedding.positions.get_parameter("table").grad
        for stack in (model.encoder, model.decoder)
    )
    assert encoder is not None
    assert decoder is not None
    assert (encoder[:2] != 0).any(-1).all()
    assert (encoder[2:] == 0).all()
    assert (decoder[:2] != 0).any(-1).all()
    assert (decoder[2:] == 0).all()


def test_a_source_of_nothing_but_padding_gives_numbers() -> None:
    model = build()
    source = SOURCE.clone()
    source[1] = PAD
    output = model(source, TARGET)
    assert torch.isfinite(output).all()
    output.pow(2).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


@norms
@pytest.mark.parametrize("tie", ["two-way", "none"])
def test_gradients_reach_every_parameter(is_pre_norm: bool, tie: str) -> None:
    model = build(is_pre_norm=is_pre_norm, tie=tie, positions="learned", max_length=5)
    F.cross_entropy(model(SOURCE, TARGET).flatten(0, 1), TARGET.flatten()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        if not name.endswith("key.bias"):  # adds the same to every score: softmax forgets it
            assert parameter.grad.abs().max() > 1e-12, name


def tables(model: Transformer) -> tuple[Tensor, Tensor, Tensor]:
    return (
        model.encoder.embedding.get_parameter("weight"),
        model.decoder.embedding.get_parameter("weight"),
        model.output.weight,
    )


class TestTies:
    def test_three_way_is_one_table(self) -> None:
        sizes = Sizes(d_model=WIDTH, n_heads=HEADS, d_feedforward=16)
        model = Transformer(SOURCE_TOKENS, SOURCE_TOKENS, sizes, n_layers=1, tie="three-way")
        source, target, output = tables(model)
        assert source is target is output
        shapes = [p.shape for p in model.parameters()]
        assert shapes.count(torch.Size([SOURCE_TOKENS, WIDTH])) == 1

    def test_two_way_is_two(self) -> None:
        source, target, output = tables(build(tie="two-way"))
        assert target is output
        assert source is not target
        assert source.shape == (SOURCE_TOKENS, WIDTH)
        assert target.shape == (TARGET_TOKENS, WIDTH)

    def test_none_is_three(self) -> None:
        source, target, output = tables(build(tie="none"))
        assert len({id(source), id(target), id(output)}) == 3
        assert output.shape == (TARGET_TOKENS, WIDTH)

    def test_ties_survive_loading_and_a_step_of_training(self) -> None:
        model, other = build(tie="two-way"), build(tie="two-way")
        other.load_state_dict(model.state_dict())
        optimiser = torch.optim.SGD(other.parameters(), lr=0.1)
        other(SOURCE, TARGET).pow(2).sum().backward()
        optimiser.step()
        _, target, output = tables(other)
        assert target is output

    def test_unequal_vocabularies_cannot_be_one_table(self) -> None:
        with pytest.raises(SizeError) as refusal:
            build(tie="three-way")
        assert str(refusal.value) == (
            "one table cannot serve 11 source tokens and 13 target tokens: "
            "share one vocabulary, or tie two-way"
        )

    def test_unknown_ties_are_refused(self) -> None:
        with pytest.raises(UsageError) as refusal:
            build(tie="both")
        assert str(refusal.value) == (
            "there is no tie 'both': choose one of three-way, two-way, none"
        )


def test_unknown_positions_are_refused() -> None:
    with pytest.raises(UsageError) as refusal:
        build(positions="rotary")
    assert str(refusal.value) == (
        "there are no positions 'rotary': choose sinusoidal, learned or none"
    )


def test_unknown_activations_are_refused() -> None:
    sizes = Sizes(d_model=12, n_heads=3, d_feedforward=16, activation="swish")
    with pytest.raises(UsageError) as refusal:
        Transformer(11, 11, sizes, n_layers=1)
    known = "relu, gelu, gelu-tanh, silu"
    assert str(refusal.value) == f"there is no activation 'swish': choose one of {known}"


def n_parameters(d_model: int, n_heads: int, d_feedforward: int) -> int:
    sizes = Sizes(d_model=d_model, n_heads=n_heads, d_feedforward=d_feedforward)
    with torch.device("meta"):
        model = Transformer(37_000, 37_000, sizes, n_layers=6)
    return sum(p.numel() for p in model.parameters())


def test_parameters_of_the_papers_sizes() -> None:
    assert n_parameters(512, 8, 2048) == 63_082_496  # the paper rounds to 65 million
    assert n_parameters(512, 8, 2048) == pytest.approx(65e6, rel=0.031)
    assert n_parameters(1024, 16, 4096) == pytest.approx(213e6, rel=0.02)


def test_parameters_counted_by_hand() -> None:
    model = build(tie="two-way", is_pre_norm=True)
    attention, feedforward, norm = 4 * (12 * 12 + 12), 12 * 16 + 16 + 16 * 12 + 12, 2 * 12
    encoder, decoder = (
        2 * (attention + feedforward + 2 * norm),
        3 * (2 * attention + feedforward + 3 * norm),
    )
    assert sum(p.numel() for p in model.parameters()) == (
        (11 + 13) * 12 + encoder + decoder + 2 * norm
    )


def test_learned_positions_have_a_limit_and_sinusoidal_ones_none() -> None:
    learned = build(positions="learned", max_length=4).eval()
    with pytest.raises(SizeError, match="this model learned 4 positions and was given 5"):
        learned(SOURCE, TARGET)
    state = learned.start(SOURCE[:, :4])
    for _ in range(4):
        _, state = learned.step(state, TARGET[:, 0])
    with pytest.raises(SizeError, match="this model learned 4 positions and was given 5"):
        learned.step(state, TARGET[:, 0])
    endless = build().eval()
    source = torch.full((1, 600), 5)
    assert torch.isfinite(endless(source, source)).all()


def test_without_positions_the_source_is_a_bag_of_words() -> None:
    source, turned = SOURCE[:1], SOURCE[:1].flip(1)
    bag, placed = (build(positions=name).double().eval() for name in ("none", "sinusoidal"))
    torch.testing.assert_close(bag(source, TARGET[:1]), bag(turned, TARGET[:1]))
    assert not torch.allclose(placed(source, TARGET[:1]), placed(turned, TARGET[:1]))


def test_the_decoder_is_as_deep_as_the_encoder_unless_told() -> None:
    model = build(n_decoder_layers=None)
    assert (len(model.encoder.layers), len(model.decoder.layers)) == (2, 2)
    assert len(build(n_decoder_layers=1).decoder.layers) == 1


def test_embedding_is_scaled_and_padding_is_zero() -> None:
    model = build()
    table = model.encoder.embedding.get_parameter("weight")
    assert (table[PAD] == 0).all()
    ids = torch.tensor([[5, 0, 7]])
    wanted = math.sqrt(WIDTH) * table[ids] + Sinusoidal(WIDTH)(torch.zeros(1, 3, WIDTH))
    torch.testing.assert_close(model.encoder.embedding(ids), wanted)


def test_dropout_acts_while_training_only() -> None:
    model = build(dropout=0.5)
    assert not torch.allclose(model(SOURCE, TARGET), model(SOURCE, TARGET))
    model.eval()
    assert torch.equal(model(SOURCE, TARGET), model(SOURCE, TARGET))


def test_the_state_dict_holds_parameters_alone() -> None:
    model = build()
    names = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    assert set(model.state_dict()) == names


def test_steps_give_logits() -> None:
    model = build().eval()
    stepped, _ = model.step(model.start(SOURCE), TARGET[:, 0])
    torch.testing.assert_close(stepped, model(SOURCE, TARGET[:, :1])[:, 0])


@norms
@pytest.mark.parametrize("tie", ["two-way", "none"])
def test_a_frozen_model_decodes_the_same(is_pre_norm: bool, tie: str) -> None:
    plain = build(is_pre_norm=is_pre_norm, tie=tie).eval()
    frozen = for_decoding(plain)
    state, other = plain.start(SOURCE), frozen.start(SOURCE)
    for t in range(TARGET.shape[1]):
        expected, state = plain.step(state, TARGET[:, t])
        stepped, other = frozen.step(other, TARGET[:, t])
        torch.testing.assert_close(stepped, expected)


@norms
def test_the_engine_decodes_as_the_model(is_pre_norm: bool) -> None:
    """Rows that are taken, doubled and dropped between steps, and a state that goes two ways."""
    torch.manual_seed(3)
    sizes = Sizes(64, 2, 40, is_pre_norm=is_pre_norm)
    plain = Transformer(SOURCE_TOKENS, TARGET_TOKENS, sizes, n_layers=2, tie="two-way").eval()
    frozen = for_decoding(plain)
    assert isinstance(frozen, Transformer) != is_native()
    with torch.inference_mode():
        state, other = plain.start(SOURCE), frozen.start(SOURCE)
        for t in range(TARGET.shape[1]):
            tokens = TARGET[:, t][torch.arange(len(state.memory_mask)) % len(TARGET)]
            expected, after = plain.step(state, tokens)
            frozen.step(other, tokens.flip(0))  # another way on from the same state
            stepped, other = frozen.step(other, tokens)
            torch.testing.assert_close(stepped, expected, rtol=1e-5, atol=1e-5)
            rows = torch.tensor([2, 0, 0, 1])[: 3 + t % 2]
            state, other = plain.reorder(after, rows), frozen.reorder(other, rows)


@norms
def test_steps_that_are_watched_are_the_same(is_pre_norm: bool) -> None:
    """By the fused path, by the open one, and by one that is watched between two steps."""
    plain = build(is_pre_norm=is_pre_norm).eval()
    watched = copy.deepcopy(plain)
    seen: list[torch.Size] = []

    def look(value: Tensor) -> Tensor:
        seen.append(value.shape)
        return value

    state, other = plain.start(SOURCE), watched.start(SOURCE)
    for t in range(TARGET.shape[1]):
        if t == 1:
            watched.decoder.layers[0].cross.weights.attach(look)
        expected, state = plain.step(state, TARGET[:, t])
        stepped, other = watched.step(other, TARGET[:, t])
        torch.testing.assert_close(stepped, expected)
    n_heads = plain.decoder.layers[0].cross.n_heads
    assert seen == [(len(SOURCE), n_heads, 1, SOURCE.shape[1])] * (TARGET.shape[1] - 1)


def test_the_tied_output_is_the_likeness_to_the_embedding() -> None:
    model = build().eval()
    hidden = model.hidden(SOURCE, TARGET)
    torch.testing.assert_close(
        model(SOURCE, TARGET), hidden @ model.decoder.embedding.get_parameter("weight").T
    )


@norms
def test_learns_to_copy(is_pre_norm: bool) -> None:
    """A few thousand words copied: chance is ln 8 ≈ 2.08, the loss must fall far below."""
    generator = torch.Generator().manual_seed(1)
    sizes = Sizes(
        d_model=32,
        n_heads=4,
        d_feedforward=64,
        is_pre_norm=is_pre_norm,
        dropout=0.0,
        attention_dropout=0.0,
        feedforward_dropout=0.0,
        embedding_dropout=0.0,
    )
    model = Transformer(12, 12, sizes, n_layers=1)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss = torch.tensor(math.inf)
    for _ in range(120):
        words = torch.randint(4, 12, (32, 5), generator=generator)
        start = torch.full((32, 1), BOS)
        loss = nn.functional.cross_entropy(
            model(words, torch.cat([start, words[:, :-1]], 1)).flatten(0, 1), words.flatten()
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    assert float(loss.detach()) < 0.5
