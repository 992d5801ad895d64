"""Languages: told, guessed from recipes and folders, detected by script no surer than that."""

from pathlib import Path

import pytest

from regard.config import Recipe
from regard.errors import ServiceError
from regard.serving.languages import as_pair, checked_pair, detect, guess_pair, name_of


def recipe(*train: str) -> Recipe:
    plain = Recipe()
    return plain.model_copy(update={"data": plain.data.model_copy(update={"train": train})})


@pytest.mark.parametrize(
    ("train", "folder", "pair"),
    [
        (("data/train.zh|data/train.en",), "run", ("zh", "en")),
        (("train.en.gz|train.de.gz*3",), "run", ("en", "de")),
        (("phrasebook:en-fr:train",), "run", ("en", "fr")),
        (("pairs.tsv",), "small-de-en", ("de", "en")),
        (("pairs.tsv",), "zh-en/model", ("zh", "en")),
        (("dates:train",), "run", None),
        (("train.a|train.b",), "run", None),
    ],
)
def test_guesses(train: tuple[str, ...], folder: str, pair: object) -> None:
    assert guess_pair(recipe(*train), Path("runs") / folder) == pair


def test_pairs_are_codes_that_exist() -> None:
    assert as_pair("zh-en") == ("zh", "en")
    assert as_pair("zh") is None
    assert as_pair("qq-en") is None
    assert name_of("zh") == "Chinese"
    with pytest.raises(ServiceError, match="'chinese' is no pair of languages"):
        checked_pair("chinese")


@pytest.mark.parametrize(
    ("text", "languages", "guesses"),
    [
        ("我看见一只猫。", ("zh", "en"), [("zh", 100.0), ("en", 0.0)]),
        ("I saw a cat", ("zh", "en"), [("en", 100.0), ("zh", 0.0)]),
        ("a cat", ("en", "fr", "zh"), [("en", 50.0), ("fr", 50.0), ("zh", 0.0)]),
        ("猫 cat", ("zh", "en"), [("en", 75.0), ("zh", 25.0)]),
        ("ねこ猫", ("zh", "ja"), [("ja", 100.0), ("zh", 0.0)]),
        ("猫", ("zh", "ja"), [("zh", 50.0), ("ja", 50.0)]),
        ("кот", ("en", "ru"), [("ru", 100.0), ("en", 0.0)]),
        ("123 !", ("en", "zh"), [("en", 0.0), ("zh", 0.0)]),
        ("", (), []),
    ],
)
def test_detection(text: str, languages: tuple[str, ...], guesses: list[object]) -> None:
    assert [(one.language, one.confidence) for one in detect(text, languages)] == guesses
