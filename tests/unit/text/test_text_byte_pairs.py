"""Byte pairs: the ids of the library tokenizers, places in the text, and saved files."""

import json
from pathlib import Path

import pytest

from regard.errors import TextError
from regard.special import BOS, EOS, PAD, UNKNOWN
from regard.text import BytePairs, Placed, load
from regard.text.byte_pairs import _LETTERS

tokenizers = pytest.importorskip("tokenizers")

MERGES = [("Ġ", "t"), ("h", "e"), ("Ġt", "he"), ("a", "n"), ("i", "m"), ("an", "im"), ("ä", "½")]
END = "<|endoftext|>"
VOCABULARY = [*_LETTERS, *("".join(pair) for pair in MERGES), END]
ROLES = dict.fromkeys(("unknown", "begin", "end"), Placed(END, len(VOCABULARY) - 1))
TEXTS = [
    "The animal didn't cross the street because it's the animal's.",
    "Élan naïve café, Straße ²³ Ⅷ ١٢٣ x_1 __init__",
    "你好世界，他们 hello你好 カタカナ",
    "emoji 😀👍🏽 e\u0301",
    "  odd\t\t white\u3000 space\u00a0 \n\n here\r\n  ",
    "we'll they've I'd 'quoted' don’t",
    "",
    " ",
    "\n",
]


def ours(**choices: bool) -> BytePairs:
    return BytePairs(VOCABULARY[:-1], MERGES, ROLES, **choices)


@pytest.mark.parametrize("begins_with_space", [False, True])
def test_ids_are_those_of_tokenizers(begins_with_space: bool) -> None:
    other = tokenizers.Tokenizer(
        tokenizers.models.BPE({token: i for i, token in enumerate(VOCABULARY)}, MERGES)
    )
    other.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=begins_with_space)
    tokenizer = ours(begins_with_space=begins_with_space)
    for text in TEXTS:
        ids = tokenizer.encode(text)
        assert [tokenizer.rows[one] for one in ids] == other.encode(text).ids, text
        assert [one.id for one in tokenizer.pieces(text)] == ids
        assert tokenizer.decode(ids).removeprefix(" " * begins_with_space).lstrip() == text.lstrip()


def test_every_character_is_cut_as_tokenizers_cuts_it() -> None:
    other = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer = BytePairs(list(_LETTERS), [], ROLES)
    for first, last in ((0x1, 0x530), (0x1E00, 0x2190), (0x3000, 0x3130), (0x1F300, 0x1F5A0)):
        for code in range(first, last):
            text = f"a{chr(code)} 1{chr(code)}{chr(code)} "
            found = "".join(tokenizer._pieces(text))
            assert found == "".join(word for word, _ in other.pre_tokenize_str(text)), hex(code)


def test_pieces_cover_their_characters() -> None:
    text = "the animal 你"
    pieces = ours().pieces(text)
    covered = [text[one.start : one.end] for one in pieces]
    assert covered == ["t", "he", " ", "anim", "a", "l", " ", "你", "你"]
    last = pieces[-1]
    assert (text[last.start : last.end], last.word) == ("你", 2)
    assert ours().token(pieces[0].id) == "t"


def test_bytes_and_spaces_are_printed_so_that_one_can_read_them() -> None:
    tokenizer = ours()
    (the,) = tokenizer.encode(" the")
    assert tokenizer.token(the) == "▁the"
    assert tokenizer.token(tokenizer.encode("你")[0]) == "<0xE4><0xBD>"


def test_one_token_is_several_of_ours() -> None:
    tokenizer = ours()
    end = len(VOCABULARY) - 1
    assert tokenizer.rows[:4] == (None, end, end, end)
    assert tokenizer.silent == (PAD, UNKNOWN, BOS)
    assert tokenizer.names == VOCABULARY
    assert tokenizer.decode([BOS, *tokenizer.encode("an"), EOS]) == "an"


def test_a_saved_one_is_the_same(tmp_path: Path) -> None:
    again = load(ours().save(tmp_path / "tokenizer"))
    assert isinstance(again, BytePairs)
    assert again.fingerprint == ours().fingerprint
    assert [again.encode(text) for text in TEXTS] == [ours().encode(text) for text in TEXTS]


def test_a_damaged_file_and_half_a_character_are_refused(tmp_path: Path) -> None:
    path = ours().save(tmp_path / "tokenizer")
    saved = json.loads(path.read_text())
    path.write_text(json.dumps(saved | {"merges": ["a b c"]}))
    with pytest.raises(TextError, match="does not say what is merged"):
        load(path)
    with pytest.raises(TextError, match="half of a surrogate pair"):
        ours().encode("a\ud800")
