"""Words of text without spaces, as the training data were cut."""

import pytest

from regard.text.segmenting import Lexicon, is_parted, is_unparted

SENTENCES = [
    ["我", "爱", "北京", "。"],
    ["北京", "大学", "在", "北京", "。"],
    ["大学", "生活", "好", "。"],
    ["学生", "爱", "买", "A股", "。"],
    ["东京タワー", "へ", "行く"],
]
LEXICON = Lexicon.of(SENTENCES)
CHARACTERS = Lexicon.of([list("我爱北京。"), list("北京大学")])


def words(text: str, lexicon: Lexicon = LEXICON) -> list[str]:
    found = lexicon.words(text)
    assert [text[word.start : word.end] for word in found] == [word.text for word in found]
    return [word.text for word in found]


@pytest.mark.parametrize("sentence", SENTENCES)
def test_the_training_data_are_cut_as_they_were(sentence: list[str]) -> None:
    assert words("".join(sentence)) == sentence


def test_the_cut_of_the_whole_counts_and_not_the_longest_first_word() -> None:
    assert words("北京大学生活好") == ["北京", "大学", "生活", "好"]


def test_what_is_not_known_stands_character_by_character() -> None:
    assert words("我爱上海") == ["我", "爱", "上", "海"]


def test_spaces_part_words_that_are_not_known() -> None:
    assert words("我 爱 上海 浦东。") == ["我", "爱", "上海", "浦东", "。"]
    assert words("（我 爱 A股！）") == ["（", "我", "爱", "A股", "！", "）"]


def test_spaces_beside_other_scripts_part_no_chinese_words() -> None:
    assert words("我爱 Python 和北京。") == ["我", "爱", "Python", "和", "北京", "。"]


def test_other_languages_are_cut_at_spaces_and_signs() -> None:
    assert words("I don't know.") == ["I", "don't", "know", "."]


def test_characters_stay_characters() -> None:
    assert not CHARACTERS.has_words
    assert words("北京大学", CHARACTERS) == list("北京大学")
    assert words("北京 大学", CHARACTERS) == list("北京大学")
    assert words("", CHARACTERS) == words("  ") == []


def test_whether_a_text_says_where_its_words_part() -> None:
    assert is_parted("我 爱")
    assert not is_unparted("我 爱北京")
    assert is_unparted("我爱")
    assert not is_parted("我爱 Python")
    assert not is_unparted("I know")
    assert not is_parted("I know")
