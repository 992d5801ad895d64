"""The curve of a run in one line."""

from regard.cli.info import _bytes, sparkline


def test_a_curve_goes_from_its_highest_to_its_lowest() -> None:
    assert sparkline([8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]) == "█▇▆▅▄▃▂▁"
    assert sparkline([0.5, 2.5]) == "▁█"


def test_many_values_share_a_place_and_few_do_not_spread() -> None:
    assert sparkline([float(i // 10) for i in range(80)], 8) == "▁▂▃▄▅▆▇█"
    assert len(sparkline([1.0] * 1000, 48)) == 48
    assert len(sparkline([float(i) for i in range(7)], 48)) == 7


def test_a_level_curve_and_none_at_all() -> None:
    assert sparkline([3.0, 3.0, 3.0]) == "▁▁▁"
    assert sparkline([]) == ""


def test_sizes_of_files() -> None:
    assert [_bytes(n) for n in (2, 999, 1000, 10_440_544, 5e9)] == [
        "2 B",
        "999 B",
        "1.0 kB",
        "10.4 MB",
        "5.0 GB",
    ]
