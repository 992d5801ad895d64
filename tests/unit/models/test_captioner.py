"""Show, attend and tell: the paper's equations, and the promises of a model that steps."""

import pytest
import torch
from torch import Tensor

from regard.attention import Hard
from regard.data import Batch
from regard.decoding import Limits, Sampling, Search, beam_search, greedy, sample
from regard.errors import SizeError, UsageError
from regard.inspection.recording import record
from regard.models import Captioner, EncoderDecoder
from regard.models.captioner import GivenFeatures, PictureEncoder
from regard.models.interface import Step
from regard.models.recurrent import RecurrentSizes
from regard.models.source_attention import WordBaseline
from regard.systems.caption_data import Settling
from regard.training.tasks import translation

WORDS, WORD, HIDDEN, CHANNELS = 11, 6, 7, (4, 5)
ROWS, COLUMNS = 3, 2  # of cells of 4 × 4 pixels
SOURCE = torch.randn(3, 3, 12, 8, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
TARGET = torch.tensor([[2, 5, 6, 9], [2, 7, 8, 3], [2, 4, 3, 0]])
WEIGHTS = "decoder.attention.weights"
OPTIONS: dict[str, dict[str, object]] = {
    "plain": {},
    "gated": {"is_gated": True},
    "hard": {"normaliser": "hard"},
    "half hard": {"normaliser": "hard", "expectation": 0.5, "entropy": 0.1},
    "general": {"score": "general", "tie": "two-way"},
    "dot": {"score": "dot", "coverage": 0.5},
}
each = pytest.mark.parametrize("name", list(OPTIONS))


def build(**options: object) -> Captioner:
    """With opinions: fresh weights, made larger, in float64."""
    sizes = RecurrentSizes(WORD, HIDDEN)
    encoder = PictureEncoder(CHANNELS, 0.0)
    model = Captioner(WORDS, encoder, sizes, **options).double().eval()  # type: ignore[arg-type]
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.5)
    return model


def recorded(model: Captioner, source: Tensor = SOURCE) -> Tensor:
    with record(model, WEIGHTS) as recording:
        model.hidden(source, TARGET)
    return torch.cat(recording.all(WEIGHTS), -2)


def test_the_papers_equations_by_hand() -> None:
    model = build(is_gated=True)
    w = dict(model.named_parameters())
    f = model.encoder.layers(SOURCE)[1].flatten(1).mT  # cells of one picture, row by row
    y, x = torch.meshgrid(torch.arange(ROWS), torch.arange(COLUMNS), indexing="ij")
    places = torch.stack([(2 * x.flatten() + 1) / COLUMNS, (2 * y.flatten() + 1) / ROWS], -1) - 1
    a = f + places.double() @ w["encoder.place.weight"].T + w["encoder.place.bias"]
    torch.testing.assert_close(model.encoder(SOURCE)[1], a)
    h, c = torch.tanh(w["decoder.first.weight"] @ a.mean(0) + w["decoder.first.bias"]).split(HIDDEN)
    W, U, v = (w[f"decoder.attention.score.{n}"][0] for n in ("weight_query", "weight_key", "v"))
    logits, seen = model(SOURCE, TARGET)[1], recorded(model)[1, 0]
    for t, word in enumerate(model.decoder.embedding(TARGET)[1]):
        alpha = torch.stack([v @ torch.tanh(W @ h + U @ one) for one in a]).softmax(0)
        torch.testing.assert_close(seen[t], alpha.detach())
        beta = torch.sigmoid(w["decoder.gate.weight"] @ h + w["decoder.gate.bias"])
        z = beta * (alpha @ a)
        gates = (
            w["decoder.unit.weight_ih"] @ torch.cat([word, z])
            + w["decoder.unit.bias_ih"]
            + w["decoder.unit.weight_hh"] @ h
            + w["decoder.unit.bias_hh"]
        )
        i, forget, g, o = gates.split(HIDDEN)
        c = forget.sigmoid() * c + i.sigmoid() * g.tanh()
        h = o.sigmoid() * c.tanh()
        read = torch.tanh(
            w["decoder.readout.state.weight"] @ h
            + w["decoder.readout.state.bias"]
            + w["decoder.readout.word.weight"] @ word
            + w["decoder.readout.context.weight"] @ z
        )
        torch.testing.assert_close(logits[t], w["output.weight"] @ read)


@each
def test_a_step_at_a_time_is_the_whole(name: str) -> None:
    model = build(**OPTIONS[name])
    assert isinstance(model, EncoderDecoder)
    assert isinstance(model, Step)
    whole = model(SOURCE, TARGET)
    assert whole.shape == (*TARGET.shape, WORDS)
    state, logits = model.start(SOURCE), []
    for t in range(TARGET.shape[1]):
        of_step, state = model.step(state, TARGET[:, t])
        logits.append(of_step)
    torch.testing.assert_close(torch.stack(logits, 1), whole)
    is_real = TARGET != 0
    predicted = model.predict(SOURCE, TARGET, is_real)
    torch.testing.assert_close(model.output(predicted.hidden), whole[is_real])
    assert (predicted.log_choice is not None) == ("hard" in name)


@each
def test_neighbours_change_nothing_and_the_past_stays(name: str) -> None:
    model = build(**OPTIONS[name])
    together = model(SOURCE, TARGET)
    rows = torch.tensor([2, 0, 1])
    torch.testing.assert_close(model(SOURCE[rows], TARGET[rows]), together[rows])
    for row in range(3):
        alone = model(SOURCE[row : row + 1], TARGET[row : row + 1])
        torch.testing.assert_close(alone[0], together[row])
    other = TARGET.clone()
    other[:, 2:] = 4
    torch.testing.assert_close(model(SOURCE, other)[:, :2], together[:, :2])


def test_states_are_reordered() -> None:
    model = build()
    rows = torch.tensor([2, 0, 0])
    _, state = model.step(model.start(SOURCE), TARGET[:, 0])
    logits, _ = model.step(model.reorder(state, rows), TARGET[rows, 1])
    torch.testing.assert_close(logits, model(SOURCE, TARGET)[rows, 1])


@each
def test_every_word_looks_at_the_cells(name: str) -> None:
    model = build(**OPTIONS[name])
    (site,) = model.sites
    assert (site.kind, site.name, site.probe) == ("cross", "cross.0", WEIGHTS)
    assert model.aligning == site
    weights = recorded(model)
    assert weights.shape == (3, 1, TARGET.shape[1], ROWS * COLUMNS)
    torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    if "hard" in name:
        assert set(weights.unique().tolist()) == {0.0, 1.0}


def test_a_cell_sees_itself_and_little_around_it() -> None:
    """What is far from a cell changes nothing in it, or a peak would not say where one looks."""
    model = build()
    changed = SOURCE.clone()
    changed[:, :, :1, :1] += 1  # the first pixel of the first cell
    is_other = (model.encoder(changed) - model.encoder(SOURCE)).abs().sum((0, 2)) > 0
    assert is_other.view(ROWS, COLUMNS).tolist() == [[True, False], [False, False], [False, False]]
    twice = torch.cat([SOURCE, SOURCE], 3)  # a picture twice, side by side
    assert model.encoder(twice).shape == (3, 2 * ROWS * COLUMNS, CHANNELS[-1])


def test_doubly_stochastic_attention_costs_what_the_paper_says() -> None:
    model = build(coverage=0.5)
    is_real = TARGET != 0
    weights = recorded(model)[:, 0]
    looked = torch.stack([weights[0].sum(0), weights[1].sum(0), weights[2, :3].sum(0)])
    predicted = model.predict(SOURCE, TARGET, is_real)
    assert predicted.cost is not None
    torch.testing.assert_close(
        predicted.cost.detach() * is_real.sum(), 0.5 * (1 - looked).square().sum()
    )
    assert build().predict(SOURCE, TARGET, is_real).cost is None


def test_features_of_another_network_are_annotations() -> None:
    sizes = RecurrentSizes(WORD, HIDDEN)
    model = Captioner(WORDS, GivenFeatures(5, 0.0), sizes).double().eval()
    features = torch.randn(3, 5, ROWS, COLUMNS, dtype=torch.float64)
    annotations = model.encoder(features)
    assert annotations.shape == (3, ROWS * COLUMNS, 5)
    torch.testing.assert_close(annotations[1, COLUMNS], features[1, :, 1, 0])
    assert recorded(model, features).shape == (3, 1, TARGET.shape[1], ROWS * COLUMNS)
    with pytest.raises(SizeError, match=r"features of 4 numbers .* from 5"):
        model(features[:, :4], TARGET)
    narrow = GivenFeatures(5, 0.0, d_annotation=2).double()
    assert narrow.map is not None
    expected = (features[1, :, 1, 0] @ narrow.map.weight.T + narrow.map.bias).relu()
    torch.testing.assert_close(narrow(features)[1, COLUMNS], expected)
    assert Captioner(WORDS, narrow, sizes).double()(features, TARGET).shape[:2] == TARGET.shape


@pytest.mark.parametrize("looks", ["soft", "hard"])
def test_half_of_the_bits_are_enough_to_learn(looks: str) -> None:
    """Under autocast the vectors that predict have fewer bits than the output's weights."""
    sizes, encoder = RecurrentSizes(WORD, HIDDEN), GivenFeatures(5, 0.0, d_annotation=4)
    draws = {"baseline": "word", "expectation": 0.5, "entropy": 0.1} if looks == "hard" else {}
    model = Captioner(WORDS, encoder, sizes, normaliser=looks, **draws).train()  # type: ignore[arg-type]
    features = torch.randn(3, 5, ROWS, COLUMNS, generator=torch.Generator().manual_seed(2))
    exact, n = translation(model, Batch(features, TARGET), 0.1)
    with torch.autocast("cpu", torch.bfloat16):
        loss, _ = translation(model, Batch(features, TARGET), 0.1)
    torch.testing.assert_close(loss / n, exact / n, rtol=0.05, atol=0.0)
    loss.backward()
    assert all(one.grad is not None for one in model.parameters())


def test_maps_change_from_word_to_word() -> None:
    """A known failure: the same map for every word, while captions read well."""
    weights = recorded(build())[:, 0]
    assert (weights[:, 1:] - weights[:, :-1]).abs().sum(-1).min() > 1e-3


def test_what_draws_are_compared_with_is_learned_or_an_average() -> None:
    is_real = TARGET != 0
    learned = build(normaliser="hard").predict(SOURCE, TARGET, is_real)
    assert learned.baseline is not None
    model = build(normaliser="hard", baseline="moving-average").train()
    assert model.predict(SOURCE, TARGET, is_real).baseline is None
    _, n_words = translation(model, Batch(SOURCE, TARGET), 0.0)
    assert n_words == (TARGET[:, 1:] != 0).sum()
    assert model.average is not None
    assert float(model.average.mean) < 0
    assert "average.mean" in model.state_dict()  # so that a run continues exactly
    words = build(normaliser="hard", baseline="word").train()
    loss, _ = translation(words, Batch(SOURCE, TARGET), 0.0)
    assert isinstance(words.average, WordBaseline)
    said = sorted(set(TARGET[:, 1:].flatten().tolist()) - {0})
    assert words.average.averages.n_seen.nonzero().flatten().tolist() == said
    loss.backward()  # the regression of every word that was said learns
    slopes = words.average.slopes.weight.grad
    assert slopes is not None
    assert slopes.abs().sum(1).nonzero().flatten().tolist() == said
    with pytest.raises(UsageError, match="no baseline 'median'"):
        build(normaliser="hard", baseline="median")


def test_entropy_is_worth_something() -> None:
    model = build(normaliser="hard", entropy=0.25)
    is_real = TARGET != 0
    with record(model, "decoder.attention.normaliser.distribution") as recording:
        predicted = model.predict(SOURCE, TARGET, is_real)
    (p,) = [torch.cat(recording.all("decoder.attention.normaliser.distribution"), -2)[:, 0]]
    assert predicted.cost is not None
    torch.testing.assert_close(
        predicted.cost.detach(), 0.25 * (p * p.log()).sum(-1)[is_real].mean()
    )


def test_searches_write_captions() -> None:
    model = build()
    search = Search(width=1, limits=Limits(most=6))
    found = greedy(model, SOURCE, search)
    assert all(len(one.tokens) <= 6 for one in found)
    beams = beam_search(model, SOURCE, search)
    assert [one[0].tokens for one in beams] == [one.tokens for one in found]
    wide = beam_search(model, SOURCE, Search(width=4, limits=Limits(most=6)))
    for row, (best, *_) in enumerate(wide):
        target = torch.tensor([[2, *best.tokens, 3][:7]])
        log_p = model(SOURCE[row : row + 1], target[:, :-1])[0].log_softmax(-1).detach()
        total = log_p.gather(1, target[0, 1:, None]).sum()
        assert total.item() == pytest.approx(best.log_probability)
    drawn = sample(model, SOURCE, Search(n_best=2, sampling=Sampling(), limits=Limits(most=6)))
    assert [len(one) for one in drawn] == [2, 2, 2]


@each
def test_all_of_it_learns(name: str) -> None:
    model = build(**OPTIONS[name]).train()
    predicted = model.predict(SOURCE, TARGET, TARGET != 0)
    parts = (predicted.cost, predicted.log_choice, predicted.baseline)
    loss = model.output(predicted.hidden).logsumexp(-1).sum()
    sum((part.sum() for part in parts if part is not None), loss).backward()
    for key, parameter in model.named_parameters():
        assert parameter.grad is not None, key
        assert parameter.grad.abs().sum() > 0, key


def test_sizes_that_cannot_be_are_told() -> None:
    with pytest.raises(SizeError, match=r"10 × 8 pixels .* cells of 4 × 4"):
        build()(torch.zeros(1, 3, 10, 8, dtype=torch.float64), TARGET[:1])
    with pytest.raises(SizeError, match=r"1 or more layers, not \(\)"):
        PictureEncoder((), 0.0)
    with pytest.raises(SizeError, match="one LSTM, not 2"):
        Captioner(WORDS, PictureEncoder(CHANNELS, 0.0), RecurrentSizes(WORD, HIDDEN, 2))
    with pytest.raises(UsageError, match="soft or hard, not local-m"):
        build(normaliser="local-m")


def test_hard_attention_settles_towards_the_end_of_a_run() -> None:
    model = build(normaliser="hard", baseline="word").train()
    batch = Batch(SOURCE, TARGET)
    task = Settling(expectation=1.0, worth=0.1, cost=0.2, after=0.5, updates=100)
    hard = model.decoder.attention.normaliser
    assert isinstance(hard, Hard)
    found = {}
    for update in (1, 50, 60, 75, 100):
        task.at(update)(model, batch, 0.0)
        found[update] = hard.expectation, model.entropy
    expected = {1: (1, 0.1), 50: (1, 0.1), 60: (0.6, -0.02), 75: (0, -0.2), 100: (0, -0.2)}
    for update, pair in expected.items():
        assert found[update] == pytest.approx(pair)
    before = float(translation(model.eval(), batch, 0.0)[0].detach())
    assert float(task(model, batch, 0.0)[0].detach()) == before  # measured as any other


def test_entropy_that_costs_makes_attention_settle() -> None:
    def entropy_after(entropy: float) -> float:
        torch.manual_seed(5)
        model = build(normaliser="hard", baseline="word", expectation=1.0, entropy=entropy).train()
        optimiser = torch.optim.Adam(model.decoder.attention.parameters(), lr=0.05)
        for _ in range(30):
            optimiser.zero_grad()
            translation(model, Batch(SOURCE, TARGET), 0.0)[0].backward()
            optimiser.step()
        probe = "decoder.attention.normaliser.distribution"
        with record(model.eval(), probe) as recording:
            model.hidden(SOURCE, TARGET)
        return float(torch.special.entr(torch.cat(recording.all(probe), -2)).sum(-1).mean())

    assert entropy_after(-1.0) < entropy_after(0.0) - 0.2
