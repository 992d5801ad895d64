"""An explanation drawn: every step is there, every number in its cell, and nothing sticks out."""

import math

import numpy as np
import pytest
from matplotlib.collections import PatchCollection, QuadMesh
from matplotlib.image import AxesImage
from matplotlib.text import Text

from regard.inspection.figures import DrawnFigure
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


def of(*tables: NumberTable) -> DrawnFigure:
    step = ExplainedStep("A step", "a = b", "words " * 60, tables)
    return explained(Explanation("topic", "Title", "Lead.", (step,)))


def lines(drawn: DrawnFigure) -> list[Text]:
    (axes,) = drawn.figure.axes
    return list(axes.texts)


def texts(drawn: DrawnFigure) -> list[str]:
    return [one.get_text() for one in lines(drawn)]


def heat_of(drawn: DrawnFigure) -> QuadMesh | AxesImage:
    (found,) = drawn.figure.findobj(lambda one: isinstance(one, QuadMesh | AxesImage))
    return found


def boxes(drawn: DrawnFigure) -> list[tuple[float, float, float, float]]:
    """Left, top, width and height of all that is outlined or filled."""
    paths = [one for all_ in drawn.figure.findobj(PatchCollection) for one in all_.get_paths()]
    return [path.get_extents().bounds for path in paths]


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
    drawn = explained(explanation)
    width, height = drawn.size
    for step in explanation.steps:
        assert step.title in texts(drawn)
        assert {table.name for table in step.tables} <= set(texts(drawn))
    for left, top, wide, tall in boxes(drawn):
        assert left >= 0
        assert top >= 0
        assert left + wide <= width
        assert top + tall <= height
    for mesh in drawn.figure.findobj(QuadMesh):
        corners = mesh.get_coordinates().reshape(-1, 2)
        assert (corners >= 0).all()
        assert (corners <= (width, height)).all()
    for one in lines(drawn):
        before = {"left": 0.0, "center": 0.5, "right": 1.0}[one.get_ha()]
        start = one.get_position()[0] - before * one.length
        assert start >= 0
        assert start + one.length <= width
    assert drawn.to_bytes("svg") == explained(explanation).to_bytes("svg")


def test_the_lectures_numbers_stand_in_their_cells() -> None:
    said = texts(explained(explain_lecture()))
    for number in ("112", "96", "88", "120", "0.88", "0.12"):
        assert number in said


def test_strange_numbers_are_named_and_not_shaded() -> None:
    drawn = of(NumberTable("t", ("r",), ("a", "b", "c"), ((-math.inf, math.nan, -0.001),)))
    assert [text for text in texts(drawn) if text in ("-∞", "NaN", "0.00")] == ["-∞", "NaN", "0.00"]
    np.testing.assert_allclose(heat_of(drawn).get_array(), [[0, 0, -0.001]])


def test_large_tables_are_shades_without_numbers() -> None:
    cells = tuple(tuple(0.25 for _ in range(300)) for _ in range(50))
    drawn = of(
        NumberTable("t", tuple(map(str, range(50))), tuple(map(str, range(300))), cells, "share")
    )
    assert "0.25" not in texts(drawn)
    heat = heat_of(drawn)
    assert heat.get_array().shape == (50, 300)
    assert heat.get_clim() == (0.0, 1.0)
    assert heat.get_cmap().name == "light weights"
    assert heat.get_extent()[1] <= drawn.size[0]


def test_bars_are_as_long_as_their_shares() -> None:
    drawn = of(NumberTable("t", ("a", "b"), ("p",), ((0.8,), (0.2,)), "bars", decimals=3, focus=0))
    bars = [width for _, _, width, _ in boxes(drawn)]
    assert bars[0] == pytest.approx(4 * bars[1])
    assert {"0.800", "0.200"} <= set(texts(drawn))


def test_the_row_that_is_followed_is_outlined() -> None:
    drawn = of(NumberTable("t", ("a", "b", "c"), ("x",), ((1.5,), (2.5,), (3.5,)), focus=1))
    ((_, top, _, _),) = boxes(drawn)
    rows = heat_of(drawn).get_coordinates()[:, 0, 1]
    assert top == pytest.approx(rows[1])


def test_tables_of_one_height_stand_side_by_side() -> None:
    small = [NumberTable(name, ("a", "b"), ("x",), ((1.0,), (2.0,))) for name in ("one", "two")]
    tall = NumberTable("three", ("a", "b", "c"), ("x",), ((1.0,), (2.0,), (3.0,)))
    at = {one.get_text(): one.get_position() for one in lines(of(*small, tall))}
    assert at["one"][1] == at["two"][1] < at["three"][1]
    assert at["one"][0] == at["three"][0] < at["two"][0]


def test_lines_are_broken_between_words_and_formulas_stay_apart() -> None:
    step = ExplainedStep("A step", "a = b    c = d", "some words " * 60)
    drawn = explained(Explanation("topic", "Title", "Lead.", (step,)))
    assert "a = b    c = d" in texts(drawn)
    assert "text{white-space:pre}" in drawn.to_bytes("svg").decode()
    broken = [line for line in texts(drawn) if "some" in line or "words" in line]
    assert len(broken) > 1
    assert " ".join(broken).split() == ["some", "words"] * 60
