"""`regard explain` as typed: what it prints, what it refuses."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from regard.cli import main

TOPICS = ("lecture", "scores", "masks", "positions", "normalisation", "sentence")
CHINESE = "这只动物没有过马路，因为它太累了"
Captured = pytest.CaptureFixture[str]


def run(capture: Captured, *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main(["explain", *arguments])
    out, err = capture.readouterr()
    return int(left.value.code or 0), out, err


@pytest.fixture(autouse=True)
def _eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_the_topics_are_listed(capsys: Captured, arguments: tuple[str, ...]) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, err) == (0, "")
    assert all(topic in out for topic in TOPICS)


@pytest.mark.parametrize("topic", TOPICS)
def test_plain_text_fits_and_holds_no_escapes(capsys: Captured, topic: str) -> None:
    code, out, err = run(capsys, topic)
    assert (code, err) == (0, "")
    assert "\x1b" not in out
    lines = out.splitlines()
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line != line.rstrip()] == []


@pytest.mark.parametrize("topic", TOPICS)
def test_json_is_all_that_is_printed(capsys: Captured, topic: str) -> None:
    code, out, err = run(capsys, topic, "--json")
    assert (code, err) == (0, "")
    explained = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    assert explained["topic"] == topic
    assert all(step["title"] and step["formula"] for step in explained["steps"])


def test_the_lecture(capsys: Captured) -> None:
    _, out, _ = run(capsys, "lecture")
    for row in ("112       96", "88      120", "14       12", "0.88     0.12", "0.02     0.98"):
        assert row in out


def test_a_chinese_word_is_followed(capsys: Captured) -> None:
    _, out, _ = run(capsys, "sentence", CHINESE, "--word", "它", "--layer", "1", "--head", "3")
    assert "“它” through layer 1, head 3" in out
    assert "untrained" in out
    assert "▸ 它" in out
    _, by_default, _ = run(capsys, "sentence", CHINESE, "--layer", "1", "--head", "3")
    _, by_place, _ = run(capsys, "sentence", CHINESE, "--word", "12", "--layer", "1", "--head", "3")
    assert out == by_default == by_place


@pytest.mark.parametrize(
    ("text", "word"),
    [("I am tired.", "tired"), ("我累了。", "了"), ("?!", "!"), ("it is so", "it")],
)
def test_a_word_is_followed_rather_than_a_sign(capsys: Captured, text: str, word: str) -> None:
    _, out, _ = run(capsys, "sentence", text)
    assert f"“{word}” through" in out


def test_the_help_says_what_is_taken_when_nothing_is_given(capsys: Captured) -> None:
    _, out, _ = run(capsys, "sentence", "--help")
    for default in ("it, 它, or the last", "a fresh, untrained model"):
        assert default in out


def test_whole_numbers_of_the_lecture_are_printed_whole(capsys: Captured) -> None:
    _, out, _ = run(capsys, "normalisation")
    row = next(line.split() for line in out.splitlines() if "2.16" in line)
    assert row == ["feature", "2", "2.00", "2.16", "2.65", "3", "3"]


def test_wide_characters_line_up(capsys: Captured) -> None:
    _, out, _ = run(capsys, "sentence", "它 it", "--word", "0")
    rows = [line for line in out.splitlines() if line.startswith(("   ▸ 它 ", "     it "))]
    # 它 takes two cells and one character, so its line is one character shorter.
    assert len(rows[0]) + 1 == len(rows[1])


def test_a_repeated_word_says_where_else_it_stands(capsys: Captured) -> None:
    _, out, _ = run(capsys, "sentence", "so it is so", "--word", "so")
    assert "'so' stands also at 3: --word 3." in " ".join(out.split())


def test_long_sentences_are_shortened_on_the_screen_only(capsys: Captured) -> None:
    text = " ".join(f"w{i}" for i in range(512))
    code, out, _ = run(capsys, "sentence", text, "--word", "w300", "--width", "4", "--heads", "1")
    assert code == 0
    assert len(out.splitlines()) < 800
    assert "w300" in out


def test_signs_that_move_the_cursor_are_not_printed(capsys: Captured) -> None:
    code, out, _ = run(capsys, "sentence", "a \x1b[31m [bold]b[/bold] \x07", "--word", "a")
    assert code == 0
    assert not {"\x1b", "\x07"} & set(out)
    assert "bold" in out


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("lectur",),
            "there is no topic 'lectur' to explain. Did you mean lecture? "
            "The topics are lecture, scores, masks, positions, normalisation, sentence",
        ),
        (
            ("xyz",),
            "there is no topic 'xyz' to explain. "
            "The topics are lecture, scores, masks, positions, normalisation, sentence",
        ),
        (
            ("z" * 5000,),
            f"there is no topic '{'z' * 40}…' to explain. "
            "The topics are lecture, scores, masks, positions, normalisation, sentence",
        ),
        (
            ("sentence", "a dog", "--word", "z" * 5000),
            f"the sentence has no word '{'z' * 40}…': choose one of a dog, or a place from 0 to 1",
        ),
        (
            ("sentence", "--model", "m" * 300),
            "the model folder cannot be read: File name too long; give another path",
        ),
        (
            ("masks", "--window", "99999999999999999999"),
            "a window to look at reaches 0 to 64 places, not 99999999999999999999",
        ),
        (
            ("sentence", "--width", "10", "--heads", "3"),
            "d_model = 10 cannot be divided among n_heads = 3: "
            "choose a width that is a multiple of the number of heads",
        ),
        (("sentence", "--heads", "0"), "--heads is a number from 1 to 64, not 0"),
        (("sentence", "--layer", "2"), "there is no layer 2: this model has 2, counted 0 to 1"),
        (("sentence", "--head", "4"), "there is no head 4: this model has 4, counted 0 to 3"),
        (
            ("sentence", "a dog", "--step", "12"),
            "there is no step 12: the translation takes 12, counted 0 to 11",
        ),
        (
            ("sentence", "--save", "x.gif"),
            "a picture cannot be saved as 'x.gif': end its name in .svg, .png, .pdf or .html",
        ),
        (
            ("sentence", "a dog", "--word", "cat"),
            "the sentence has no word 'cat': choose one of a dog, or a place from 0 to 1",
        ),
        (("sentence", " \t "), "the sentence is empty: give at least one word to look at"),
        (
            ("sentence", "word " * 513),
            "the sentence has 513 words and explain sentence takes up to 512: give a part of it",
        ),
        (
            ("sentence", "a" * 101),
            "the sentence has a word of 101 letters and explain sentence takes up to 100: "
            "put spaces between words",
        ),
        (
            ("sentence", "bad \udcff"),
            "the argument 'bad \\xff': byte 5 (0xFF) is not UTF-8. Convert it, for example: iconv "
            "-f ISO-8859-1 -t UTF-8",
        ),
        (
            ("sentence", "--model", "m", "--width", "8"),
            "--width is for a fresh model; the one in m has its own: leave it out",
        ),
        (("scores", "--seed", "-1"), "a seed is a whole number from 0 to 2⁶³ - 1, not -1"),
        (("masks", "--window", "-1"), "a window's reach is 0 or more places, not -1"),
        (
            ("positions", "--save", "x.gif"),
            "a picture cannot be saved as 'x.gif': end its name in .svg, .png or .pdf",
        ),
    ],
)
def test_refused_in_one_sentence(
    capsys: Captured, arguments: tuple[str, ...], sentence: str
) -> None:
    assert run(capsys, *arguments) == (2, "", f"regard: {sentence}\n")


@pytest.mark.parametrize("is_json", [False, True])
def test_the_picture_is_saved(capsys: Captured, tmp_path: Path, is_json: bool) -> None:
    place = tmp_path / "places.svg"
    more = ("--json",) if is_json else ()
    code, out, err = run(
        capsys, "positions", "--length", "7", "--width", "6", "--save", str(place), *more
    )
    assert (code, err) == (0, "")
    assert place.read_text().startswith("<svg")
    assert is_json or f"The picture is in {place}." in out.replace("\n", "")


@pytest.mark.parametrize("ending", ["svg", "html"])
def test_all_steps_of_a_sentence_are_drawn(capsys: Captured, tmp_path: Path, ending: str) -> None:
    place = tmp_path / f"steps.{ending}"
    code, out, err = run(capsys, "sentence", "它 is tired", "--save", str(place), "--step", "1")
    assert (code, err) == (0, "")
    assert f"The picture is in {place}." in out.replace("\n", "")
    drawn = place.read_text("utf-8")
    for title in ("Words become vectors", "Masked self-attention: weighted sum", "Arg-max"):
        assert title in drawn


def test_a_model_folder(capsys: Captured, tmp_path: Path) -> None:
    import torch

    from regard.config import Recipe, TransformerSection
    from regard.folder import save
    from regard.systems import build
    from regard.text import Words

    section = TransformerSection(
        d_model=12, n_heads=3, n_layers=1, d_feedforward=20, norm="pre", dropout=0.0
    )
    tokenizer = Words(["it", "was", "tired"])
    torch.manual_seed(3)
    model = build(section, len(tokenizer), len(tokenizer))
    save(tmp_path / "m", model, Recipe(name="little", model=section), tokenizer, tokenizer)
    code, out, err = run(capsys, "sentence", "it was so tired", "--model", str(tmp_path / "m"))
    assert (code, err) == (0, "")
    assert "The model little in" in out
    assert "x + MultiHead( norm( x ) )" in out
    assert "u = y + MultiHead( norm( y ), m )" in out
    assert "the result, after one more norm, predicts the next token" in " ".join(out.split())
    titles = ("The decoder, step 0", "Masked self-attention", "Attention to the source", "Arg-max")
    places = [out.index(title) for title in titles]
    assert places == sorted(places)
    assert "The model does not know 1 of the 4 words." in " ".join(out.split())
    assert "untrained" not in out


def test_a_terminal_without_unicode_still_prints() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "regard", "explain", "normalisation"],
        env=os.environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"misprint" in done.stdout


def test_device_and_threads_of_a_sentence_are_chosen(capsys: Captured) -> None:
    import torch

    before = torch.get_num_threads()
    try:
        code, out, _ = run(capsys, "sentence", "--json", "--device", "cpu", "--threads", "2")
        assert (code, torch.get_num_threads()) == (0, 2)
    finally:
        torch.set_num_threads(before)
    assert out == run(capsys, "sentence", "--json")[1]
    code, _, err = run(capsys, "sentence", "--device", "tpu")
    assert code == 2
    assert "--device tpu is not known" in err
