"""What a run is told to learn from, and what does not go together."""

import pytest

from regard.errors import UsageError
from regard.systems.training_data import TrainingData, asked_recipe


def test_sets_of_pictures_are_data_of_their_own() -> None:
    learned, held = TrainingData(images=["a", "b.zip"], valid_images=["c"]).resolved()
    assert (learned["images"], held["images"]) == (["a", "b.zip"], ["c"])
    with pytest.raises(UsageError, match="--corpus does not go with --images"):
        TrainingData(images=["a"], corpus="copy").resolved()


@pytest.mark.parametrize("recipe", ["transformer-tiny", "dialogue", "gpt-tiny", "bert-classify"])
def test_recipes_of_text_do_not_learn_from_pictures(recipe: str) -> None:
    with pytest.raises(UsageError, match=f"{recipe} does not learn from sets of pictures"):
        asked_recipe(recipe, TrainingData(images=["a"]))
