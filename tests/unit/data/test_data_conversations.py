"""Conversations from files: every way they are written, and what becomes of them."""

import gzip
import json
from pathlib import Path

import pytest

from regard.data import parse_spec, prepare, read_pairs
from regard.data.conversations import is_held_out, pairs_of, read_conversations
from regard.errors import DataError
from regard.text import Words
from regard.text.turns import join_turns

TALKS = [["Hi", "Hello", "How are you?"], ["你好", "你好吗？"]]


def write(path: Path, text: str) -> Path:
    content = text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.txt", "Hi\nHello\nHow are you?\n\n\n你好\n你好吗？\n"),
        ("b", "\n\nHi\nHello\nHow are you?\n \n你好\n你好吗？"),
        ("c.tsv", "Hi\tHello\tHow are you?\n\n你好\t你好吗？\n"),
        (
            "d.txt.gz",
            "Hi __eou__ Hello __eou__ How are you ? __eou__\n你好__eou__你好吗？__eou__\n",
        ),
        (
            "e.txt",
            "Hi __eou__ Hello __eou__ How are you ?\t1\t2 2\n你好__eou__你好吗？__eou__\t3\n",
        ),
        ("f.jsonl", '["Hi", "Hello", "How are you?"]\n\n{"turns": ["你好", "你好吗？"]}\n'),
        (
            "g.jsonl",
            json.dumps({"messages": [{"role": "a", "content": turn} for turn in TALKS[0]]})
            + "\n"
            + json.dumps({"conversations": [{"from": "a", "value": turn} for turn in TALKS[1]]}),
        ),
    ],
)
def test_every_way_to_write_them(tmp_path: Path, name: str, text: str) -> None:
    assert list(read_conversations(write(tmp_path / name, text))) == TALKS


@pytest.mark.parametrize(
    ("apart", "together"),
    [
        ("It ’ s fine , isn ’ t it ?", "It's fine, isn't it?"),
        ("I don't know .", "I don't know."),
        ("That's $ 5 ( five ) !", "That's $5 (five)!"),
        ("Wait ... what ?", "Wait... what?"),
        ("你好。 再见。", "你好。 再见。"),
    ],
)
def test_signs_that_were_set_apart_are_put_back(tmp_path: Path, apart: str, together: str) -> None:
    path = write(tmp_path / "a.txt", f"{apart} __eou__ Yes __eou__\n")
    assert next(read_conversations(path))[0] == together


def test_each_turn_answers_the_last_ones() -> None:
    turns = ["a", "b", "c", "d"]
    assert list(pairs_of(turns, 1)) == [("a", "b"), ("b", "c"), ("c", "d")]
    assert list(pairs_of(turns, 3)) == [
        ("a", "b"),
        ("a <turn> b", "c"),
        ("a <turn> b <turn> c", "d"),
    ]
    assert list(pairs_of(["alone"], 3)) == []


def test_a_file_of_conversations_is_a_spec(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "Hi\nHello\n\nBye\nGood bye\n")
    assert list(read_pairs(parse_spec(path, turns=2))) == [("Hi", "Hello"), ("Bye", "Good bye")]
    assert len(list(read_pairs(parse_spec(f"{path}*3", turns=2)))) == 6


def test_pairs_are_conversations_of_two(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a", "Hi\nBye\n"), write(tmp_path / "b", "Hello\nSee you\n")
    expected = [("Hi", "Hello"), ("Bye", "See you")]
    assert list(read_pairs(parse_spec((first, second), turns=3))) == expected


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.txt", "alone\n\nalone too\n", "holds no turn that answers another. Is it the right"),
        ("a.txt", "", "holds no turn that answers another. Is it the right file?"),
        ("a.jsonl", '{"source": "Hi"}\n', ', line 1: \'{"source": "Hi"}\' holds no conversation.'),
        ("a.jsonl", '["Hi", 3]\n', ", line 1: '[\"Hi\", 3]' holds no conversation. Each line is"),
        ("a.jsonl", "Hi\n", ", line 1: 'Hi' holds no conversation. Each line is JSON"),
    ],
)
def test_what_is_no_conversation_is_said(
    tmp_path: Path, name: str, text: str, sentence: str
) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(DataError) as caught:
        list(read_pairs(parse_spec(path, turns=3)))
    assert str(caught.value).startswith(str(path))
    assert sentence in str(caught.value)


def test_a_conversation_is_learned_from_or_held_out_as_a_whole(tmp_path: Path) -> None:
    from dataclasses import replace

    talks = [[f"a {i}", f"b {i}", f"c {i}"] for i in range(400)]
    text = "\n".join("".join(f"{turn}\n" for turn in talk) for talk in talks)
    spec = parse_spec(write(tmp_path / "a.txt", text), turns=3)
    learned = list(read_pairs(replace(spec, part="learned")))
    held = list(read_pairs(replace(spec, part="held out")))
    assert len(learned) + len(held) == 800
    assert 4 <= len(held) <= 40
    assert {pair.target[1:] for pair in held}.isdisjoint(pair.target[1:] for pair in learned)
    wanted = {join_turns(talk) for talk in talks if is_held_out(join_turns(talk))}
    assert len(held) == 2 * len(wanted)


def test_what_was_prepared_for_other_turns_is_prepared_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "a b\nc d\ne f\ng h\n")
    words = Words.train(["a b c d e f g h <turn>"])
    lengths = [
        prepare([parse_spec(path, turns=turns)], tmp_path / "prepared", words, max_ratio=None)
        .lengths()[0]
        .tolist()
        for turns in (1, 3, 2)
    ]
    assert lengths == [[2, 2, 2], [2, 5, 8], [2, 5, 5]]
