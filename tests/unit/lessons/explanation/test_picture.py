"""An explanation drawn: every step is there, every number in its cell, and nothing sticks out."""

import math

import numpy as np
import pytest

from regard.inspection.scene import Heat, Rectangle, Scene, Text, render
from regard.inspection.scene.measure import text_width
from regard.lessons.explanation import (
    ExplainedStep,
    Explanation,
    NumberTable,
    explain_lecture,
    explain_masks,
    explain_normalisation,
    explain_positions,
    explain_scores,
    explained,
)


def of(*tables: NumberTable) -> Scene:
    step = ExplainedStep("A step", "a = b", "words " * 60, tables)
    return explained(Explanation("topic", "Title", "Lead.", (step,)))


def texts(scene: Scene) -> list[str]:
    return [item.text for item in scene.items if isinstance(item, Text)]


@pytest.mark.parametrize(
    "explanation",
    [
        explain_lecture(),
        explain_masks(),
        explain_normalisation(),
        explain_positions(9, 6),
        explain_scores(),
    ],
    ids=lambda explanation: explanation.topic,
)
def test_every_topic_is_drawn_within_its_picture(explanation: Explanation) -> None:
    scene = explained(explanation)
    for step in explanation.steps:
        assert step.title in texts(scene)
        assert {table.name for table in step.tables} <= set(texts(scene))
    for item in scene.items:
        if isinstance(item, Heat | Rectangle):
            assert item.x >= 0
            assert item.x + item.width <= scene.width
            assert item.y + item.height <= scene.height
        if isinstance(item, Text) and item.anchor == "start":
            assert item.x + text_width(item.text, item.size) <= scene.width + 1
    assert render(scene, "svg") == render(explained(explanation), "svg")


def test_the_lectures_numbers_stand_in_their_cells() -> None:
    said = texts(explained(explain_lecture()))
    for number in ("112", "96", "88", "120", "0.88", "0.12"):
        assert number in said


def test_strange_numbers_are_named_and_not_shaded() -> None:
    scene = of(NumberTable("t", ("r",), ("a", "b", "c"), ((-math.inf, math.nan, -0.001),)))
    assert [text for text in texts(scene) if text in ("-∞", "NaN", "0.00")] == ["-∞", "NaN", "0.00"]
    (heat,) = [item for item in scene.items if isinstance(item, Heat)]
    np.testing.assert_allclose(heat.values, [[0, 0, -0.001]])


def test_large_tables_are_shades_without_numbers() -> None:
    cells = tuple(tuple(0.25 for _ in range(300)) for _ in range(50))
    scene = of(
        NumberTable("t", tuple(map(str, range(50))), tuple(map(str, range(300))), cells, "share")
    )
    assert "0.25" not in texts(scene)
    (heat,) = [item for item in scene.items if isinstance(item, Heat)]
    assert heat.values.shape == (50, 300)
    assert (heat.low, heat.high, heat.ramp) == (0.0, 1.0, "weights")
    assert heat.x + heat.width <= scene.width


def test_bars_are_as_long_as_their_shares() -> None:
    scene = of(NumberTable("t", ("a", "b"), ("p",), ((0.8,), (0.2,)), "bars", decimals=3, focus=0))
    bars = [item.width for item in scene.items if isinstance(item, Rectangle)]
    assert bars[0] == pytest.approx(4 * bars[1])
    assert {"0.800", "0.200"} <= set(texts(scene))


def test_the_row_that_is_followed_is_outlined() -> None:
    scene = of(NumberTable("t", ("a", "b", "c"), ("x",), ((1.5,), (2.5,), (3.5,)), focus=1))
    (frame,) = [item for item in scene.items if isinstance(item, Rectangle)]
    (heat,) = [item for item in scene.items if isinstance(item, Heat)]
    assert frame.y == pytest.approx(heat.y + heat.height / 3)


def test_tables_of_one_height_stand_side_by_side() -> None:
    small = [NumberTable(name, ("a", "b"), ("x",), ((1.0,), (2.0,))) for name in ("one", "two")]
    tall = NumberTable("three", ("a", "b", "c"), ("x",), ((1.0,), (2.0,), (3.0,)))
    scene = of(*small, tall)
    at = {item.text: item for item in scene.items if isinstance(item, Text)}
    assert at["one"].y == at["two"].y < at["three"].y
    assert at["one"].x == at["three"].x < at["two"].x


def test_lines_are_broken_between_words_and_formulas_stay_apart() -> None:
    step = ExplainedStep("A step", "a = b    c = d", "some words " * 60)
    scene = explained(Explanation("topic", "Title", "Lead.", (step,)))
    assert "a = b    c = d" in texts(scene)
    lines = [line for line in texts(scene) if "some" in line or "words" in line]
    assert len(lines) > 1
    assert " ".join(lines).split() == ["some", "words"] * 60
