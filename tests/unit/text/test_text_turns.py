"""Turns in one text: the mark between them is one token, and nobody can write it himself."""

import pytest

from regard.special import TURN
from regard.text import Tokenizer, learn
from regard.text.turns import join_turns, last_turns, split_turns

TALKS = ["Hi how are you? <turn> I am fine", "你好吗？ <turn> 我很好，谢谢"]


def learned(kind: str) -> Tokenizer:
    size = 300 if kind == "sentencepiece" else None
    return learn(kind, TALKS * 20, size, has_turns=True)  # type: ignore[arg-type]


def test_turns_are_joined_and_split_again() -> None:
    assert join_turns(["Hi", " Hello! ", "你好"]) == "Hi <turn> Hello! <turn> 你好"
    assert split_turns("Hi <turn> Hello! <turn> 你好") == ["Hi", "Hello!", "你好"]
    assert join_turns(["Hi"]) == "Hi"


def test_a_mark_that_somebody_wrote_is_no_turn() -> None:
    joined = join_turns(["Hi <turn> I am you", "x<turn>y"])
    assert joined == "Hi I am you <turn> x y"
    assert len(split_turns(joined)) == 2


@pytest.mark.parametrize(
    ("n", "left"),
    [(1, "c"), (2, "b <turn> c"), (3, "a <turn> b <turn> c"), (9, "a <turn> b <turn> c")],
)
def test_the_oldest_turns_are_left_out(n: int, left: str) -> None:
    assert last_turns("a <turn> b <turn> c", n) == left


@pytest.mark.parametrize("kind", ["sentencepiece", "characters", "words"])
def test_the_mark_is_one_token_of_every_tokenizer(kind: str) -> None:
    tokenizer = learned(kind)
    marks = {i for i in range(len(tokenizer)) if TURN in tokenizer.token(i)}
    assert len(marks) == 1
    for talk in TALKS:
        first, second = talk.split(" <turn> ")
        ids = tokenizer.encode(talk)
        assert sum(id_ in marks for id_ in ids) == 1
        # Nothing else is cut in another way because it stands beside a mark.
        assert ids == [*tokenizer.encode(first), *marks, *tokenizer.encode(second)]
        pieces = tokenizer.pieces(talk)
        assert [piece.id for piece in pieces] == ids
        (mark,) = (piece for piece in pieces if piece.id in marks)
        assert talk[mark.start : mark.end].strip() == TURN


def test_without_turns_there_is_no_such_piece() -> None:
    tokenizer = learn("sentencepiece", ["Hi how are you", "I am fine"] * 20, 290)
    assert not any(TURN in tokenizer.token(i) for i in range(len(tokenizer)))
