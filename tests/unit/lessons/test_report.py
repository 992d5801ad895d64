"""The page is whole, says all in two languages, and shows what it was given as text."""

import json
import re
from dataclasses import replace
from html.parser import HTMLParser

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


class Reader(HTMLParser):
    """Reads the tags in order, and the text of each language."""

    VOID = ("meta", "input", "br")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.tags: list[str] = []
        self.text: dict[str | None, str] = {"en": "", "zh-Hans": "", None: ""}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID and not self.get_starttag_text().endswith("/>"):  # type: ignore[union-attr]
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        said = [a["lang"] for _, a in self.open if a.get("class") == "said"]
        self.text[said[-1] if said else None] += data


@pytest.fixture(scope="module")
def page() -> Reader:
    reader = Reader()
    reader.feed(write_page(CONTENTS))
    return reader


def test_the_page_is_whole(page: Reader) -> None:
    assert page.open == []
    assert page.tags.count("html") == page.tags.count("main") == page.tags.count("h1") == 1


def test_what_was_given_is_text(page: Reader) -> None:
    assert page.tags.count("script") == 1  # the page's own
    assert page.text[None].count(EVIL) >= 10


@pytest.mark.parametrize(
    ("title", "english", "chinese"),
    [
        ("zh-en", "Chinese to English", "中文到英文"),
        ("en-fr", "English to French", "英文到法文"),
        ("dates", "dates", "dates"),
    ],
)
def test_languages_are_called_by_their_names(title: str, english: str, chinese: str) -> None:
    written = write_page(replace(CONTENTS, title=title))
    assert f"<title>Regard: {english}</title>" in written
    assert f">A translator, {english}</span>" in written
    assert f">一个翻译模型：{chinese}</span></h1>" in written


def test_every_pair_of_the_phrasebook_has_a_name() -> None:
    for pair in CORPORA["phrasebook"].pairs:
        assert all("-" not in name for name in name_pair(pair)), pair


def test_layers_and_heads_are_counted_from_0(page: Reader) -> None:
    assert "Decoder layer 1, head 2 (both counted from 0)" in page.text["en"]
    assert "解码器第 1 层，第 2 头（都从 0 数起）" in page.text["zh-Hans"]


@pytest.mark.parametrize(
    ("reading", "name"),
    [
        (Reading("encoder", 0, None, "adjective"), "Encoder layer 0 (counted from 0), mean of"),
        (Reading("cross", None, None, "translation"), "Decoder, rollout through all layers"),
    ],
)
def test_means_and_rollouts_have_names(reading: Reading, name: str) -> None:
    score = replace(SCORE, reading=reading)
    assert name in write_page(replace(CONTENTS, valid_reading=score))


def test_the_reading_stands_beside_its_control(page: Reader) -> None:
    for language in ("en", "zh-Hans"):
        for number in ("88 %", "52 %", "50 %", "0.25"):
            assert number in page.text[language], number


def test_an_undertrained_model_is_said_to_be_one(page: Reader) -> None:
    assert "90 of 1,000 updates" in page.text["en"]
    trained = replace(CONTENTS.trained, updates=1_000)
    assert "ndertrained" not in write_page(replace(CONTENTS, trained=trained))


def test_nothing_is_fetched() -> None:
    assert not re.search(r"https?:|url\(|@import|src=", write_page(CONTENTS))


def test_numbers_are_there(page: Reader) -> None:
    for number in ("12.34", "12.5 %", "75.0 %", "1:01", "123,456", "0.12 M"):
        assert number in page.text[None], number
    for language in ("en", "zh-Hans"):
        assert "elle 0/1, il 3/3" in page.text[language]


def test_both_languages_say_all(page: Reader) -> None:
    assert re.search("[\u4e00-\u9fff]", page.text["en"]) is None
    assert len(re.findall("[\u4e00-\u9fff]", page.text["zh-Hans"])) > 300
    for english, chinese in PROSE.values():
        assert sorted(re.findall(r"{\w+}", english)) == sorted(re.findall(r"{\w+}", chinese)) or (
            set(re.findall(r"{\w+}", english)) == set(re.findall(r"{\w+}", chinese))
        )


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
    reader = Reader()
    reader.feed(write_page(bare))
    assert reader.open == []
    assert "svg" not in reader.tags
    assert "looks at" not in reader.text["en"].replace("looks at“", "")


def test_the_json_has_what_is_worked_out() -> None:
    found = json.loads(json.dumps(CONTENTS.to_json(), allow_nan=False))
    assert [one["is_right"] for one in found["sentences"]] == [True, False]
    assert found["pronouns"]["accuracy"] == found["pronouns"]["guessing"] == 0.75
    assert found["alignment"]["weights"][1] == [0.0, 0.3, 0.7]
