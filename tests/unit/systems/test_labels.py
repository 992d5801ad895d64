"""Labels of texts: what a caller may give, and how it is refused."""

from pathlib import Path

import pytest
import torch

import regard
from regard.config import read_recipe
from regard.errors import TextTypeError, UsageError
from regard.folder import save
from regard.systems import TextClassifier, build
from regard.text import Words

TOKENIZER = Words.train(["the cat sat on a mat"])
SMALL = ["model.n_layers=1", "model.d_model=32", "model.n_heads=2", "model.d_feedforward=16"]


def judge(place: Path, n_texts: int = 1) -> TextClassifier:
    recipe = read_recipe("bert-classify", [*SMALL, "model.context=9"])
    section = recipe.model.model_copy(update={"labels": ("no", "yes"), "n_texts": n_texts})
    recipe = recipe.model_copy(update={"model": section})
    torch.manual_seed(3)
    model = build(recipe.model, len(TOKENIZER), len(TOKENIZER))
    return TextClassifier.open(save(place / "model", model, recipe, TOKENIZER, TOKENIZER))


def test_one_text_has_one_answer_and_several_have_several(tmp_path: Path) -> None:
    opened = judge(tmp_path)
    alone = opened.classify("the cat", k=2)
    assert {alone.label, *(one.label for one in alone.others)} == {"no", "yes"}
    assert alone.probability >= alone.others[0].probability
    assert opened.classify("the cat").others == ()
    for texts in (["the cat"], [("the cat",)], iter(["the cat"])):
        assert opened.classify(texts, k=2) == [alone]
    ((best, other),) = opened.classify_each(["the cat"], k=2)
    assert (best.label, other) == (alone.label, alone.others[0])


def test_pairs_are_of_two_texts(tmp_path: Path) -> None:
    opened = judge(tmp_path, n_texts=2)
    (found,) = opened.classify([("the cat", "a mat")])
    assert found.label in ("no", "yes")
    for one in ("the cat", ["the cat"], [()], [("the cat", "a", "mat")]):
        with pytest.raises(UsageError, match="two texts"):
            opened.classify(one)


@pytest.mark.usefixtures("as_users_call")
@pytest.mark.parametrize("other", [None, 3, b"the cat"])
def test_what_is_no_text_is_named(tmp_path: Path, other: object) -> None:
    opened = judge(tmp_path)
    with pytest.raises(TextTypeError, match=r"texts\[1\] is "):
        opened.classify(["the cat", other])  # type: ignore[list-item]
    with pytest.raises(TextTypeError, match=r"texts\[0\]\[0\] is "):
        opened.classify([(other,)])  # type: ignore[list-item]


def test_what_is_not_shown_is_refused_in_one_sentence(tmp_path: Path) -> None:
    opened = judge(tmp_path)
    for ask in (lambda: opened.trace("the cat"), lambda: opened.importance(["the cat"])):
        with pytest.raises(UsageError, match="attention is not shown"):
            ask()
    with pytest.raises(UsageError, match="cannot be evaluated so"):
        regard.evaluate(opened, text="a.txt")
