"""The table and the heat map of the terminal: aligned in any script, as wide as there is room."""

import io
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from regard.cli.heat import bar, heat, heat_map, kept, percent, shade, with_gaps
from regard.cli.terminal import Column, beside, clean, cut, open_console, print_lines, say, table
from regard.text.tokens import Label

# Latin, Chinese, combining marks, emoji alone and joined, blanks, controls, right to left.
SIGNS = "ab0 .é\u0301动物，ㅎ한\u200d\u200c\ufe0f👩🚀❤🇫🇷\u3000\xa0\t\x1b\x07\u202eשא"
texts = st.text(st.sampled_from(SIGNS) | st.characters(), max_size=30)
words = st.text(st.sampled_from(SIGNS), max_size=24)


def labels(*names: str) -> list[Label]:
    return [Label(name, (i,), name.startswith("<")) for i, name in enumerate(names)]


def plain(lines: list[Text]) -> list[str]:
    return [line.plain.rstrip() for line in lines]


class TestTable:
    def test_words_stand_left_and_numbers_right(self) -> None:
        lines = table(
            [Column("model"), Column("BLEU", "right"), Column("kind")],
            [("猫", "9.50", "luong"), ("a", "12.25", "")],
            80,
        )
        assert plain(lines) == ["model   BLEU  kind", "猫      9.50  luong", "a      12.25"]

    @given(
        st.lists(st.tuples(texts, words, texts), min_size=1, max_size=4),
        st.integers(1, 90),
        st.booleans(),
    )
    def test_all_lines_are_of_one_width_and_fit(
        self, rows: list[tuple[str, str, str]], width: int, wraps: bool
    ) -> None:
        columns = [Column("名称"), Column("a head", "right"), Column("text", wraps=wraps)]
        lines = table(columns, rows, width)
        assert len({cell_len(line.plain) for line in lines}) == 1
        assert cell_len(lines[0].plain) <= width
        assert all(cell_len(line.plain) == line.cell_len for line in lines)

    @given(st.lists(st.tuples(texts, words), min_size=1, max_size=4))
    def test_nothing_is_cut_where_there_is_room(self, rows: list[tuple[str, str]]) -> None:
        lines = table([Column(), Column(align="right")], rows, 10_000)
        # Each row is as many lines as its tallest cell, which holds all that was given.
        said = "".join(line.plain for line in lines)
        for row in rows:
            for cell in row:
                assert all(part in said for part in map(clean, cell.split("\n")))

    def test_words_are_cut_in_their_middle_and_numbers_never(self) -> None:
        columns = [Column("model"), Column("parameters", "right")]
        lines = table(columns, [("runs/english-to-french/model", "12,345,678")], 28)
        assert plain(lines) == ["model             parameters", "runs/eng…h/model  12,345,678"]

    def test_heads_give_way_to_numbers(self) -> None:
        columns = [Column("model"), *(Column("sentences a second", "right") for _ in range(3))]
        assert plain(table(columns, [("m", "1.5", "2.5", "3.5")], 34)) == [
            "model  sent…ond  sent…ond  sen…ond",
            "m           1.5       2.5      3.5",
        ]

    def test_columns_without_room_give_way_to_an_ellipsis(self) -> None:
        columns = [Column("x"), *(Column(f"h{i}", "right") for i in range(9))]
        lines = table(columns, [("word", *(f"{i}.25" for i in range(9)))], 30)
        assert plain(lines) == ["x       h0    h1  …    h8", "word  0.25  1.25  …  8.25"]

    def test_prose_goes_on_below_itself(self) -> None:
        rows = [("loss", "it fell from seven to one"), ("bleu", "动物没有过马路动物没有过马路")]
        assert plain(table([Column(), Column(wraps=True)], rows, 20)) == [
            "loss  it fell from",
            "      seven to one",
            "bleu  动物没有过马路",
            "      动物没有过马路",
        ]

    def test_lists_are_cut_after_a_whole_part(self) -> None:
        parts = tuple(Text(word) for word in ("cat 50", "dog 30", "bird 20"))
        assert plain(table([Column()], [(parts,)], 16)) == ["cat 50 dog 30 …"]
        assert plain(table([Column()], [(parts,)], 21)) == ["cat 50 dog 30 bird 20"]

    def test_rows_may_end_early_and_cells_have_several_lines(self) -> None:
        lines = table([Column("a\nb"), Column("c")], [("1\n2", "3"), ("4",)], 20)
        assert plain(lines) == ["a", "b  c", "1  3", "2", "4"]

    def test_blocks_stand_beside_each_other(self) -> None:
        left, right = [Text("动物"), Text("it  ")], [Text("x")]
        assert plain(beside([left, right], 2)) == ["动物  x", "it"]


class TestCut:
    @given(texts, st.integers(0, 40))
    def test_it_fits_and_keeps_both_ends(self, text: str, width: int) -> None:
        whole = Text(clean(text))
        found = cut(whole, width)
        assert found.cell_len <= width or found.plain == whole.plain == ""
        if found.plain != whole.plain and width:
            head, _, tail = found.plain.partition("…")
            assert whole.plain.startswith(head)
            assert whole.plain.endswith(tail)

    def test_signs_that_belong_together_stay_together(self) -> None:
        assert cut(Text("👩‍🚀👩‍🚀👩‍🚀"), 5).plain == "👩‍🚀…👩‍🚀"
        assert cut(Text("e\u0301e\u0301e\u0301e\u0301"), 3).plain == "e\u0301…e\u0301"
        assert cut(Text("动物没有"), 6).plain == "动…有"

    def test_styles_stay_with_their_letters(self) -> None:
        text = Text.assemble(("abc", "bold"), "defghi", ("xyz", "italic"))
        found = cut(text, 5)
        assert found.plain == "ab…yz"
        assert [str(span.style) for span in found.spans if span.style] == ["bold", "italic"]


class TestHeatMap:
    def test_a_cell_stands_below_its_word(self) -> None:
        values = [[0.874, 0.004, 0.122], [0.0, 1.0, 0.0]]
        drawn = heat_map(_percents(values), labels("a", "bb"), labels("x", "机器", "yes"), 60)
        assert plain(drawn.lines) == ["      x 机器  yes", " a   87    ·   12", "bb    ·  100    ·"]
        assert len({line.cell_len for line in drawn.lines}) == 1

    @given(
        st.lists(words, min_size=1, max_size=5),
        st.lists(words, min_size=1, max_size=30),
        st.integers(24, 120),
    )
    def test_lines_of_a_band_are_of_one_width_and_fit(
        self, rows: list[str], columns: list[str], width: int
    ) -> None:
        values = [[0.25] * len(columns)] * len(rows)
        drawn = heat_map(_percents(values), labels(*rows), labels(*columns), width)
        bands: list[list[int]] = [[]]
        for line in drawn.lines:
            bands += [] if line.plain else [[]]
            bands[-1] += [line.cell_len] if line.plain else []
        assert all(len(set(band)) == 1 for band in bands)
        assert max(map(max, bands)) <= width
        n_numbers = sum(line.plain.split().count("25") for line in drawn.lines)
        assert n_numbers >= (len(rows) - drawn.n_rows_left_out) * (
            len(columns) - drawn.n_columns_left_out
        )

    def test_columns_go_on_in_further_bands(self) -> None:
        names = labels(*(f"Wort{j:02}机" for j in range(23)))
        drawn = heat_map(_percents([[0.25] * 23] * 2), labels("a", "动物"), names, 44)
        assert drawn.n_columns_left_out == 0
        assert sum(not line.plain for line in drawn.lines) == 2

    def test_long_words_are_broken_and_cut_over_their_columns(self) -> None:
        columns = labels("because", "a", "incomprehensibilities", "x", "y", "z")
        drawn = heat_map(_percents([[0.1] * 6]), labels("r"), columns, 26)
        assert plain(drawn.lines)[:3] == [
            "  bec     inc",
            "  aus     o…t",
            "  e     a ies   x   y   z",
        ]

    def test_a_huge_map_says_what_it_leaves_out(self) -> None:
        many = labels(*(f"w{i}" for i in range(150)))
        drawn = heat_map(lambda i, j: Text("1"), many, many, 80)
        assert drawn.n_rows_left_out == 51
        assert drawn.n_columns_left_out > 0
        assert [line.plain.split()[0] for line in drawn.lines[-3:]] == ["w97", "…", "w149"]
        assert drawn.lines[-101].plain.split()[-2:] == ["…", "49"]  # below w1

    def test_the_row_in_focus_is_pointed_at(self) -> None:
        drawn = heat_map(_percents([[1.0], [0.0]]), labels("it", "动物"), labels("x"), 40, focus=1)
        assert plain(drawn.lines) == ["         x", "    it 100", "▸ 动物   ·"]

    def test_nothing_to_show(self) -> None:
        assert heat_map(_percents([]), [], [], 80).lines == []


def _percents(values: list[list[float]]):  # type: ignore[no-untyped-def]
    return lambda i, j: Text(percent(values[i][j]), shade(values[i][j]))


class TestSigns:
    def test_shades_grow_with_the_share(self) -> None:
        shades = [_brightness(share) for share in (0.0, 0.02, 0.1, 0.3, 0.7, 1.0)]
        assert shades == sorted(set(shades))
        assert _brightness(1.2) == _brightness(1.0)

    def test_shares_that_fall_are_cold(self) -> None:
        for share, is_warm in ((0.4, True), (-0.4, False)):
            colour = shade(share).bgcolor
            assert colour is not None
            assert colour.triplet is not None
            assert (colour.triplet.red > colour.triplet.blue) == is_warm
        assert heat(float("nan")).bgcolor is None

    @pytest.mark.parametrize(
        ("share", "said"),
        [(0.0, "·"), (0.0049, "·"), (-0.0049, "·"), (0.006, "1"), (-0.355, "-36"), (1.0, "100")],
    )
    def test_percents(self, share: float, said: str) -> None:
        assert percent(share) == said

    def test_bars_end_within_a_cell(self) -> None:
        assert [bar(share, 4).plain for share in (0.0, 0.25, 0.28, 1.0, 1.5)] == [
            "", "█", "█▏", "████", "████",
        ]  # fmt: skip

    def test_what_is_kept_of_many(self) -> None:
        assert kept(3, 3) == [0, 1, 2]
        assert kept(9, 5) == [0, 1, 2, None, 8]
        assert kept(9, 5, focus=5) == [0, 1, 2, None, 5, None, 8]
        assert with_gaps({2, 3}, 6) == [None, 2, 3, None]

    def test_signs_that_move_the_cursor_are_replaced_and_blanks_are_not(self) -> None:
        assert clean("a\x1b[31m\u202eb\t") == "a�[31m�b�"
        assert clean("它\u3000是\xa0x") == "它\u3000是\xa0x"
        assert clean("👩‍🚀 می‌خواهم x\u200d \u200d") == "👩‍🚀 می‌خواهم x� �"


class TestConsole:
    LINES = (Text("动物  ", "bold red"), Text("x" * 200))

    def printed(self, monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> str:
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda: is_terminal)
        monkeypatch.setattr(sys, "stdout", stream)
        print_lines(open_console(), self.LINES, 1)
        say("  " + "long prose " * 12)
        return stream.getvalue()

    @pytest.fixture(autouse=True)
    def _terminal(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("TERM", "xterm-256color")

    def test_a_pipe_gets_plain_text_that_is_neither_cut_nor_wrapped(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        prose = "  " + ("long prose " * 12).rstrip()
        expected = f" 动物\n {'x' * 200}\n{prose}\n"
        assert self.printed(monkeypatch, is_terminal=False) == expected

    def test_columns_say_how_wide_a_pipe_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("COLUMNS", "50")
        *_, first, second, third, last = self.printed(monkeypatch, is_terminal=False).split("\n")
        assert max(map(len, (first, second, third))) <= 50
        assert {line[:6] for line in (first, second, third)} == {"  long", "  pros"} | {third[:6]}
        assert last == ""

    def test_a_terminal_gets_colours(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert "\x1b[1;31m动物" in self.printed(monkeypatch, is_terminal=True)

    def test_no_color_is_plain(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("NO_COLOR", "1")
        assert "\x1b" not in self.printed(monkeypatch, is_terminal=True)


def _brightness(share: float) -> int:
    colour = shade(share).bgcolor
    assert colour is not None
    assert colour.triplet is not None
    return sum(colour.triplet)
