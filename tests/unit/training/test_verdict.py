"""A run that ended badly says so; a sound one says nothing."""

from typing import Any

import pytest

from regard.training import find_concerns

SOUND = {"bleu": 30.0, "chrf": 50.0, "exact": 0.1}


def validated(update: int, loss: float, quality: Any = None, **more: Any) -> dict[str, Any]:
    return {"event": "validated", "update": update, "loss": loss, "quality": quality, **more}


def stepped(update: int, loss: float) -> dict[str, Any]:
    return {"event": "stepped", "update": update, "loss": loss}


def run(training: tuple[float, float], validation: tuple[float, float], **more: Any) -> list[Any]:
    """A run of 100 updates, with its losses in the middle and at the end."""
    return [
        *(stepped(update, training[0]) for update in range(10, 51, 10)),
        validated(50, validation[0], SOUND, is_best=True),
        *(stepped(update, training[1]) for update in range(60, 161, 10)),
        validated(160, validation[1], more.pop("quality", SOUND), **more),
    ]


@pytest.mark.parametrize(
    "records",
    [
        [],
        [stepped(10, 3.0)],
        run((3.0, 2.0), (2.5, 2.0), is_best=True),
        run((3.0, 2.0), (2.5, 2.55), is_best=False),  # a little worse is no harm
        run((3.0, 2.0), (2.5, 3.0), is_best=True),  # measured by BLEU, which still rises
        run((3.0, 3.1), (2.5, 3.0), is_best=False),  # training loss did not fall
        [validated(10, 0.1, {"bleu": 0.0, "chrf": 90.0, "exact": 0.9})],  # dates: one word each
        [validated(10, 2.0, {"accuracy": 0.5, "macro_f1": 0.5, "span_f1": None})],
        [validated(10, 2.0, SOUND, repeated=0.0), validated(20, None)],
    ],
)
def test_a_sound_run_says_nothing(records):
    assert find_concerns(records) == []


def test_overfitting_says_where_it_began_and_what_to_try():
    (concern,) = find_concerns(run((3.0, 2.0), (2.5, 3.0), is_best=False))
    for fact in ("2.500 (update 50)", "3.000", "model.dropout", "more data"):
        assert fact in concern


def test_bleu_near_nothing():
    nothing = {"bleu": 0.21, "chrf": 11.0, "exact": 0.0}
    (concern,) = find_concerns([validated(10, 4.0, nothing), validated(20, 3.9, nothing)])
    assert "0.21" in concern
    assert "training.updates" in concern


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("other sources", ("hardly uses its source", "perplexity 7.389", "example 7.925")),
        ("frequency", ("hardly better than counting", "perplexity 7.389", "alone 7.925")),
    ],
)
def test_a_model_that_is_hardly_better_than_its_control(name: str, facts: tuple[str, ...]) -> None:
    control = {"name": name, "loss": 2.07}
    (concern,) = find_concerns([validated(10, 2.0, SOUND, control=control)])
    assert all(fact in concern for fact in facts)
    far = {"name": name, "loss": 2.2}
    assert find_concerns([validated(10, 2.0, SOUND, control=far)]) == []
    kept = validated(10, 2.0, SOUND, control=far, is_best=True)
    assert find_concerns([kept, validated(20, 2.05, SOUND, control=control)]) == []


def test_outputs_that_are_the_same():
    (concern,) = find_concerns([validated(10, 4.0, SOUND, repeated=0.62)])
    assert "62%" in concern
