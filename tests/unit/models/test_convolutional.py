"""ConvS2S: stepping = whole, padding and future invisible, fields as wide as reported."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention import Attention
from regard.decoding import Limits, Search, beam_search, greedy
from regard.errors import SizeError, UsageError
from regard.models.convolutional import (
    ConvolutionalDecoderLayer,
    ConvolutionalMemory,
    ConvolutionalSeq2Seq,
    GatedConvolution,
    receptive_field,
)
from regard.models.interface import Step

PAD, BOS, EOS = 0, 2, 3
SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0], [7, 3, 0, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3], [2, 4, 4, 5]])
SOURCE_TOKENS, TARGET_TOKENS, WIDTH, HIDDEN = 11, 13, 6, 10


def build(**options: object) -> ConvolutionalSeq2Seq:
    options = {
        "n_layers": 2,
        "n_decoder_layers": 3,
        "d_hidden": HIDDEN,
        "dropout": 0.0,
        "max_length": 40,
        **options,
    }
    return ConvolutionalSeq2Seq(SOURCE_TOKENS, TARGET_TOKENS, WIDTH, **options)  # type: ignore[arg-type]


widths = pytest.mark.parametrize("kernel_width", [1, 3, 5])


@widths
def test_a_step_at_a_time_is_the_whole(kernel_width: int) -> None:
    model = build(kernel_width=kernel_width).double().eval()
    assert isinstance(model, Step)
    whole, state = model(SOURCE, TARGET), model.start(SOURCE)
    assert whole.shape == (*TARGET.shape, TARGET_TOKENS)
    for t in range(TARGET.shape[1]):
        stepped, state = model.step(state, TARGET[:, t])
        torch.testing.assert_close(stepped, whole[:, t], rtol=1e-10, atol=1e-10)
        assert {inputs.shape[1] for inputs in state.recent} == {kernel_width - 1}


@widths
def test_padding_and_neighbours_change_nothing(kernel_width: int) -> None:
    model = build(kernel_width=kernel_width).double().eval()
    with torch.no_grad():
        for embedding in (model.encoder.embedding, model.decoder.embedding):
            embedding.weight[PAD] = 5.0  # so that a leak would be seen
    together = model(SOURCE, TARGET)
    for row, length in enumerate((5, 3, 2)):
        alone = model(SOURCE[row : row + 1, :length], TARGET[row : row + 1])
        torch.testing.assert_close(alone[0], together[row], rtol=1e-10, atol=1e-10)
    longer, target = F.pad(SOURCE, (0, 6), value=PAD), F.pad(TARGET, (0, 3), value=PAD)
    padded = model(longer, target)[:, : TARGET.shape[1]]
    torch.testing.assert_close(padded, together, rtol=1e-10, atol=1e-10)
    rows = torch.tensor([2, 0, 1])
    torch.testing.assert_close(model(SOURCE[rows], TARGET[rows]), together[rows])


def places_that_matter(of: Tensor, table: nn.Module) -> list[int]:
    """The places whose learned vectors have a gradient."""
    (gradient,) = torch.autograd.grad(of, table.get_parameter("table"), retain_graph=True)
    return gradient.abs().sum(-1).nonzero().flatten().tolist()


def test_no_gradient_comes_from_the_future_or_from_padding() -> None:
    model = build().double()
    for t in range(TARGET.shape[1]):
        vector = model.hidden(SOURCE[1:2], TARGET[1:2])[0, t].sum()
        seen = places_that_matter(vector, model.decoder.embedding.positions)
        assert seen == list(range(t + 1))
        assert places_that_matter(vector, model.encoder.embedding.positions) == [0, 1, 2]


@pytest.mark.parametrize(("n_layers", "kernel_width"), [(1, 3), (2, 3), (3, 3), (2, 5), (4, 1)])
def test_the_receptive_field_is_as_reported(n_layers: int, kernel_width: int) -> None:
    """Measured: which places have a gradient at a vector in the middle, or at the last one."""
    model = build(n_layers=n_layers, n_decoder_layers=n_layers, kernel_width=kernel_width).double()
    words = torch.randint(4, 11, (1, 25))
    key, _ = model.encoder(words, words != PAD)
    middle, wide = 12, model.encoder.receptive_field
    assert wide == receptive_field(n_layers, kernel_width) == 1 + n_layers * (kernel_width - 1)
    seen = places_that_matter(key[0, middle].sum(), model.encoder.embedding.positions)
    assert seen == list(range(middle - wide // 2, middle + wide // 2 + 1))
    last = model.hidden(words, words)[0, 24].sum()
    seen = places_that_matter(last, model.decoder.embedding.positions)
    assert seen == list(range(25 - model.decoder.receptive_field, 25))
    assert model.decoder.receptive_field == wide


@pytest.mark.parametrize("is_causal", [False, True])
def test_the_convolution_is_that_of_torch(is_causal: bool) -> None:
    """Conv1d and GLU of torch, and word by word as the paper writes it."""
    layer = GatedConvolution(HIDDEN, 3, 0.0).double()
    nn.init.normal_(layer.convolution.bias)
    value = torch.randn(2, 7, HIDDEN, dtype=torch.float64)
    before, after = (2, 0) if is_causal else (1, 1)
    convolved = layer(F.pad(value, (0, 0, before, after)))
    torchs = nn.Sequential(nn.Conv1d(HIDDEN, 2 * HIDDEN, 3, padding=before), nn.GLU(dim=1)).double()
    torchs[0].load_state_dict(layer.convolution.state_dict())
    expected = torchs(value.transpose(1, 2)).transpose(1, 2)[:, :7]
    torch.testing.assert_close(convolved, expected, rtol=1e-12, atol=1e-12)
    weight, bias = layer.convolution.weight, layer.convolution.bias
    nothing = torch.zeros(HIDDEN, dtype=torch.float64)
    for i in range(7):
        total = bias
        for j, at in enumerate(range(i - before, i + after + 1)):
            total = total + weight[:, :, j] @ (value[1, at] if 0 <= at < 7 else nothing)
        by_hand = total[:HIDDEN] * torch.sigmoid(total[HIDDEN:])
        torch.testing.assert_close(convolved[1, i], by_hand, rtol=1e-12, atol=1e-12)


def test_a_decoder_layer_by_hand() -> None:
    layer = ConvolutionalDecoderLayer(WIDTH, HIDDEN, 3, 0.0).double()
    numbers = torch.randn(3, 1, 4, WIDTH, dtype=torch.float64)
    key, value = numbers[0], numbers[1]
    embedded, padded = numbers[2], torch.randn(1, 6, HIDDEN, dtype=torch.float64)
    result = layer(
        padded, embedded, ConvolutionalMemory(key, value, torch.tensor([[True, True, True, False]]))
    )
    half = 0.5**0.5
    x = layer.convolution(padded)[0]
    d = half * (x @ layer.query.weight.T + layer.query.bias + embedded[0])
    c = 3**0.5 * torch.softmax(d @ key[0, :3].T, -1) @ value[0, :3]
    h = half * (half * (x + c @ layer.context.weight.T + layer.context.bias) + padded[0, 2:])
    torch.testing.assert_close(result[0], h, rtol=1e-12, atol=1e-12)


def test_every_decoder_layer_attends_where_one_can_look() -> None:
    model = build().eval()
    seen: list[Tensor] = []

    def look(weights: Tensor) -> Tensor:
        seen.append(weights)
        return weights

    names = dict(model.named_modules())
    for layer in range(3):
        attention = names[f"decoder.layers.{layer}.attention"]
        assert isinstance(attention, Attention)
        attention.weights.attach(look)
    model(SOURCE, TARGET)
    assert [weights.shape for weights in seen] == [(3, 1, 4, 5)] * 3
    for weights in seen:
        torch.testing.assert_close(weights.sum(-1), torch.ones(3, 1, 4))
        assert (weights[1, ..., 3:] == 0).all()


def test_a_state_is_a_value_and_rows_can_be_reordered() -> None:
    model, rows = build().double().eval(), torch.tensor([2, 0, 0, 1])
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


@pytest.mark.parametrize("tie", ["two-way", "none"])
def test_gradients_reach_every_parameter(tie: str) -> None:
    model = build(tie=tie, max_length=5)
    F.cross_entropy(model(SOURCE, TARGET).flatten(0, 1), TARGET.flatten()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().max() > 1e-12, name


def test_a_source_of_nothing_but_padding_gives_numbers() -> None:
    model, source = build(), SOURCE.clone()
    source[1] = PAD
    output = model(source, TARGET)
    assert torch.isfinite(output).all()
    output.pow(2).sum().backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)


def test_tables_are_tied_as_asked() -> None:
    two, none = build(tie="two-way"), build(tie="none")
    assert two.output.weight is two.decoder.embedding.weight
    assert none.output.weight is not none.decoder.embedding.weight
    three = ConvolutionalSeq2Seq(9, 9, WIDTH, n_layers=1, tie="three-way")
    assert three.output.weight is three.encoder.embedding.weight is three.decoder.embedding.weight
    with pytest.raises(SizeError, match="one table cannot serve 11 source tokens and 13 target"):
        build(tie="three-way")
    with pytest.raises(UsageError, match="there is no tie 'both'"):
        build(tie="both")


@pytest.mark.parametrize("kernel_width", [0, 4, -1])
def test_even_kernels_are_refused(kernel_width: int) -> None:
    with pytest.raises(SizeError) as refusal:
        build(kernel_width=kernel_width)
    assert str(refusal.value) == (
        "a convolution that sees as many words before as after is 1, 3, 5, … words wide, "
        f"not {kernel_width}: choose an odd kernel_width"
    )


def test_no_layers_are_refused() -> None:
    with pytest.raises(SizeError) as refusal:
        build(n_decoder_layers=0)
    assert str(refusal.value) == (
        "a convolutional model has 1 or more layers on each side, not 2 and 0: "
        "without them no word sees another"
    )


def test_there_are_as_many_positions_as_learned() -> None:
    with pytest.raises(SizeError, match="this model learned 4 positions and was given 5"):
        build(max_length=4)(SOURCE, TARGET)


def test_dropout_acts_while_training_only_and_freezing_ends_training() -> None:
    model = build(dropout=0.5)
    assert not torch.allclose(model(SOURCE, TARGET), model(SOURCE, TARGET))
    model.eval().requires_grad_(False)
    assert torch.equal(model(SOURCE, TARGET), model(SOURCE, TARGET))
    assert not any(parameter.requires_grad for parameter in model.parameters())
    names = {name for name, _ in model.named_parameters(remove_duplicate=False)}
    assert set(model.state_dict()) == names


def test_searches_serve_it() -> None:
    model, limits = build().double().eval(), Limits(factor=1.0, extra=3)
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
def test_learns_to_copy() -> None:
    random, n_updates = torch.Generator().manual_seed(1), 250
    model = ConvolutionalSeq2Seq(12, 12, 32, n_layers=2, dropout=0.0, max_length=32)
    optimiser = torch.optim.Adam(model.parameters(), lr=5e-3)
    schedule = torch.optim.lr_scheduler.LinearLR(optimiser, 1.0, 0.05, n_updates)
    for _ in range(n_updates):
        source, target = copies(32, random)
        logits = model(source, target[:, :-1]).flatten(0, 1)
        optimiser.zero_grad()
        F.cross_entropy(logits, target[:, 1:].flatten(), ignore_index=PAD).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    model.eval().requires_grad_(False)
    source, _ = copies(500, random)
    wanted = [tuple(t for t in row if t not in (PAD, EOS)) for row in source.tolist()]
    written = greedy(model, source)
    n_right = sum(h.tokens == w for h, w in zip(written, wanted, strict=True))
    assert n_right >= 0.99 * len(wanted)
