"""A model that reads no text has a tokenizer like every other, which knows no words."""

from pathlib import Path

import pytest

from regard.errors import TextError
from regard.special import BOS, EOS, NAMES
from regard.text import NoText, Tokenizer, learn, load


def test_it_answers_with_nothing_and_comes_back_from_its_file(tmp_path: Path) -> None:
    nothing = NoText()
    assert isinstance(nothing, Tokenizer)
    assert nothing.encode("a word") == nothing.pieces("a word") == []
    assert nothing.decode([BOS, EOS]) == ""
    assert len(nothing) == len(NAMES)
    nothing.save(tmp_path / "tokenizer")
    again = load(tmp_path / "tokenizer")
    assert isinstance(again, NoText)
    assert again.fingerprint == nothing.fingerprint


def test_it_cannot_be_learned() -> None:
    with pytest.raises(TextError, match=r"text\.kind = none is for models of pictures"):
        learn("none", ["a word"])
