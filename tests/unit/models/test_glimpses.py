"""The Recurrent Attention Model: what the retina sees, and who learns by which loss."""

from collections.abc import Callable

import pytest
import torch
from torch.distributions import Normal
from torch.nn import functional as F

from regard.errors import SizeError, UsageError
from regard.inspection.recording import record
from regard.models.glimpses import Core, RecurrentAttention, Retina, inside
from regard.models.reinforce import reinforce
from regard.shapes import Tensor

SIZE, SIDE, SCALES = 20, 4, 3


def network(**changes: object) -> RecurrentAttention:
    torch.manual_seed(3)
    options = {"n_channels": 2, "n_glimpses": 4, "core": "rnn", "d_hidden": 10} | changes
    return RecurrentAttention(5, Retina(SIDE, SCALES, SIZE, 10), **options)  # type: ignore[arg-type]


def pictures(n: int = 3) -> Tensor:
    return 2 * torch.rand(n, 2, SIZE, SIZE, generator=torch.Generator().manual_seed(1)) - 1


def test_the_retina_sees_squares_around_a_place_each_twice_as_large() -> None:
    retina = Retina(SIDE, SCALES, SIZE, 10)
    given = pictures()
    places = torch.tensor([[0.0, 0.0], [-1.0, 0.4], [0.93, 1.0]])
    seen = retina(given, places).view(3, SCALES, 2, SIDE, SIDE)
    assert retina.sides == (4, 8, 16)
    for row, (x, y) in enumerate(retina.centres(places).tolist()):
        for scale, side in enumerate(retina.sides):
            patch = torch.zeros(2, side, side)
            for i in range(side):
                for j in range(side):
                    at = y - side // 2 + i, x - side // 2 + j
                    if all(0 <= one < SIZE for one in at):
                        patch[:, i, j] = (given[row, :, at[0], at[1]] + 1) / 2
            step = side // SIDE
            mean = patch.view(2, SIDE, step, SIDE, step).mean((2, 4))
            torch.testing.assert_close(seen[row, scale], mean)


def test_places_are_pixels() -> None:
    retina = Retina(SIDE, 1, SIZE, 10)
    places = torch.tensor([[-1.0, 1.0], [0.0, 0.5], [3.0, -9.0]])
    assert retina.centres(places).tolist() == [[0, 20], [10, 15], [20, 0]]
    boxes = torch.tensor([[0, 15, 5, 20], [11, 0, 20, 20], [0, 0, 20, 20]])
    assert inside(places[:, None], boxes, SIZE)[:2, 0].tolist() == [True, False]


@pytest.mark.parametrize("sees", ["state", "glimpse"])
def test_what_is_told_trains_all_but_the_locator_and_draws_train_it_alone(sees: str) -> None:
    model, labels = network(locator_sees=sees), torch.tensor([0, 1, 2])
    seen = model.look(pictures())
    F.cross_entropy(seen.logits[:, -1], labels).backward()
    learned = {name for name, one in model.named_parameters() if one.grad is not None}
    assert not {name for name in learned if name.startswith(("locator", "expecting"))}
    assert {"glimpse.what.weight", "core.unit.weight_hh", "output.weight"} <= learned
    model.zero_grad(set_to_none=True)
    seen = model.look(pictures())
    reinforce(seen.log_probability, torch.rand(3, 3), seen.expected).backward()
    drawn = {name for name, one in model.named_parameters() if one.grad is not None}
    assert drawn == {name for name, _ in model.named_parameters() if name.startswith("locator")}
    model.zero_grad(set_to_none=True)
    model.look(pictures()).expected.sum().backward()
    expecting = {name for name, one in model.named_parameters() if one.grad is not None}
    assert expecting == {"expecting.weight", "expecting.bias"}


def test_the_probability_is_that_of_the_places_that_were_drawn() -> None:
    model = network(deviation=0.3)
    seen = model.look(pictures())
    assert seen.log_probability.shape == seen.expected.shape == (3, 3)
    means = []
    with torch.no_grad():
        state = None
        for t in range(3):
            place = seen.places[:, t]
            h, state = model.core(model.glimpse(model.retina(pictures(), place), place), state)
            means.append(model.locator(h, model.retina(pictures(), place), place))
    middle = torch.stack(means, 1)
    wanted = Normal(middle, 0.3).log_prob(seen.places[:, 1:]).sum(-1)
    constant = Normal(torch.zeros(2), 0.3).log_prob(torch.zeros(2)).sum()
    torch.testing.assert_close(seen.log_probability.detach(), wanted - constant)
    assert (seen.places[:, 1:] - middle).abs().max() > 0.05


def test_who_expects_to_be_right_looks_closely() -> None:
    model = network(deviation=0.9, least_deviation=0.01)
    assert model.expecting is not None
    torch.nn.init.zeros_(model.expecting.weight)
    spread = []
    for expected in (0.0, 1.0, 7.0):
        torch.nn.init.constant_(model.expecting.bias, expected)
        spread.append(float(model.look(pictures(200)).places[:, 1:].std(0).mean()))
    assert spread[0] > 0.5
    assert max(spread[1:]) < 0.2


def test_in_use_nothing_is_drawn_and_no_picture_depends_on_others() -> None:
    model, first = network().eval(), torch.tensor([[0.1, -0.7], [0.5, 0.5], [-1.0, 1.0]])
    together = model.look(pictures(), first)
    again = model.look(pictures(), first)
    assert together.places.equal(again.places)
    alone = model.look(pictures()[1:2], first[1:2])
    torch.testing.assert_close(alone.logits[0], together.logits[1])
    torch.testing.assert_close(alone.places[0], together.places[1])
    assert together.places[:, 0].equal(first)
    model.train()
    assert not model.look(pictures(), first).places[:, 1:].equal(together.places[:, 1:])


@pytest.mark.parametrize("core", ["rnn", "lstm"])
def test_the_core_remembers(core: str) -> None:
    unit = Core(core, 6, 8)
    first, second = torch.randn(2, 2, 6)
    _, state = unit(first, None)
    after, _ = unit(second, state)
    alone, _ = unit(second, None)
    assert (after - alone).abs().max() > 1e-4
    if core == "rnn":
        assert (after >= 0).all()


@pytest.mark.parametrize("policy", ["random", "centre", "raster"])
def test_places_that_are_not_learned(policy: str) -> None:
    model = network(locator=policy, n_glimpses=6)
    assert not model.draws
    assert not any(one.requires_grad for one in model.locator.parameters())
    places = model.look(pictures()).places
    if policy == "centre":
        assert places.eq(0).all()
    elif policy == "raster":
        assert places[0].equal(places[1])
        assert sorted(set(places[0, :, 1].tolist())) == pytest.approx([-0.5, 0.5])
        assert len(set(places[0, :, 0].tolist())) == 3
    else:
        assert places.abs().max() <= 1
        assert places.std() > 0.3


def test_a_locator_that_sees_the_glimpse_needs_no_memory_of_it() -> None:
    patches, place = torch.rand(2, 2, SCALES * 2 * SIDE**2), torch.zeros(2, 2)
    state = torch.zeros(2, 10)
    for sees, depends in (("state", False), ("glimpse", True)):
        locator = network(locator_sees=sees).locator
        same = locator(state, patches[0], place).equal(locator(state, patches[1], place))
        assert same != depends


def test_a_frozen_locator_looks_where_it_would_but_learns_nothing() -> None:
    model = network(locator="frozen").eval()
    first = torch.zeros(3, 2)
    assert model.look(pictures(), first).places.equal(
        network().eval().look(pictures(), first).places
    )
    assert not any(one.requires_grad for one in model.locator.parameters())


def test_where_a_glimpse_lies_is_seen_and_can_be_switched_off() -> None:
    model, first = network().eval(), torch.tensor([[0.0, 0.0], [-1.0, -1.0], [1.0, 1.0]])
    plain = model.look(pictures(), first).logits
    with record(model, "retina.weights") as recording:
        torch.testing.assert_close(model.look(pictures(), first).logits, plain)
    passed = recording.all("retina.weights")
    assert (len(passed), tuple(passed[0].shape)) == (4, (3, SCALES, 1, 100))
    torch.testing.assert_close(passed[0].sum(-1), torch.ones(3, SCALES, 1))
    middle = passed[0][0, 0, 0].view(10, 10)
    assert middle[4:6, 4:6].sum() == pytest.approx(1)
    corner = passed[0][1, 0, 0].view(10, 10)
    assert corner[0, 0] == pytest.approx(1)
    with record(model, replace={"retina.contexts": torch.zeros_like}):
        blind = model.look(pictures(), first)
    dark = model.look(torch.full_like(pictures(), -1.0), first)
    torch.testing.assert_close(blind.logits, dark.logits)


@pytest.mark.parametrize(
    ("make", "error", "fact"),
    [
        (lambda: Retina(8, 1, 4, 4), SizeError, "4 pixels"),
        (lambda: network(core="gru"), UsageError, "'gru'"),
        (lambda: network(locator="wild"), UsageError, "'wild'"),
        (lambda: network(baseline="guess"), UsageError, "'guess'"),
        (lambda: network(n_glimpses=0), SizeError, "0 glimpses"),
        (lambda: network().look(torch.zeros(1, 2, 9, 9)), SizeError, "9 × 9"),
    ],
)
def test_what_cannot_be_is_refused(
    make: Callable[[], object], error: type[Exception], fact: str
) -> None:
    with pytest.raises(error, match=fact):
        make()
