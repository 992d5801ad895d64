"""Word pieces: the ids of the library tokenizers, places in the text, and saved files."""

import json
from pathlib import Path

import pytest

from regard.errors import TextError
from regard.special import UNKNOWN
from regard.text import Placed, WordPiece, load

tokenizers = pytest.importorskip("tokenizers")

NAMES = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = "abcdefghijklmnopqrstuvwxyzéßσ0123456789"
WHOLE = [
    "the",
    "animal",
    "street",
    "un",
    "café",
    "cafe",
    "naive",
    "'",
    ".",
    ",",
    "!",
    "你",
    "好",
    "😀",
]
GOING_ON = ["##ing", "##able", "##ization", *(f"##{one}" for one in LETTERS)]
VOCABULARY = [*NAMES, *LETTERS, *WHOLE, *GOING_ON]
ROLES = {
    role: Placed(NAMES[i], i)
    for role, i in (("padding", 0), ("unknown", 2), ("begin", 3), ("end", 4), ("mask", 5))
}
ORDINARY = ["[unused0]", *VOCABULARY[len(NAMES) :]]
TEXTS = [
    "The animal didn't cross the street.",
    "Unaffable CAFÉ, naïve; Straße ΣΊΣΥΦΟΣ",
    "你好世界 hello你好 カタカナ 한국어",
    "emoji 😀👍🏽 and e\u0301 combining, ﬁ ligature",
    " odd\t white\u3000space\u00a0 here\n\r\nagain\u200bx\u0000y\ufffdz\x07 ",
    "don't-stop... #hash @you $5.00 «quoted» “so” — dash",
    "x" * 100 + " " + "x" * 101,
    "",
    "   ",
]


def theirs(**choices: object) -> object:
    model = tokenizers.models.WordPiece(
        {token: i for i, token in enumerate(VOCABULARY)}, unk_token="[UNK]"
    )
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(clean_text=True, **choices)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return tokenizer


CHOICES = [(True, None, True), (False, None, True), (False, True, False), (True, False, True)]


@pytest.mark.parametrize(("lowercase", "accents", "chinese"), CHOICES)
def test_ids_and_places_are_those_of_tokenizers(
    lowercase: bool, accents: bool | None, chinese: bool
) -> None:
    other = theirs(lowercase=lowercase, strip_accents=accents, handle_chinese_chars=chinese)
    ours = WordPiece(
        ORDINARY,
        ROLES,
        is_lowercase=lowercase,
        strips_accents=accents,
        splits_chinese=chinese,
    )
    for text in TEXTS:
        expected = other.encode(text)
        pieces = ours.pieces(text)
        assert [one.id for one in pieces] == ours.encode(text)
        assert [ours.rows[one.id] for one in pieces] == expected.ids, text
        if "\u0301" not in text:  # an accent of its own is theirs to count or not
            assert [(one.start, one.end) for one in pieces] == expected.offsets, text


# Blocks without characters younger than the tables of tokenizers.
BLOCKS = [(0x1, 0x530), (0x1E00, 0x2070), (0x3000, 0x3130), (0x4E00, 0x4F00), (0x1F300, 0x1F5A0)]


def test_every_character_is_read_as_tokenizers_reads_it() -> None:
    other = theirs(lowercase=True, strip_accents=None, handle_chinese_chars=True)
    ours = WordPiece(ORDINARY, ROLES)
    for first, last in BLOCKS:
        for code in range(first, last):
            text = f"a{chr(code)}b"
            normal = other.normalizer.normalize_str(text)
            expected = [word for word, _ in other.pre_tokenizer.pre_tokenize_str(normal)]
            assert [word for word, _ in ours._words(text)] == expected, hex(code)


def test_pieces_are_put_together_again() -> None:
    ours = WordPiece(ORDINARY, ROLES)
    assert ours.decode(ours.encode("The animal, naïve!")) == "the animal, naive!"
    assert ours.decode(ours.encode("don't")) == "don't"
    assert ours.decode(ours.encode("你好")) == "你好"
    assert ours.encode("世") == [UNKNOWN]


def test_pieces_know_their_word() -> None:
    ours = WordPiece(ORDINARY, ROLES)
    assert [(one.text, one.word) for one in ours.pieces("the unable cat")] == [
        ("the", 0),
        ("un", 1),
        ("##able", 1),
        ("c", 2),
        ("##a", 2),
        ("##t", 2),
    ]


def test_where_special_tokens_stood_is_kept() -> None:
    ours = WordPiece(ORDINARY, ROLES)
    assert ours.rows[:5] == (0, 2, 3, 4, 1)
    assert ours.rows[-1] == 5
    assert ours.names == VOCABULARY
    assert ours.silent == ()


def test_a_saved_one_is_the_same(tmp_path: Path) -> None:
    ours = WordPiece(ORDINARY, ROLES, is_lowercase=False, strips_accents=True)
    again = load(ours.save(tmp_path / "tokenizer"))
    assert isinstance(again, WordPiece)
    assert again.fingerprint == ours.fingerprint
    assert [again.encode(text) for text in TEXTS] == [ours.encode(text) for text in TEXTS]


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("special", "does not say where its special tokens stood"),
        ("strips_accents", "does not say"),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, key: str, sentence: str) -> None:
    path = WordPiece(ORDINARY, ROLES).save(tmp_path / "tokenizer")
    saved = json.loads(path.read_text())
    del saved[key]
    path.write_text(json.dumps(saved))
    with pytest.raises(TextError, match=sentence):
        load(path)
