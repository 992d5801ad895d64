"""What recipes that tell labels leave to the data, and what they may not say."""

import pytest

from regard.config import parse_recipe, read_recipe, write_recipe
from regard.errors import RecipeError
from regard.training.defaults import Facts, derive

FACTS = Facts(n_pairs=2_000, n_target_tokens=40_000, n_vocabulary=3_000)


def test_what_was_pre_trained_learns_more_slowly_and_less_long() -> None:
    new = derive(read_recipe("bert-tag"), FACTS).training
    tuned = derive(read_recipe("bert-tag", ["training.init=runs/bert"]), FACTS).training
    assert tuned.learning_rate == pytest.approx(0.04 / 128, rel=1e-2)
    assert new.learning_rate > 3 * tuned.learning_rate
    assert (new.updates, tuned.updates) == (2300, 780)
    wide = read_recipe("bert-tag", ["training.init=b", "model.d_model=768", "model.n_heads=12"])
    assert derive(wide, FACTS).training.learning_rate == pytest.approx(5e-5, rel=0.05)


def test_labels_are_kept_in_the_recipe() -> None:
    labels = ("B-人", 'say "no"', "O", "a\\b")
    recipe = read_recipe("bert-tag")
    told = recipe.model_copy(update={"model": recipe.model.model_copy(update={"labels": labels})})
    assert parse_recipe(write_recipe(told)) == told


@pytest.mark.parametrize(
    ("name", "change", "sentence"),
    [
        ("bert-tag", "training.measure=bleu", "compares translations, and task = tagging makes"),
        ("bert-tiny", "training.measure=f1", "compares labels, and task = masked makes none"),
        ("transformer-tiny", "training.measure=accuracy", "measure by loss or bleu or chrf"),
        (
            "gpt-tiny",
            "training.init=x",
            "is what bert-classify, bert-tag and parser begin from, not a",
        ),
        ("bert-classify", "training.task=tagging", "learns task = classification, not tagging"),
        ("bert-classify", "model.n_texts=3", "of at least 1 and of at most 2"),
    ],
)
def test_what_does_not_go_together_is_refused(name: str, change: str, sentence: str) -> None:
    with pytest.raises(RecipeError, match=sentence):
        read_recipe(name, [change])
