"""Subwords: special ids, sizes, offsets, and the sentences of refusals."""

import io

import pytest
import sentencepiece

from regard.errors import TextError
from regard.text import SentencePieceText, Tokenizer, load, words

ENGLISH = [
    "A small dog runs across the green field.",
    "Two women are sitting at a table.",
    "The man in the blue shirt reads a book.",
    "Children play near the old fountain.",
]
CHINESE = ["一只小狗跑过绿色的田野。", "两个女人坐在桌边。", "穿蓝衬衫的男人在看书。"]
TEXT = ENGLISH * 3 + CHINESE * 3


@pytest.fixture(scope="module")
def bpe() -> SentencePieceText:
    return SentencePieceText.train(TEXT, 400)


@pytest.fixture(scope="module")
def unigram() -> SentencePieceText:
    return SentencePieceText.train(TEXT, 340, algorithm="unigram")


def test_special_ids_come_first(bpe):
    assert [bpe.token(i) for i in range(4)] == ["<pad>", "<unk>", "<s>", "</s>"]
    assert len(bpe) == 400
    assert isinstance(bpe, Tokenizer)


@pytest.mark.parametrize("algorithm", ["bpe", "unigram"])
def test_training_twice_gives_the_same_model(algorithm):
    first, second = (SentencePieceText.train(iter(TEXT), 340, algorithm=algorithm) for _ in "ab")
    assert first.fingerprint == second.fingerprint


def test_sampling_is_deterministic_and_bounded():
    many = [f"{line} {i}" for i in range(40) for line in TEXT]
    first, second = (SentencePieceText.train(many, 340, n_sentences=100) for _ in "ab")
    assert first.fingerprint == second.fingerprint
    assert first.fingerprint != SentencePieceText.train(many, 340).fingerprint


@pytest.mark.parametrize("text", [*ENGLISH, *CHINESE, "Ünïcödé 🙂 ①½™ 한국어", "，。！？"])
def test_text_comes_back(bpe, unigram, text):
    assert bpe.decode(bpe.encode(text)) == text
    assert unigram.decode(unigram.encode(text)) == text


def test_special_ids_leave_nothing_in_text(bpe):
    assert bpe.decode([2, *bpe.encode("A dog."), 3, 0, 0]) == "A dog."
    assert bpe.encode("") == []
    assert bpe.decode([]) == ""
    assert 3 not in bpe.encode("<s> </s> <pad>")


def test_many_is_each(bpe):
    assert bpe.encode_many(TEXT, n_threads=2) == [bpe.encode(text) for text in TEXT]


def test_normalisation_keeps_chinese_punctuation_and_evens_the_rest(bpe):
    given = "ｃａｔ１２  e\u0301 ﬁn\u00a0a\u200bb\u3000，？"
    assert bpe.decode(bpe.encode(given)) == "cat12 é fin ab ，？"


def test_lower_casing_is_saved_with_the_model(tmp_path):
    lower = SentencePieceText.train(TEXT, 340, is_lowercase=True)
    read = load(lower.save(tmp_path / "tokenizer"))
    assert read.decode(read.encode("A DOG, Straße, E\u0301TÉ")) == "a dog, straße, été"


def test_pieces_of_bytes_cover_their_character(bpe):
    text = "dog 🙂 犬"
    pieces = bpe.pieces(text)
    assert [p.id for p in pieces] == bpe.encode(text)
    smile = [p for p in pieces if (p.start, p.end) == (4, 5)]
    assert [p.text for p in smile] == ["<0xF0>", "<0x9F>", "<0x99>", "<0x82>"]
    assert {p.word for p in smile} == {1}
    assert [text[p.start : p.end] for p in pieces if p.word == 2 and p.text != "▁"] == ["犬"] * 3


def test_pieces_of_composed_and_full_width_characters(bpe):
    text = "ａ e\u0301 ﬁ"
    covered = {text[p.start : p.end] for p in bpe.pieces(text) if p.text != "▁"}
    assert covered == {"ａ", "e\u0301", "ﬁ"}


def test_pieces_know_their_word(bpe):
    text = "  两个女人 sitting."
    split = words.split(text)
    for piece in bpe.pieces(text):
        if piece.text == "▁":
            continue
        word = split[piece.word]
        assert word.start <= piece.start < word.end
        assert text[piece.start : piece.end] in piece.text.replace("▁", "")


def test_saving_and_loading(bpe, tmp_path):
    path = bpe.save(tmp_path / "tokenizer.source")
    assert path.name == "tokenizer.source.model"
    assert list(tmp_path.iterdir()) == [path]
    for given in (path, tmp_path / "tokenizer.source"):
        assert load(given).fingerprint == bpe.fingerprint


def test_nothing_is_printed(capfd):
    SentencePieceText.train(TEXT, 340)
    with pytest.raises(TextError):
        SentencePieceText.train(TEXT, 90_000)
    with pytest.raises(TextError):
        SentencePieceText(b"rubbish")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("algorithm", ["bpe", "unigram"])
def test_too_large_a_vocabulary_names_the_largest(algorithm):
    with pytest.raises(TextError) as refusal:
        SentencePieceText.train(TEXT, 9_000, algorithm=algorithm)
    largest = len(SentencePieceText.train(TEXT, 9_000, algorithm=algorithm, is_upper_limit=True))
    assert str(refusal.value) == (
        f"A vocabulary of 9000 is more than these 21 sentences can carry: the largest that works "
        f"is {largest}. Set text.size = {largest} or less, or give more text."
    )
    assert len(SentencePieceText.train(TEXT, largest, algorithm=algorithm)) == largest


def test_too_small_a_vocabulary_names_the_smallest():
    with pytest.raises(TextError) as refusal:
        SentencePieceText.train(TEXT, 270)
    smallest = int(str(refusal.value).rsplit(" = ", 1)[1].split()[0])
    assert str(refusal.value) == (
        "A vocabulary of 270 cannot hold the characters of the text: with 4 special ids and 256 "
        f"bytes it needs {smallest}. Set text.size = {smallest} or more."
    )
    assert len(SentencePieceText.train(TEXT, smallest)) == smallest
    assert len(SentencePieceText.train(TEXT, 270, is_upper_limit=True)) == smallest


@pytest.mark.parametrize(
    ("sentences", "size", "sentence"),
    [
        ([], 300, "There is no text to learn pieces from: every sentence given is empty."),
        (["", " \n"], 300, "There is no text to learn pieces from: every sentence given is empty."),
        (["a"], 0, "A vocabulary of 0 is impossible: set text.size to 300 or more."),
        (["ab\ud800"] * 3, 270, r"The text 'ab\ud800' cannot become ids: its character 2 is half"),
    ],
)
def test_refusals_of_training(sentences, size, sentence):
    with pytest.raises(TextError) as refusal:
        SentencePieceText.train(sentences, size)
    assert str(refusal.value).startswith(sentence)


def test_sentences_of_any_length_and_nul_are_learned_from():
    tokenizer = SentencePieceText.train(["word " * 9_000, "a\0b"], 270, is_upper_limit=True)
    assert tokenizer.decode(tokenizer.encode("word")) == "word"


def test_refusals_of_use(bpe):
    with pytest.raises(
        TextError, match=r"^Id 400 is not in the vocabulary, whose ids run from 0 to"
    ):
        bpe.decode([5, 400])
    with pytest.raises(TextError, match=r"^Id -1 is not"):
        bpe.token(-1)
    for use in (bpe.encode, bpe.pieces):
        with pytest.raises(TextError, match=r"half of a surrogate pair, which is not Unicode text"):
            use("x\udfff")


def test_a_model_with_other_special_ids_is_refused():
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(TEXT), model_writer=model, vocab_size=80, minloglevel=5
    )
    with pytest.raises(TextError) as refusal:
        SentencePieceText(model.getvalue(), where="other.model")
    assert str(refusal.value) == (
        "The sentencepiece model in other.model has pad, unk, bos, eos = (-1, 0, 1, 2); Regard "
        "needs (0, 1, 2, 3). Train it with pad_id=0, unk_id=1, bos_id=2 and eos_id=3."
    )


def test_without_byte_fallback_a_new_character_is_unknown():
    tokenizer = SentencePieceText.train(ENGLISH, 60, has_byte_fallback=False)
    assert 1 in tokenizer.encode("犬")
    assert "⁇" in tokenizer.decode(tokenizer.encode("犬"))
