"""A conversation: what the model is told, what is forgotten, and the same words by every way."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.config import Recipe, read_recipe
from regard.decoding import Sampling, Search
from regard.errors import UsageError, WrongModelError
from regard.folder import save
from regard.special import TURN
from regard.systems import Chat, DialogueModel, Reranking, build, open_model
from regard.text import Words

TINY = ["model.d_model=12", "model.n_heads=3", "model.d_feedforward=20", "model.n_layers=1"]
WORDS = Words([*"abcdefghij", TURN])


def made(path: Path, recipe: Recipe) -> Path:
    torch.manual_seed(3)
    model = build(recipe.model, len(WORDS), len(WORDS))
    with torch.no_grad():  # far from uniform, so that answers differ
        for parameter in model.parameters():
            parameter.mul_(1.5)
    return save(path, model, recipe, WORDS, WORDS)


@pytest.fixture
def chat(tmp_path: Path) -> Callable[..., Chat]:
    def begin(search: Search | None = None, **options: Any) -> Chat:
        folder = tmp_path / "model"
        if not folder.exists():
            made(folder, read_recipe("dialogue", TINY))
        limit = {"max_tokens": options.pop("max_tokens")} if "max_tokens" in options else {}
        return DialogueModel.open(folder, **limit).chat(search or Search(width=1), **options)

    return begin


def test_it_reads_the_last_turns_of_both(chat: Callable[..., Chat]) -> None:
    talk = chat(longest=4)
    assert talk.read("a b") == "a b"
    first = talk.say("a b").text
    assert talk.turns == ["a b", first]
    assert talk.read("c") == f"a b <turn> {first} <turn> c".replace("  ", " ")
    second = talk.say("c").text
    # Three turns, as the recipe says: what was said first is forgotten.
    assert talk.read("d") == f"c <turn> {second} <turn> d".replace("  ", " ")


def test_turns_that_are_too_long_together_are_left_out_from_the_oldest(
    chat: Callable[..., Chat],
) -> None:
    talk = chat(max_tokens=8)
    talk.turns += ["a b c", "d e"]
    assert talk.read("f") == "a b c <turn> d e <turn> f"  # eight tokens
    assert talk.read("f g") == "d e <turn> f g"
    assert talk.read("f g h i j a") == "f g h i j a"
    answer = talk.say("f g h i j a b c d e")
    assert (answer.source, answer.n_left_out) == ("f g h i j a b c d e", 2)


def test_an_answer_that_comes_word_by_word_is_that_of_the_search(
    chat: Callable[..., Chat],
) -> None:
    for sampling in (None, Sampling(temperature=2.0, top_k=9, top_p=0.95, seed=4)):
        search = Search(width=1, sampling=sampling)
        talk = chat(search, longest=7)
        whole = replace(search, limits=replace(search.limits, factor=0.0, extra=8, most=8))
        for number, said in enumerate(["a b c", "d", "e f"]):
            source = talk.read(said)
            ((found, *_),) = talk.translator.translate_each([source], whole, first=number)
            parts = list(talk.answer(said))
            assert talk.last is not None
            assert talk.last.tokens == found.tokens[:7] if TURN not in found.text else True
            assert "".join(parts).strip() == talk.last.text


def test_a_beam_answers_at_once(chat: Callable[..., Chat]) -> None:
    talk = chat(Search(width=3), longest=5)
    (answer,) = talk.answer("a b")
    assert talk.last is not None
    assert answer == talk.last.text
    assert len(talk.last.tokens) <= 5


def test_each_answer_is_drawn_anew(chat: Callable[..., Chat]) -> None:
    drawing = Search(sampling=Sampling(temperature=3.0, seed=1))
    talk = chat(drawing, longest=12)
    answers = []
    for _ in range(4):
        answers.append(talk.say("a b c").text)
        talk.undo()
    assert len(set(answers)) > 1
    again = chat(drawing, longest=12)
    assert again.say("a b c").text == answers[0]


@pytest.mark.parametrize("weight", [0.0, 0.5, 1.0])
def test_the_answer_that_tells_most_is_chosen(chat: Callable[..., Chat], weight: float) -> None:
    """Ranked by log p(answer | said) - λ log p(answer) a token, of those drawn for its number."""
    drawing = Search(width=1, sampling=Sampling(temperature=2.0))
    talk = chat(drawing, longest=8, reranking=Reranking(12, weight))
    answers = [talk.say("a b c"), talk.say("a b")]
    for number, answer in enumerate(answers):
        limited = replace(talk._with_room(), n_best=12)
        (drawn,) = talk.translator.translate_each([answer.source], limited, first=number)
        worths = {}
        for one in drawn:
            given, alone = talk.translator.score_translations(
                [(answer.source, one.tokens), ("", one.tokens)]
            )
            told = given.log_probability - weight * alone.log_probability
            parts = [one.tokens[i : i + 3] for i in range(len(one.tokens) - 2)]
            worths[one.tokens] = len(parts) == len(set(parts)), told / (len(one.tokens) + 1)
        assert len(worths) > 3
        best = max(worths, key=worths.__getitem__)
        assert answer.tokens == tuple(talk._until_turn(best))
    assert chat(drawing, longest=8, reranking=Reranking(12, weight)).say("a b c") == answers[0]


@pytest.mark.parametrize("values", [(1, 0.5), (20, -0.1), (20, 1.5), (20, float("nan"))])
def test_a_choice_among_too_few_is_refused(values: tuple[int, float]) -> None:
    with pytest.raises(UsageError, match="2 candidates or more"):
        Reranking(*values)


def test_an_answer_holds_no_mark(chat: Callable[..., Chat]) -> None:
    drawing = Search(sampling=Sampling(temperature=50.0, seed=1))
    talk = chat(drawing, longest=30)
    for _ in range(10):
        assert TURN not in "".join(talk.answer("a"))
    assert talk.last is not None
    assert len(talk.scored(talk.last).tokens) == len(talk.last.tokens) + 1


def test_what_was_said_can_be_taken_back_and_forgotten(chat: Callable[..., Chat]) -> None:
    talk = chat(longest=3)
    talk.say("a")
    talk.say("b")
    assert talk.undo()
    assert talk.turns[0] == "a"
    assert len(talk.turns) == 2
    talk.reset()
    assert talk.turns == []
    assert not talk.undo()


def test_nothing_is_not_answered(chat: Callable[..., Chat]) -> None:
    talk = chat()
    with pytest.raises(UsageError, match="there is nothing to answer: say something"):
        talk.say("  ")
    assert talk.turns == []


def test_each_that_is_said_begins_a_conversation(chat: Callable[..., Chat]) -> None:
    model = chat().translator
    assert isinstance(model, DialogueModel)
    said = ["a b c", "d"]
    assert model.answer(said) == [chat().say(one) for one in said]
    assert model.answer("d", beam=3) == chat(Search(width=3)).say("d")
    assert str(model.answer("d")) == chat().say("d").text


@pytest.mark.parametrize("preset", ["transformer-tiny", "gpt-tiny"])
def test_a_model_of_another_kind_does_not_answer(tmp_path: Path, preset: str) -> None:
    recipe = read_recipe(preset, [*TINY, "model.dropout=0.0"])
    made(tmp_path / "other", recipe)
    kind, command = recipe.model.kind, {"gpt-tiny": "generate"}.get(preset, "translate")
    with pytest.raises(WrongModelError, match=f"other holds .* kind {kind}, .*regard {command}"):
        DialogueModel.open(tmp_path / "other")
    with pytest.raises(WrongModelError, match=f"other holds .* kind {kind}, .*regard {command}"):
        open_model(tmp_path / "other").chat()  # type: ignore[attr-defined]
