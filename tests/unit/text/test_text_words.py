"""Words and characters: splitting, joining, vocabularies and their files."""

import json

import pytest

from regard.errors import TextError
from regard.text import Characters, Words, choose_vocabulary_size, learn, load, words


def texts(sentence):
    return [word.text for word in words.split(sentence)]


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("A dog runs.", ["A", "dog", "runs", "."]),
        ("Don't stop, well-known 1,000.5!", ["Don't", "stop", ",", "well-known", "1,000.5", "!"]),
        ("L'eau qu'il a, c’est", ["L'", "eau", "qu'", "il", "a", ",", "c’", "est"]),
        ("The T's, o'clock, aujourd'hui", ["The", "T's", ",", "o'clock", ",", "aujourd'hui"]),
        ("请看看。OK", ["请", "看", "看", "。", "OK"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("한국어 단어", ["한국어", "단어"]),
        ("हिन्दी शब्द", ["हिन्दी", "शब्द"]),
        ("cafe\u0301 x", ["cafe\u0301", "x"]),
        ("👩‍👩‍👧🇩🇪👍🏽!", ["👩‍👩‍👧", "🇩🇪", "👍🏽", "!"]),
        ("a_b...", ["a", "_", "b", ".", ".", "."]),
        (" \t\u3000\u200b\n", []),
        ("", []),
    ],
)
def test_split(sentence, expected):
    assert texts(sentence) == expected
    assert all(sentence[w.start : w.end] == w.text for w in words.split(sentence))


@pytest.mark.parametrize(
    "sentence",
    [
        'He said "go home", and (then) left.',
        "请看，照片！这是书。",
        "It's 50% of $5; isn't it?",
        "Mann/Frau: 3,5 km.",
        "Wow! Yes…",
        "L'animal n'a pas traversé la rue parce qu’elle était trop large.",
        "'quoted', l'un 'et' l'autre",
    ],
)
def test_words_join_as_they_were(sentence):
    tokenizer = Words.train([sentence])
    assert tokenizer.decode(tokenizer.encode(sentence)) == sentence


def test_words_are_ranked_by_frequency():
    tokenizer = Words.train(["b a b c", "a b d"], size=6)
    assert [tokenizer.token(i) for i in range(6)] == ["<pad>", "<unk>", "<s>", "</s>", "b", "a"]
    assert tokenizer.encode("a b c") == [5, 4, 1]
    assert tokenizer.decode([2, 5, 1, 4, 3, 0]) == "a ⁇ b"


def test_words_named_like_special_ids_are_ordinary():
    tokenizer = Characters.train(["<s>"])
    assert tokenizer.decode(tokenizer.encode("<s>")) == "<s>"


def test_pieces_of_words_and_characters():
    text = "一 Dog"
    pieces = Words.train(["一 dog"], is_lowercase=True).pieces(text)
    assert [(p.text, p.start, p.end, p.word) for p in pieces] == [("一", 0, 1, 0), ("dog", 2, 5, 1)]
    pieces = Characters.train([text]).pieces(text)
    assert [(p.text, p.start, p.word) for p in pieces] == [
        ("一", 0, 0),
        (" ", 1, 1),
        ("D", 2, 1),
        ("o", 3, 1),
        ("g", 4, 1),
    ]


def test_characters_lower_case_and_come_back():
    tokenizer = Characters.train(["Abc 请"], is_lowercase=True)
    assert tokenizer.decode(tokenizer.encode("CAB 请?")) == "cab 请⁇"


@pytest.mark.parametrize("kind", ["words", "characters"])
@pytest.mark.parametrize("is_lowercase", [True, False])
def test_json_files(tmp_path, kind, is_lowercase):
    made = learn(kind, ["Ein Hund, 一只狗", "ein ▁ test"], is_lowercase=is_lowercase)
    path = made.save(tmp_path / "tokenizer")
    assert path == tmp_path / "tokenizer.json"
    read = load(tmp_path / "tokenizer")
    assert type(read) is type(made)
    assert (len(read), read.fingerprint) == (len(made), made.fingerprint)
    assert read.encode("Ein Hund") == made.encode("Ein Hund")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tokens": 3}, "is damaged: it has no list of tokens. Take it from a copy"),
        ({"tokens": ["<pad>", "a"]}, "it does not begin with <pad>, <unk>, <s>, </s>."),
        ({"tokens": ["<pad>", "<unk>", "<s>", "</s>", 5]}, "it has a token that is not text."),
        ({"tokens": ["<pad>", "<unk>", "<s>", "</s>", "a", "a"]}, "it has a token twice."),
        ({"is_lowercase": None}, "it does not say is_lowercase."),
        ({"format": 9}, "has format 9; this version of Regard reads format 1. Use the version"),
        ({"kind": "magic"}, "is of kind 'magic'; known kinds are byte-pairs, characters"),
    ],
)
def test_damaged_files_are_refused(tmp_path, change, sentence):
    path = Words.train(["a"]).save(tmp_path / "tokenizer")
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(TextError) as refusal:
        load(path)
    assert sentence in str(refusal.value)
    assert str(refusal.value).startswith(f"The tokenizer in {path} ")


def test_files_that_are_not_tokenizers(tmp_path):
    with pytest.raises(TextError) as refusal:
        load(tmp_path / "none")
    assert str(refusal.value) == (
        f"There is no tokenizer at {tmp_path / 'none'}: "
        "a file ending in .model or .json is expected."
    )
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(TextError, match=r"bad\.json is damaged: it is not JSON\."):
        load(tmp_path / "bad")
    (tmp_path / "bad.model").write_bytes(b"rubbish")
    with pytest.raises(TextError, match=r"bad\.model cannot be read: it is damaged or of another"):
        load(tmp_path / "bad")
    (tmp_path / "empty.model").write_bytes(b"")
    with pytest.raises(TextError):
        load(tmp_path / "empty.model")


def test_a_tokenizer_that_cannot_be_written(tmp_path):
    with pytest.raises(
        TextError, match=r"cannot be written to .*: No such file or directory. Check"
    ):
        Words.train(["a"]).save(tmp_path / "nowhere" / "tokenizer")


def test_refusals_of_vocabularies():
    with pytest.raises(
        TextError, match=r"^There is no text to take words from: every sentence given"
    ):
        Words.train(["", "  "])
    with pytest.raises(
        TextError, match=r"^A vocabulary of 4 holds no characters: 4 ids are special"
    ):
        Characters.train(["abc"], 4)
    with pytest.raises(
        TextError, match=r"^Id 99 is not in the vocabulary, whose ids run from 0 to 4"
    ):
        Words.train(["a"]).decode([99])
    with pytest.raises(TextError, match=r"^A sentencepiece vocabulary needs a size: set text.size"):
        learn("sentencepiece", ["a"])


def test_sizes_grow_with_the_data():
    sizes = [choose_vocabulary_size(n) for n in (0, 500, 2_000, 30_000, 200_000, 10**9)]
    assert sizes == [400, 1_000, 2_000, 4_000, 10_000, 32_000]
    counts = [choose_vocabulary_size(n) for n in range(1, 200_000, 997)]
    assert counts == sorted(counts)
    assert choose_vocabulary_size(2_000, words_per_pair=375.0) == 4_000
    # Chinese characters come on top of 2,500 merges; of much text they are a part as they are.
    assert choose_vocabulary_size(2_000, n_characters=1_000) == 3_000
    assert choose_vocabulary_size(30_000, n_characters=3_000) == 5_800
