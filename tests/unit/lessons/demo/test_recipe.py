"""What the demo trains, and the run that it finds in its folder."""

from pathlib import Path

import pytest

from regard.config import write_recipe
from regard.errors import RegardError
from regard.lessons.demo import choose_extract, choose_recipe, earlier_recipe
from regard.training.keeper import REQUEST


def test_where_nothing_is_asked_the_meaning_decides() -> None:
    assert choose_extract("phrasebook", None).pair == "en-fr"
    assert choose_extract("dates", None).pair is None
    with pytest.raises(RegardError, match="en-xx"):
        choose_extract("phrasebook", "en-xx")


def test_the_recipe_follows_from_the_corpus_and_changes_win() -> None:
    extract = choose_extract("phrasebook", "zh-en")
    recipe = choose_recipe(extract, updates=7, changes=["training.updates=9"])
    assert recipe.training.updates == 9
    assert recipe.text.kind == "words"
    assert recipe.data.train == (extract.name,)
    assert recipe.data.valid == ("phrasebook:zh-en:valid",)
    assert choose_recipe(choose_extract("phrasebook", "zh-fr")).text.kind != "words"


def test_a_longer_run_is_the_same_demo_and_another_network_is_not(tmp_path: Path) -> None:
    extract = choose_extract("phrasebook", "en-fr")
    asked = choose_recipe(extract, updates=7)
    assert earlier_recipe(asked, tmp_path) is None
    (tmp_path / REQUEST).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / REQUEST).write_text(write_recipe(asked), encoding="utf-8")
    assert earlier_recipe(choose_recipe(extract, minutes=1.0), tmp_path) is None
    wider = choose_recipe(extract, changes=["model.d_model=96"])
    assert earlier_recipe(wider, tmp_path) == asked
