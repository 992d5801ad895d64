"""Heat maps and lists of the terminal: every line fits, every number is the right one."""

from pathlib import Path

import numpy as np
import pytest
import torch
from rich.cells import set_cell_size

from regard.cli.heat import percent
from regard.cli.look.change import named_heads
from regard.cli.look.choosing import Choices, find_trace, heads_of, remarks
from regard.cli.look.lists import looks_of_a_word, looks_of_rows, steps, weight_map
from regard.config import Recipe, TransformerSection, read_recipe
from regard.errors import UsageError
from regard.folder import save
from regard.inspection.figures import View
from regard.inspection.heads import Head
from regard.inspection.trace import Trace, table
from regard.systems import build, trace
from regard.text import Words

WORDS = Words(["ein", "Hund", "sieht", "die", "Katze", "机", "器", "."])


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Trace:
    section = TransformerSection(
        d_model=12, n_heads=3, n_layers=2, d_feedforward=20, dropout=0.0, tie="none"
    )
    torch.manual_seed(3)
    model = build(section, len(WORDS), len(WORDS))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(1.7)
    folder = tmp_path_factory.mktemp("look") / "tiny"
    save(folder, model, Recipe(name="tiny", model=section), WORDS, WORDS)
    return trace(folder, "ein Hund 机器 Xylophon .", "die Katze sieht die Katze")


def test_the_largest_of_a_row_is_marked(found: Trace) -> None:
    seen = table(found, "cross", 1)
    lines = weight_map(seen, 200, marks_largest=True).lines[-len(seen.rows) :]
    for i, line in enumerate(lines):
        assert line.plain.split()[1:] == [percent(float(weight)) for weight in seen.mean[i]]
        (marked,) = (span for span in line.spans if "underline" in str(span.style))
        words = line.plain[: marked.end].split()[1:]
        assert len(words) - 1 == seen.mean[i].argmax()


class TestLists:
    def test_a_word_lists_all_that_it_looks_at(self, found: Trace) -> None:
        seen = table(found, "cross", 1)
        lines = [line.plain.split() for line in looks_of_a_word(seen, 2, 80)]
        assert lines[0] == ["mean", "h0", "h1", "h2"]
        assert [line[0] for line in lines[1:]] == [label.text for label in seen.columns]
        for j, line in enumerate(lines[1:]):
            assert line[1] == percent(float(seen.mean[2, j]))
            assert line[2:5] == [percent(float(weight)) for weight in seen.weights[:, 2, j]]

    def test_heads_that_have_no_room_are_left_out(self, found: Trace) -> None:
        seen = table(found, "cross", 1)
        for width in (20, 44, 60):
            lines = looks_of_a_word(seen, 0, width)
            assert max(line.cell_len for line in lines) <= width
        assert "h0" not in looks_of_a_word(seen, 0, 20)[0].plain

    @pytest.mark.parametrize("top", [1, 2, 5])
    def test_rows_name_what_they_look_at_most_first(self, found: Trace, top: int) -> None:
        seen = table(found, "encoder", 0)
        for i, line in enumerate(looks_of_rows(seen, 200, top, None)):
            row, _, looks = line.plain.partition(" → ")
            assert row.strip() == seen.rows[i].text
            order = [
                j for j in np.argsort(-seen.mean[i], kind="stable")[:top] if seen.mean[i, j] >= 0.02
            ]
            expected = [f"{seen.columns[j].text} {percent(float(seen.mean[i, j]))}" for j in order]
            assert [part.strip() for part in looks.rstrip().split("   ")] == expected

    def test_rows_fit(self, found: Trace) -> None:
        for width in (24, 40):
            lines = looks_of_rows(table(found, "encoder", 0), width, 9, None)
            assert max(line.cell_len for line in lines) <= width
            assert any(line.plain.rstrip().endswith("…") for line in lines)

    def test_every_step_has_a_line(self, found: Trace) -> None:
        lines = [line.plain.split() for line in steps(found, View("strip"), 120)]
        assert [line[1] for line in lines[2:]] == ["die", "Katze", "sieht", "die", "Katze", "</s>"]
        first = found.steps[0]
        assert lines[2][2] == percent(float(np.exp(first.log_probability)))
        assert lines[2][3] == first.alternatives[0].text

    def test_steps_stand_under_their_headings_where_words_are_short(self, tmp_path: Path) -> None:
        words = Words(["我", "爱", "你"])
        recipe = read_recipe("gpt-tiny", ["model.n_layers=1", "model.d_model=8", "model.n_heads=2"])
        folder = save(tmp_path, build(recipe.model, 7, 7), recipe, words, words)
        _, head, *rows = steps(trace(str(folder), "我 爱", "你"), View("strip"), 80)
        edge = head.plain.index("%") + 1
        for row in rows:
            assert set_cell_size(row.plain, edge)[-1] in "0123456789·"
            assert set_cell_size(row.plain, edge + 1)[-1] == " "

    def test_steps_fit(self, found: Trace) -> None:
        for width in (50, 80):
            assert max(line.cell_len for line in steps(found, View("strip"), width)) <= width


class TestChoosing:
    def test_heads(self) -> None:
        assert heads_of(None) is None
        assert heads_of("2") == (2,)
        assert heads_of("3, 0,3") == (0, 3)
        with pytest.raises(UsageError) as error:
            heads_of("1;2")
        assert str(error.value) == (
            "--head '1;2' names no heads: give their numbers, for example --head 2 or --head 0,3"
        )

    @pytest.mark.parametrize(
        ("heads", "names"),
        [
            ([("cross", 0, 1)], "cross.0.1"),
            ([("cross", 1, h) for h in range(3)], "cross.1"),
            ([("encoder", y, h) for y in range(2) for h in range(3)], "encoder"),
            (
                [("cross", 0, 2), *(("decoder", 1, h) for h in range(3)), ("decoder", 0, 1)],
                "decoder.1, decoder.0.1, cross.0.2",
            ),
        ],
    )
    def test_whole_layers_have_one_name(
        self, found: Trace, heads: list[tuple[str, int, int]], names: str
    ) -> None:
        assert named_heads(found, [Head(*head) for head in heads]) == names

    def test_words_by_text_or_number(self, found: Trace) -> None:
        for word, row in (("KATZE", 1), ("3", 3), ("sieht", 2)):
            view = _choices(word=word).view(found, "matrix")
            assert view.word is not None
            assert view.table(found).row(view.word) == row

    def test_remarks(self, found: Trace) -> None:
        view = _choices(word="die").view(found, "matrix")
        assert remarks(found, view) == [
            "the model does not know Xylophon: read as unknown",
            "'die' stands also in row 3: --word 3",
        ]

    def test_a_text_that_is_no_text(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="there is no sentence to look at: regard look"):
            find_trace(tmp_path, None)
        with pytest.raises(UsageError, match="nothing: give a model folder, or a saved trace"):
            find_trace(tmp_path / "nothing", None)


def _choices(word: str | None = None) -> Choices:
    return Choices(None, None, None, None, word, False, False, None, None, False)
