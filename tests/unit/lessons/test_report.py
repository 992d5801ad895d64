"""The report says all in two languages, and what it was given is text."""

import json
import re
from dataclasses import replace

import pytest

from regard.corpora import CORPORA
from regard.inspection.looking import Looking
from regard.lessons.antecedents import Reading, ReadingScore
from regard.lessons.report import (
    PROSE,
    Contents,
    PronounLook,
    PronounScore,
    ShownSentence,
    SplitScore,
    TrainingSummary,
    document,
    name_pair,
    write_page,
)

EVIL = '<script>alert("1")</script>&\''
LOOKING = Looking((EVIL, "it"), ("a", EVIL, "b"), ((0.2, 0.8, 0.0), (0.0, 0.3, 0.7)), ((1, 2),), 1)
SCORE = ReadingScore(Reading("cross", 1, 2, "translation"), 0.25, 0.75, 0.5, 0.25, 9)
CONTENTS = Contents(
    title=EVIL,
    trained=TrainingSummary(
        EVIL,
        EVIL,
        EVIL,
        123_456,
        2,
        1,
        64,
        4,
        90,
        1_000,
        61.0,
        1234.5,
        ((10, 5.0), (90, 2.5)),
        ((50, 3.0),),
    ),
    scores=(
        SplitScore("test", 40, 12.34, 23.45, 0.125, EVIL),
        SplitScore("combinations", 30, 5.0, 6.0, 0.0, EVIL),
    ),
    pronouns=PronounScore(4, 3, {"elle": (1, 0), "il": (3, 3)}),
    sentences=(ShownSentence(EVIL, EVIL, EVIL), ShownSentence("它", "it", EVIL)),
    alignment=LOOKING,
    alignment_layer=3,
    looks=(PronounLook("it", EVIL, EVIL, EVIL, LOOKING, LOOKING, EVIL, EVIL),),
    valid_reading=SCORE,
    test_reading=replace(SCORE, n=11, share=0.875),
    control=replace(SCORE, n=11, share=0.52),
    needs_antecedent=True,
    commands=(("translate", EVIL), ("look", "b"), ("train", "c")),
)


def words(said: object, place: int) -> str:
    """All that is said somewhere in a document, in the language of that place."""
    if isinstance(said, str):
        return f"{said}\n"
    if isinstance(said, dict):
        return "".join(words(one, place) for one in said.values())
    if isinstance(said, tuple | list):
        if len(said) == 2 and all(isinstance(one, list | str) and _is_text(one) for one in said):
            return words_of(said[place])
        return "".join(words(one, place) for one in said)
    return ""


def _is_text(one: list | str) -> bool:
    styles = ("plain", "code", "b", "i")
    return isinstance(one, str) or all(isinstance(part, list) and part[0] in styles for part in one)


def words_of(parts: list | str) -> str:
    return f"{parts}\n" if isinstance(parts, str) else "".join(part[1] for part in parts) + "\n"


@pytest.fixture(scope="module")
def told() -> tuple[str, str]:
    """Everything that the report says, in English and in Chinese."""
    found = document(CONTENTS)
    return words(found, 0), words(found, 1)


def test_no_word_that_was_given_has_a_style() -> None:
    found = json.dumps(document(CONTENTS), ensure_ascii=False)
    assert found.count(json.dumps(EVIL)[1:-1]) >= 10
    styled = document(replace(CONTENTS, title="<b>bold</b>"))["title"]
    assert styled[0] == [["plain", "A translator, <b>bold</b>"]]


def test_the_page_is_the_viewer_with_the_report() -> None:
    html = write_page(CONTENTS)
    assert html.count("<script>alert") == 0
    held = re.search(r'id="data">(.*?)</script>', html, re.DOTALL)
    assert held is not None
    data = json.loads(held[1])
    assert data["start"] == "#/report"
    assert data["report"] == json.loads(json.dumps(document(CONTENTS)))


@pytest.mark.parametrize(
    ("title", "english", "chinese"),
    [
        ("zh-en", "Chinese to English", "中文到英文"),
        ("en-fr", "English to French", "英文到法文"),
        ("dates", "dates", "dates"),
    ],
)
def test_languages_are_called_by_their_names(title: str, english: str, chinese: str) -> None:
    found = document(replace(CONTENTS, title=title))["title"]
    assert found == (
        [["plain", f"A translator, {english}"]],
        [["plain", f"一个翻译模型：{chinese}"]],
    )


def test_every_pair_of_the_phrasebook_has_a_name() -> None:
    for pair in CORPORA["phrasebook"].pairs:
        assert all("-" not in name for name in name_pair(pair)), pair


def test_layers_and_heads_are_counted_from_0(told: tuple[str, str]) -> None:
    assert "Decoder layer 1, head 2 (both counted from 0)" in told[0]
    assert "解码器第 1 层，第 2 头（都从 0 数起）" in told[1]


@pytest.mark.parametrize(
    ("reading", "name"),
    [
        (Reading("encoder", 0, None, "adjective"), "Encoder layer 0 (counted from 0), mean of"),
        (Reading("cross", None, None, "translation"), "Decoder, rollout through all layers"),
    ],
)
def test_means_and_rollouts_have_names(reading: Reading, name: str) -> None:
    score = replace(SCORE, reading=reading)
    assert name in words(document(replace(CONTENTS, valid_reading=score)), 0)


def test_the_reading_stands_beside_its_control(told: tuple[str, str]) -> None:
    for text in told:
        for number in ("88 %", "52 %", "50 %", "0.25"):
            assert number in text, number


def test_an_undertrained_model_is_said_to_be_one(told: tuple[str, str]) -> None:
    assert "90 of 1,000 updates" in told[0]
    trained = replace(CONTENTS.trained, updates=1_000)
    assert "ndertrained" not in words(document(replace(CONTENTS, trained=trained)), 0)


def test_numbers_are_there(told: tuple[str, str]) -> None:
    for text in told:
        for number in ("12.34", "12.5 %", "75.0 %", "1:01", "123,456", "0.12 M"):
            assert number in text, number
        assert "elle 0/1, il 3/3" in text


def test_both_languages_say_all(told: tuple[str, str]) -> None:
    english = told[0].replace("它", "")  # a sentence that was given
    assert re.search("[\u4e00-\u9fff]", english) is None
    assert len(re.findall("[\u4e00-\u9fff]", told[1])) > 300
    for english, chinese in PROSE.values():
        assert set(re.findall(r"{\w+}", english)) == set(re.findall(r"{\w+}", chinese))
        for text in (english, chinese):
            assert "<" not in re.sub(r"<(code|i|b)>[^<]*</\1>", "", text)


def test_without_pronouns_and_curves() -> None:
    bare = replace(
        CONTENTS,
        trained=replace(
            CONTENTS.trained, training_curve=(), validation_curve=(), tokens_a_second=None
        ),
        pronouns=None,
        looks=(),
        valid_reading=None,
        test_reading=None,
        control=None,
    )
    found = document(bare)
    kinds = {block["kind"] for section in found["sections"] for block in section["blocks"]}
    assert not kinds & {"lines", "curves"}
    assert "looks at" not in words(found, 0)


def test_the_json_has_what_is_worked_out() -> None:
    found = json.loads(json.dumps(CONTENTS.to_json(), allow_nan=False))
    assert [one["is_right"] for one in found["sentences"]] == [True, False]
    assert found["pronouns"]["accuracy"] == found["pronouns"]["guessing"] == 0.75
    assert found["alignment"]["weights"][1] == [0.0, 0.3, 0.7]
