"""What follows from a budget of time, and what a run that goes on keeps of it."""

import pytest

from regard.config import known, read_recipe, undecided
from regard.training import Facts, derive, fit_to_speed, keep_plan

MULTI30K = Facts(n_pairs=29_000, n_target_tokens=430_000, n_vocabulary=8_000)


def planned(minutes: float, seconds_an_update: float, *changes: str):  # type: ignore[no-untyped-def]
    asked = read_recipe("transformer-small", [f"training.minutes={minutes}", *changes])
    return asked, fit_to_speed(asked, derive(asked, MULTI30K), MULTI30K, seconds_an_update)


def test_updates_are_as_many_as_fit() -> None:
    _, recipe = planned(40.0, 0.35)
    training = recipe.training
    assert undecided(recipe) == ()
    assert training.batch_tokens == 512  # half of what the data alone would have
    assert known(training.updates, "") * 0.35 / 2 == pytest.approx(40 * 60, rel=0.1)
    assert known(training.warmup, "") == pytest.approx(known(training.updates, "") / 10, rel=0.1)
    assert known(training.ema, "") == pytest.approx(1 - 20 / known(training.updates, ""), abs=1e-3)


def test_where_time_is_short_updates_are_small_and_dropout_is_low() -> None:
    _, long = planned(40.0, 0.35)
    _, short = planned(3.0, 1.0)
    assert short.training.batch_tokens == 512
    assert known(short.training.updates, "") > 3 * 60  # a half of the batch in half of the time
    assert (long.model.dropout, short.model.dropout) == (0.2, 0.0)


def test_with_time_enough_an_update_is_as_large_as_the_data_wants() -> None:
    _, recipe = planned(40.0, 0.25)
    assert recipe.training.batch_tokens == 1024


def test_batches_are_joined_less_often_before_they_are_halved() -> None:
    wmt = Facts(n_pairs=4_500_000, n_target_tokens=126_000_000, n_vocabulary=32_000)
    asked = read_recipe("transformer-base", ["training.minutes=600"])
    sizes = []
    for seconds in (1.0, 12.0, 36.0):
        training = fit_to_speed(asked, derive(asked, wmt), wmt, seconds).training
        sizes.append((training.accumulate, training.batch_tokens))
    assert sizes == [(6, 4096), (1, 4096), (1, 2048)]


def test_what_is_stated_stays() -> None:
    stated = "training.batch_tokens=4096", "training.ema=0.5", "model.dropout=0.25"
    _, recipe = planned(1.0, 1.0, *stated, "training.warmup=7")
    training = recipe.training
    assert (training.batch_tokens, training.ema, training.warmup) == (4096, 0.5, 7)
    assert recipe.model.dropout == 0.25


def test_a_run_that_goes_on_keeps_what_it_decided_whatever_time_it_is_given() -> None:
    _, before = planned(3.0, 1.0)
    asked = read_recipe("transformer-small", ["training.minutes=60.0"])
    again = keep_plan(asked, derive(asked, MULTI30K), before)
    assert again.training.minutes == 60.0
    assert again.training.model_copy(update={"minutes": 3.0}) == before.training
    assert again.model == before.model
