"""The presets are what they say: the paper's sizes, and sound settings for any amount of data."""

import itertools

import pytest
import torch

from regard.cli.recipes import count_parameters
from regard.config import Recipe, known, preset_names, read_recipe, undecided
from regard.errors import RecipeError
from regard.systems import build
from regard.training.defaults import Facts, derive

MULTI30K = Facts(n_pairs=29_000, n_target_tokens=430_000, n_vocabulary=8_000)
WMT = Facts(n_pairs=4_500_000, n_target_tokens=126_000_000, n_vocabulary=37_000)


def by_arithmetic(recipe: Recipe, n_vocabulary: int) -> int:
    model = recipe.model
    d, inner = model.d_model, model.d_feedforward
    attention, norm = 4 * (d * d + d), 2 * d
    feedforward = d * inner + inner + inner * d + d
    encoder = model.n_layers * (attention + feedforward + 2 * norm)
    decoder = (model.n_decoder_layers or model.n_layers) * (2 * attention + feedforward + 3 * norm)
    d_head = d // model.n_heads
    copying = d * d_head + d_head + 2 * d * d_head + d_head if model.copies else 0
    ends = 2 * norm if model.norm == "pre" else 0
    return n_vocabulary * d + encoder + decoder + ends + copying


TRANSFORMERS = [one for one in preset_names() if read_recipe(one).model.kind == "transformer"]


@pytest.mark.parametrize("name", TRANSFORMERS)
def test_parameters_are_counted_as_arithmetic_says(name: str) -> None:
    recipe = read_recipe(name)
    assert count_parameters(recipe, 123) == by_arithmetic(recipe, 123)


@pytest.mark.parametrize(
    ("name", "published", "tolerance"),
    # The paper prints 65 for base, but its own sizes give 63.1 with exactly 37,000 pieces.
    [("transformer-base", 65e6, 0.03), ("transformer-big", 213e6, 0.02)],
)
def test_the_papers_models_have_the_papers_size(
    name: str, published: float, tolerance: float
) -> None:
    assert count_parameters(read_recipe(name), 37_000) == pytest.approx(published, rel=tolerance)


@pytest.mark.parametrize(
    ("name", "peak"), [("transformer-base", 6.99e-4), ("transformer-big", 4.94e-4)]
)
def test_the_papers_models_learn_as_in_the_paper(name: str, peak: float) -> None:
    training = derive(read_recipe(name), WMT).training
    assert training.learning_rate == peak
    assert (training.warmup, training.betas, training.epsilon) == (4000, (0.9, 0.98), 1e-9)
    assert training.label_smoothing == 0.1
    assert training.clip is None
    tokens = known(training.batch_tokens, "") * known(training.accumulate, "")
    assert tokens == pytest.approx(25_000, rel=0.05)
    assert training.updates == pytest.approx(100_000, rel=0.1)


def test_the_tiny_model_is_the_published_one() -> None:
    recipe = derive(read_recipe("transformer-tiny"), MULTI30K)
    model, training = recipe.model, recipe.training
    assert (model.n_layers, model.d_model, model.d_feedforward, model.n_heads) == (4, 128, 256, 4)
    assert model.dropout == 0.3
    assert training.batch_tokens == 1024
    assert 2e-3 < known(training.learning_rate, "") < 5e-3


@pytest.mark.parametrize("name", [name for name in preset_names() if "transformer" in name])
@pytest.mark.parametrize("n_pairs", [1, 50, 2_000, 30_000, 200_000, 2_000_000, 50_000_000])
@pytest.mark.parametrize("n_processes", [1, 8])
def test_every_size_of_data_gets_a_sound_recipe(name: str, n_pairs: int, n_processes: int) -> None:
    facts = Facts(n_pairs, 14 * n_pairs, n_vocabulary=8_000, n_processes=n_processes)
    recipe = derive(read_recipe(name), facts)
    training = recipe.training
    assert undecided(recipe) == ()
    batch = known(training.batch_tokens, "")
    updates, warmup = known(training.updates, ""), known(training.warmup, "")
    tokens = batch * known(training.accumulate, "") * n_processes
    assert 512 <= batch <= 4096
    assert updates >= 500
    assert warmup <= updates / 3
    assert 1e-4 <= known(training.learning_rate, "") <= 5e-3
    assert 50 <= known(training.validate_every, "") <= 2000
    assert training.save_every == training.validate_every
    if n_pairs >= 30_000 and n_processes == 1:
        epochs = updates * tokens / facts.n_target_tokens
        assert 9 <= epochs <= 61


def test_more_data_never_wants_more_epochs_or_dropout() -> None:
    sizes = [2_000 * 3**i for i in range(9)]
    recipes = [derive(read_recipe("transformer-small"), Facts(n, 14 * n)) for n in sizes]
    for small, large in itertools.pairwise(recipes):
        assert known(small.model.dropout, "") >= known(large.model.dropout, "")
        assert known(small.training.updates, "") <= known(large.training.updates, "")
        assert known(small.training.warmup, "") <= known(large.training.warmup, "")


def test_what_a_recipe_states_is_kept() -> None:
    given = [
        "model.dropout=0.15",
        "text.size=500",
        "training.batch_tokens=77",
        "training.accumulate=3",
        "training.updates=20",
        "training.warmup=7",
        "training.learning_rate=0.5",
        "training.validate_every=9",
        "training.save_every=4",
        "training.ema=0.9",
    ]
    recipe = read_recipe("transformer-tiny", given)
    assert derive(recipe, MULTI30K) == recipe


def test_the_rest_follows_from_what_is_stated() -> None:
    training = derive(
        read_recipe("transformer-base", ["training.warmup=16000", "training.updates=20"]), WMT
    ).training
    assert training.learning_rate == 3.49e-4  # (512 · 16000)^-0.5
    assert training.validate_every == 20
    constant = derive(read_recipe("transformer-base", ["training.schedule=constant"]), WMT)
    assert constant.training.learning_rate == 2.1e-4


def test_a_vocabulary_that_is_not_known_stays_open() -> None:
    recipe = derive(read_recipe("transformer-tiny"), Facts(2_000, 26_000))
    assert undecided(recipe) == ("text.size",)
    named = recipe.model_copy(update={"name": "auto"})
    assert undecided(named) == ("text.size",)


def test_nothing_follows_from_no_data() -> None:
    with pytest.raises(RecipeError) as caught:
        derive(read_recipe("transformer-tiny"), Facts(0, 0))
    assert str(caught.value) == (
        "nothing can be derived from 0 pairs with 0 target tokens: give at least one pair that is "
        "not empty"
    )


def test_an_open_value_is_not_a_number() -> None:
    with pytest.raises(RecipeError) as caught:
        known("auto", "training.updates")
    assert str(caught.value) == (
        "training.updates is still 'auto': it is chosen when the data is known; give a value to "
        "do without data"
    )


@pytest.mark.parametrize("name", ["transformer-tiny", "transformer-small"])
def test_a_derived_recipe_can_be_built_and_run(name: str) -> None:
    model = build(derive(read_recipe(name), MULTI30K).model, 11, 11)
    logits = model(torch.tensor([[4, 5, 3]]), torch.tensor([[2, 7]]))
    assert logits.shape == (1, 2, 11)
