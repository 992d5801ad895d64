"""Shades: attention among words in the terminal."""

from regard.cli.demo.shades import matrix, shade
from regard.inspection.looking import Looking


def test_shades_grow() -> None:
    assert "".join(map(shade, (0.0, 0.19, 0.2, 0.5, 0.79, 0.8, 1.0))) == "  ░▒▓██"


def test_a_matrix_counts_wide_characters() -> None:
    looking = Looking(
        ("the", "动物"), ("这只", "animal"), ((1.0, 0.0), (0.3, 0.6)), ((0, 0), (1, 1))
    )
    assert [line.plain for line in matrix(looking, 80)] == [
        "     这只 animal",
        " the [██]",
        "动物  ░░  [▓▓]",
    ]


def test_a_matrix_narrows_its_columns() -> None:
    looking = Looking(("a",), ("remarkable", "extraordinary"), ((0.5, 0.5),))
    assert max(line.cell_len for line in matrix(looking, 16)) <= 16
