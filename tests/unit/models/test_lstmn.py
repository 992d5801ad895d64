"""The LSTM with a tape: an LSTM where it looks at the last place alone, and more elsewhere."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from regard.attention import Normaliser, Site, Weights
from regard.decoding import Limits, Search, beam_search, greedy
from regard.errors import UsageError
from regard.inspection.recording import at, record
from regard.models.lstmn import MemoryNetwork, TapeLayer
from regard.models.luong import Luong
from regard.models.recurrent import RecurrentSizes
from regard.models.sutskever import Sutskever
from regard.special import BOS, EOS, PAD

SOURCE = torch.tensor([[5, 6, 7, 8, 3], [9, 4, 3, 0, 0], [7, 3, 0, 0, 0]])
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3], [2, 4, 4, 5]])
LENGTHS = torch.tensor([5, 3, 2])
SOURCE_TOKENS, TARGET_TOKENS, WORD, HIDDEN = 11, 13, 6, 7
EXACT = {"rtol": 1e-10, "atol": 1e-10}

Translator = Sutskever | Luong


class Last(Normaliser):
    """The place before the query's own, whatever the scores."""

    def forward(
        self, scores: Tensor, mask: Tensor | None = None, *, query: object = None, first: int = 0
    ) -> Weights:
        weights = torch.zeros_like(scores)
        if first > 0:
            weights[..., first - 1] = 1.0
        return Weights(weights)


def only_the_last(weights: Tensor) -> Tensor:
    """The same as a replacement: of the places a row looks at, the last."""
    n_seen = (weights > 0).sum(-1, keepdim=True)
    places = torch.arange(weights.shape[-1])
    return ((places == n_seen - 1) & (n_seen > 0)).to(weights)


def read(n_layers: int) -> tuple[MemoryNetwork, Tensor]:
    torch.manual_seed(3)
    network = MemoryNetwork(WORD, RecurrentSizes(4, HIDDEN, n_layers)).double()
    return network, torch.randn(3, 5, WORD).double()


def as_torchs(network: MemoryNetwork) -> nn.LSTM:
    """Torch's LSTM with the weights of the cells."""
    theirs = nn.LSTM(WORD, HIDDEN, len(network.layers), batch_first=True).double()
    weights = {
        f"{name}_l{n}": value
        for n, layer in enumerate(network.layers)
        for name, value in layer.get_submodule("cell").state_dict().items()
    }
    theirs.load_state_dict(weights)
    return theirs


def test_a_layer_that_looks_at_the_last_place_is_an_lstm() -> None:
    torch.manual_seed(1)
    layer = TapeLayer(WORD, HIDDEN, Last()).double()
    theirs = nn.LSTM(WORD, HIDDEN, batch_first=True).double()
    theirs.load_state_dict({f"{k}_l0": v for k, v in layer.cell.state_dict().items()})
    value = torch.randn(3, 5, WORD).double()
    h, c = layer(value, torch.ones(3, 5).bool())
    outputs, (_, cell) = theirs(value)
    torch.testing.assert_close(h, outputs, **EXACT)
    torch.testing.assert_close(c[:, -1], cell[0], **EXACT)


@pytest.mark.parametrize("n_layers", [1, 2])
def test_layers_that_look_at_the_last_place_are_torchs_own(n_layers: int) -> None:
    network, value = read(n_layers)
    with record(network, replace={"*.weights": only_the_last}):
        outputs, remembered = network.read(value, LENGTHS)
    theirs = as_torchs(network)
    for row, length in enumerate(LENGTHS):
        expected, last = theirs(value[row : row + 1, :length])
        torch.testing.assert_close(outputs[row, :length], expected[0], **EXACT)
        assert (outputs[row, length:] == 0).all()
        for part, wanted in zip(remembered, last, strict=True):
            assert part.shape == (n_layers, 3, HIDDEN)
            torch.testing.assert_close(part[:, row], wanted[:, 0], **EXACT)
    free, _ = network.read(value, LENGTHS)
    # With two places there is no choice; from the third on there is.
    torch.testing.assert_close(free[:, :2], outputs[:, :2], **EXACT)
    assert not torch.allclose(free[0, 2:], outputs[0, 2:])


def test_the_papers_equations_by_hand() -> None:
    network, value = read(1)
    layer = network.layers[0]
    parameters = {name: parameter.detach() for name, parameter in layer.named_parameters()}
    W, U = (parameters[f"attention.score.weight_{side}"][0] for side in ("query", "key"))
    W_x, W_found, v = W[:, :WORD], W[:, WORD:], parameters["attention.score.v"][0]
    W_in, W_hidden = parameters["cell.weight_ih"], parameters["cell.weight_hh"]
    bias = parameters["cell.bias_ih"] + parameters["cell.bias_hh"]
    hs: list[Tensor] = []
    cs: list[Tensor] = []
    h_found = c_found = torch.zeros(HIDDEN).double()
    for x in value[0]:
        if hs:
            energies = [v @ torch.tanh(U @ h + W_x @ x + W_found @ h_found) for h in hs]
            s = torch.stack(energies).softmax(0)
            h_found, c_found = s @ torch.stack(hs), s @ torch.stack(cs)
        i, f, candidate, o = (W_in @ x + W_hidden @ h_found + bias).chunk(4)
        cs.append(torch.sigmoid(f) * c_found + torch.sigmoid(i) * torch.tanh(candidate))
        hs.append(torch.sigmoid(o) * torch.tanh(cs[-1]))
    outputs, (h, c) = network.read(value, LENGTHS)
    torch.testing.assert_close(outputs[0], torch.stack(hs), **EXACT)
    torch.testing.assert_close(h[0, 0], hs[-1], **EXACT)
    torch.testing.assert_close(c[0, 0], cs[-1], **EXACT)


def sutskever(**options: object) -> Sutskever:
    options = {"encoder_cell": "lstmn", **options}
    sizes = RecurrentSizes(WORD, HIDDEN, 2)
    return Sutskever(SOURCE_TOKENS, TARGET_TOKENS, sizes, **options)  # type: ignore[arg-type]


def luong(n_layers: int = 2, dropout: float = 0.0, **options: object) -> Luong:
    options = {"encoder_cell": "lstmn", **options}
    sizes = RecurrentSizes(WORD, HIDDEN, n_layers, dropout)
    return Luong(SOURCE_TOKENS, TARGET_TOKENS, sizes, **options)  # type: ignore[arg-type]


BUILDS: dict[str, Callable[[], Translator]] = {
    "sutskever": lambda: sutskever(reverses_source=False),
    "sutskever backwards": sutskever,
    "luong": luong,
    "luong of one layer": lambda: luong(1),
}
each = pytest.mark.parametrize("name", list(BUILDS))


def build(name: str) -> Translator:
    """With opinions: fresh weights, made larger, in float64."""
    model = BUILDS[name]().double().eval()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    return model


@each
def test_a_step_at_a_time_is_the_whole(name: str) -> None:
    model = build(name)
    state, logits = model.start(SOURCE), []
    for t in range(TARGET.shape[1]):
        of_step, state = model.step(state, TARGET[:, t])  # type: ignore[arg-type]
        logits.append(of_step)
    torch.testing.assert_close(torch.stack(logits, 1), model(SOURCE, TARGET), **EXACT)


@each
def test_padding_and_neighbours_change_nothing(name: str) -> None:
    model = build(name)
    together = model(SOURCE, TARGET)
    for row, length in enumerate(LENGTHS):
        alone = model(SOURCE[row : row + 1, :length], TARGET[row : row + 1])
        torch.testing.assert_close(alone[0], together[row], **EXACT)
    torch.testing.assert_close(model(F.pad(SOURCE, (0, 6), value=PAD), TARGET), together, **EXACT)
    empty = SOURCE.clone()
    empty[1] = PAD
    torch.testing.assert_close(model(empty, TARGET)[[0, 2]], together[[0, 2]], **EXACT)


@each
def test_gradients_reach_every_parameter(name: str) -> None:
    model = build(name).train()
    model(SOURCE, TARGET).log_softmax(-1)[:, :, 5].sum().backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.abs().max() > 1e-12, parameter_name
    assert set(model.state_dict()) == {name for name, _ in model.named_parameters()}


@each
def test_searches_serve_it(name: str) -> None:
    model = build(name)
    search = Search(1, limits=Limits(factor=1.0, extra=3))
    plain = greedy(model, SOURCE, search)
    assert [h.tokens for h in plain] == [h[0].tokens for h in beam_search(model, SOURCE, search)]


def test_dropout_acts_between_layers_and_while_training_only() -> None:
    model = luong(dropout=0.5)
    _, value = read(1)
    value, reader = value.float(), model.encoder.recurrence
    assert not torch.allclose(reader.read(value, LENGTHS)[0], reader.read(value, LENGTHS)[0])
    model.eval()
    assert torch.equal(reader.read(value, LENGTHS)[0], reader.read(value, LENGTHS)[0])


class TestLooking:
    def test_a_row_a_word_and_joined_a_lower_triangle(self) -> None:
        model = build("luong")
        with record(model, "encoder.*.weights") as recording:
            model(SOURCE, TARGET)
        assert list(recording) == [site.probe for site in model.sites[:2]]
        for site in model.sites[:2]:
            assert [row.shape for row in recording.all(site.probe)] == [(3, 1, 1, 5)] * 5
            weights = at(recording, site)
            assert weights.shape == (3, 1, 5, 5)
            # Each real word but the first looks at all those before it, and at nothing else.
            is_real = torch.arange(5) < LENGTHS[:, None]
            seen = torch.ones(5, 5).tril(-1).bool() & is_real[:, None, :, None]
            assert torch.equal(weights > 0, seen)
            torch.testing.assert_close(weights.sum(-1), seen.any(-1).double(), **EXACT)

    def test_what_is_replaced_counts(self) -> None:
        model = build("sutskever")
        plain = model(SOURCE, TARGET)
        with record(model, replace={"encoder.*.weights": torch.zeros_like}):
            assert not torch.allclose(model(SOURCE, TARGET), plain)

    def test_sites(self) -> None:
        probes = [f"encoder.recurrence.layers.{n}.attention.weights" for n in (0, 1)]
        encoder = tuple(Site("encoder", n, probe) for n, probe in enumerate(probes))
        assert build("sutskever").sites == encoder
        assert build("luong").sites == (*encoder, Site("cross", 0, "decoder.attention.weights"))
        assert build("luong").aligning == Site("cross", 0, "decoder.attention.weights")

    def test_what_is_read_backwards_or_by_an_lstm_has_none(self) -> None:
        assert build("sutskever backwards").sites == ()
        assert sutskever(encoder_cell="lstm", reverses_source=False).sites == ()
        assert luong(encoder_cell=None).sites == (Site("cross", 0, "decoder.attention.weights"),)


class TestChoosing:
    def test_the_decoders_cell_is_the_encoders_unless_told(self) -> None:
        told, untold = (luong(encoder_cell=cell, cell="gru") for cell in ("gru", None))
        assert told.state_dict().keys() == untold.state_dict().keys()

    @pytest.mark.parametrize("build_one", [sutskever, luong])
    @pytest.mark.parametrize(
        ("encoder_cell", "cell", "sentence"),
        [
            (
                "lstmn",
                "gru",
                "a decoder of cell 'gru' cannot go on from what an encoder of cell 'lstmn' "
                "remembers: choose 'lstm' for the decoder",
            ),
            (
                "gru",
                "lstm",
                "a decoder of cell 'lstm' cannot go on from what an encoder of cell 'gru' "
                "remembers: choose 'gru' for the decoder",
            ),
            (
                "tape",
                "lstm",
                "there is no encoder cell 'tape': choose one of lstm, gru, lstmn",
            ),
        ],
    )
    def test_what_does_not_fit_is_refused(
        self, build_one: Callable[..., Translator], encoder_cell: str, cell: str, sentence: str
    ) -> None:
        with pytest.raises(UsageError) as refusal:
            build_one(encoder_cell=encoder_cell, cell=cell)
        assert str(refusal.value) == sentence


def turned_round(n: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Three to six symbols out of eight, and the same from the end to the beginning."""
    words = torch.randint(4, 12, (n, 7), generator=generator)
    lengths = torch.randint(3, 7, (n, 1), generator=generator)
    places = torch.arange(7).expand(n, 7)
    turned = words.gather(1, (lengths - 1 - places).clamp(min=0))
    source = words.where(places < lengths, PAD).scatter(1, lengths, EOS)
    answer = turned.where(places < lengths, PAD).scatter(1, lengths, EOS)
    return source, torch.cat([torch.full((n, 1), BOS), answer], 1)


@pytest.mark.slow
def test_it_learns_to_turn_sequences_round() -> None:
    model = Luong(12, 12, RecurrentSizes(16, 32), encoder_cell="lstmn")
    generator = torch.Generator().manual_seed(1)
    optimiser = torch.optim.Adam(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 0.01, total_steps=200, pct_start=0.1)
    for _ in range(200):
        source, target = turned_round(64, generator)
        logits = model(source, target[:, :-1]).flatten(0, 1)
        loss = F.cross_entropy(logits, target[:, 1:].flatten(), ignore_index=PAD)
        optimiser.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        schedule.step()
    model.eval().requires_grad_(False)
    source, target = turned_round(200, generator)
    wanted = [[token for token in row if token > EOS] for row in target.tolist()]
    found = [list(hypothesis.tokens) for hypothesis in greedy(model, source)]
    assert sum(map(list.__eq__, found, wanted)) >= 198
