"""A plan is measured whole, or what is left out says why; the report puts it together."""

from typing import Any

import pytest

from regard.errors import SizeError
from regard.lessons.complexity import (
    MeasuredLayer,
    MemoryUse,
    Point,
    Skipped,
    Study,
    StudyPlan,
    expected_seconds,
    make_report,
    measuring,
    study,
)

PLAN: dict[str, Any] = {
    "lengths": (4, 6, 9),
    "widths": (2, 3),
    "reach": 2,
    "kernel": 3,
    "rounds": 2,
    "minutes": 1.0,
}
NAMES = ["self-attention", "recurrent", "convolutional", "restricted self-attention"]


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Times matter to no test."""
    monkeypatch.setattr(measuring, "SECONDS_TOGETHER", 0.0)


def plan(**changed: Any) -> StudyPlan:
    return StudyPlan(**{**PLAN, **changed})


class TestPlan:
    def test_lengths_grow_at_the_least_width_and_widths_at_the_middle_length(self) -> None:
        sizes = [(point.length, point.width) for point in plan().points[::4]]
        assert sizes == [(4, 2), (6, 2), (9, 2), (6, 3)]
        assert [point.kind.name for point in plan().points[:4]] == NAMES

    @pytest.mark.parametrize(
        ("changed", "sentence"),
        [
            ({"lengths": ()}, "the lengths are different whole numbers from 1, not ()"),
            ({"lengths": (4, 4)}, "the lengths are different whole numbers from 1, not (4, 4)"),
            ({"widths": (0, 4)}, "the widths are different whole numbers from 1, not (0, 4)"),
            (
                {"reach": 0},
                "a window that reaches 0 places sees no other place: choose 1 or more",
            ),
            *(
                (
                    {"kernel": kernel},
                    "a convolution that sees as many places before as after, and more than its "
                    f"own, is 3, 5, 7, … places wide, not {kernel}",
                )
                for kernel in (1, 4)
            ),
            (
                {"rounds": 0},
                "0 rounds within 1 minute measure nothing: choose 1 or more, and more than 0",
            ),
            (
                {"minutes": float("nan")},
                "2 rounds within nan minutes measure nothing: choose 1 or more, and more than 0",
            ),
        ],
    )
    def test_the_impossible_is_refused(self, changed: dict[str, Any], sentence: str) -> None:
        with pytest.raises(SizeError) as refused:
            plan(**changed)
        assert str(refused.value) == sentence


class TestStudy:
    def test_every_point_is_measured_in_every_round(self) -> None:
        found = Study(plan())
        progress = list(found.run())
        assert [one.n_done for one in progress] == list(range(1, 33))
        assert {one.n_all for one in progress} == {32}
        assert list(found.measured) == found.plan.points
        assert {one.n_rounds for one in found.measured.values()} == {2}
        assert not found.skipped
        first = {one.last.point: one.last for one in progress[:16]}
        for point, best in found.measured.items():
            before = first[point]
            assert isinstance(before, MeasuredLayer)
            assert best.seconds <= before.seconds

    def test_what_does_not_fit_into_memory_is_left_out(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(study, "free_bytes", lambda: 4000.0)
        found = Study(plan(lengths=(4, 6, 16), rounds=1))
        progress = list(found.run())
        assert progress[-1].n_done == progress[-1].n_all
        named = {(one.point.kind.name, one.point.length): one.reason for one in found.skipped}
        assert named["self-attention", 16] == (
            "it needs up to 0.00512 MB and 0.0032 MB may be used"
        )
        assert ("recurrent", 16) not in named
        assert set(found.measured).isdisjoint(one.point for one in found.skipped)

    def test_what_takes_too_long_is_left_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        now = [100.0]
        monkeypatch.setattr(study.time, "monotonic", lambda: now[0])
        monkeypatch.setattr(study.TimedRun, "memory", lambda self: MemoryUse(1, 2))

        def seconds(self: object) -> float:
            now[0] += 1.0
            return 0.5

        monkeypatch.setattr(study.TimedRun, "seconds", seconds)
        # Eight seconds: two sizes of each of four kinds, and nothing is left for the third.
        found = Study(plan(widths=(2,), lengths=(4, 8, 16), minutes=8.5 / 60))
        progress = list(found.run())
        assert [one.point.length for one in found.measured.values()] == [4] * 4 + [8] * 3
        reasons = [one.reason for one in found.skipped]
        assert reasons[0] == "it takes about 2 s and 1.5 s are left"
        assert len(reasons) == 5
        assert {one.n_rounds for one in found.measured.values()} == {1, 2}
        assert isinstance(progress[-1].last, MeasuredLayer)

    def test_expectation_follows_the_table(self) -> None:
        attention, recurrent = plan().kinds[:2]
        before = [
            MeasuredLayer(Point(attention, 10, 2), 1.0, MemoryUse(1, 1), 1),
            MeasuredLayer(Point(attention, 5, 2), 9.0, MemoryUse(1, 1), 1),
        ]
        assert expected_seconds(Point(attention, 30, 4), before) == pytest.approx(2 * 18.0)
        assert expected_seconds(Point(attention, 5, 1), before) == pytest.approx(2 * 1.0)
        assert expected_seconds(Point(recurrent, 30, 4), before) == 0.0


def test_a_report_fits_each_kind_by_its_own_points() -> None:
    wanted = plan(lengths=(64, 128, 256, 512), widths=(8, 16, 32))
    measured = [
        MeasuredLayer(
            point, 1e-9 * point.operations, MemoryUse(1, 100 * point.length + 3 * point.width**2), 1
        )
        for point in wanted.points
    ]
    left_out = [Skipped(wanted.points[-1], "no reason")]
    report = make_report(wanted, measured, left_out, lengths=(3, 4))
    assert [row.kind.name for row in report.rows] == NAMES
    for row in report.rows:
        n, d = row.kind.exponents
        assert row.time.with_length is not None
        assert row.time.with_width is not None
        assert row.memory.with_length is not None
        assert row.time.with_length.exponent == pytest.approx(n)
        assert row.time.with_length.sizes == (64, 128, 256, 512)
        assert row.time.with_width.exponent == pytest.approx(d)
        assert row.time.with_width.sizes == (8, 16, 32)
        assert row.memory.with_length.exponent == pytest.approx(1, abs=0.02)
        assert [one.length for one in row.structures] == [3, 4]
        assert len(row.points) == 6
    assert report.skipped == tuple(left_out)


def test_two_points_give_no_exponent() -> None:
    wanted = plan(lengths=(4, 6), rounds=1)
    found = Study(wanted)
    list(found.run())
    report = make_report(wanted, list(found.measured.values()), [], lengths=(3,))
    assert {row.time.with_length for row in report.rows} == {None}
