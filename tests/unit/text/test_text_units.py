"""Words of a corpus against the tokens of a vocabulary."""

import pytest

from regard.text import Characters, Token, Words
from regard.text.sentences import read_units


def test_words_of_the_corpus_against_characters() -> None:
    text = "它太累了"
    units = read_units(Characters.train([text]), text, ("它", "太", "累了"))
    assert units.words == ("它", "太", "累了")
    assert [piece.word for piece in units.tokens] == [0, 1, 2, 2]
    assert units.places == (0, 1, 2)


def test_words_that_share_a_token_are_one_unit() -> None:
    words = ("aujourd'", "hui", "dort", ".")
    units = read_units(Words(["aujourd'hui", "dort"]), "aujourd'hui dort.", words)
    assert units.words == ("aujourd'hui", "dort", ".")
    assert units.places == (0, 0, 1, 2)


class Cut(Characters):
    """A tokenizer that cuts where it is told."""

    def __init__(self, *ends: int) -> None:
        super().__init__([])
        self.ends = ends

    def pieces(self, text: str) -> list[Token]:
        starts = (0, *self.ends[:-1])
        return [
            Token(4 + i, text[a:b], a, b, 0)
            for i, (a, b) in enumerate(zip(starts, self.ends, strict=True))
        ]


def test_a_token_over_three_words_joins_them() -> None:
    units = read_units(Cut(0, 4, 6), "因为它太累了", ("因为", "它", "太", "累", "了"))
    assert units.words == ("因为它太", "累了")
    assert units.places == (0, 0, 0, 1, 1)
    assert [piece.word for piece in units.tokens] == [0, 0, 1]


@pytest.mark.parametrize("words", [(), ("not", "there")])
def test_without_words_of_the_text_it_is_cut_at_signs(words: tuple[str, ...]) -> None:
    units = read_units(Words(["a", "dog"]), "a dog.", words)
    assert units.words == ("a", "dog", ".")
    assert units.places == ()


def test_an_empty_text_has_no_units() -> None:
    assert read_units(Words(["a"]), "").words == ()
