"""Examples with labels: how they are written, what is refused and at which line, and their rows."""

import re
from pathlib import Path

import numpy as np
import pytest

from regard.data import (
    NOTHING,
    Classified,
    LabelledBatches,
    LabelledRows,
    Tagged,
    parse_labelled,
    read_classified,
    read_tagged,
    text_row,
    word_rows,
)
from regard.errors import DataError
from regard.special import BOS, EOS, PAD
from regard.text import Words
from regard.text.sentences import WordIds


def classified(tmp_path: Path, content: str, **known: object) -> list[Classified]:
    path = tmp_path / "pets.tsv"
    path.write_text(content, encoding="utf-8")
    return read_classified([parse_labelled(str(path))], **known)


def tagged(tmp_path: Path, content: str, name: str = "pets.tsv", **known: object) -> list[Tagged]:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return read_tagged([parse_labelled(str(path))], **known)


def test_texts_and_pairs_of_texts(tmp_path: Path) -> None:
    assert classified(tmp_path, "the cat\tpet\n\n 一只狼 \twild\n") == [
        Classified(("the cat",), "pet"),
        Classified(("一只狼",), "wild"),
    ]
    assert classified(tmp_path, "a cat\ta pet\tyes\n") == [Classified(("a cat", "a pet"), "yes")]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("a\tx\nthe cat\n", "line 2: 'the cat' has no tab. Each line is a text, a tab and its"),
        ("a\tx\n\nb\t\n", "line 3: the label is empty."),
        ("\tx\n", "line 1: the text is empty."),
        ("a\tb\tc\tx\n", "line 1: 4 columns. Each line is a text, a tab and its label, or two"),
        ("a\tx\na\tb\tx\n", "line 2: 2 texts before the label, and the first example has 1."),
        ("", "holds no examples. Is it the right file?"),
        ("\n \n", "holds no examples. Is it the right file?"),
    ],
)
def test_a_fault_has_its_line(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(DataError, match=re.escape(sentence)) as refusal:
        classified(tmp_path, content)
    assert str(refusal.value).startswith(str(tmp_path / "pets.tsv"))


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("我爱北京。\tO O B-X I-X O\n你好\tO O\n", "O O B-X I-X O"),
        ("my cat\tO NOUN\na dog sleeps\tO NOUN VERB\n", "O NOUN VERB"),
        ("北京\tB-PLACE\n很\tO\n大\tO\n", "B-PLACE"),
    ],
)
def test_tags_of_words_are_no_labels_of_texts(tmp_path: Path, content: str, shown: str) -> None:
    with pytest.raises(DataError) as caught:
        classified(tmp_path, content)
    assert str(caught.value) == (
        f"{tmp_path / 'pets.tsv'} has tags of words, such as {shown!r}, and not a label of each "
        "text. Train the recipe bert-tag with it, or give each text one label."
    )


def test_a_label_may_have_spaces(tmp_path: Path) -> None:
    found = classified(tmp_path, "my cat\ta pet\nthe old wolf\ta wild animal, or so\n")
    assert [one.label for one in found] == ["a pet", "a wild animal, or so"]


def test_labels_that_may_come_are_listed_in_short(tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        classified(tmp_path, "cat\tfish\n", labels=["pet" * 100, "wild"])
    assert len(str(caught.value)) < 300
    assert f"training data: {'pet' * 20}..., wild. Correct it" in str(caught.value)


def test_a_label_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError) as refusal:
        classified(tmp_path, "a\tx\nb\tz\n", labels={"x", "y"})
    assert str(refusal.value) == (
        f"{tmp_path / 'pets.tsv'}, line 2: the label 'z' is not among those of the training data: "
        "x, y. Correct it, or take the line out."
    )
    with pytest.raises(DataError, match="line 2: the label 'C' is not among those of"):
        tagged(tmp_path, "a\tA\nb\tC\n", tags={"A", "B"})


SENTENCES = [Tagged(("The", "dog", "."), ("D", "N", "P")), Tagged(("Go",), ("V",))]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.tsv", "The\tD\ndog\tN\n.\tP\n\n\nGo\tV\n"),
        ("a.bio", "\r\nThe\tD\r\ndog\tN\r\n.\tP\r\n\r\nGo\tV"),
        ("a.tsv", "The dog .\tD N P\nGo\tV\n"),
        (
            "a.conllu",
            "# text = The dog.\n1-2\tThedog" + "\t_" * 8 + "\n1\tThe\tthe\tD" + "\t_" * 6 + "\n"
            "2\tdog\tdog\tN" + "\t_" * 6 + "\n2.1\tis\tbe\tV" + "\t_" * 6 + "\n"
            "3\t.\t.\tP" + "\t_" * 6 + "\n\n1\tGo\tgo\tV" + "\t_" * 6 + "\n",
        ),
    ],
    ids=["a word a line", "another ending", "a sentence a line", "CoNLL-U"],
)
def test_tags_stand_in_several_ways(tmp_path: Path, name: str, content: str) -> None:
    assert tagged(tmp_path, content, name) == SENTENCES


def test_signs_and_numbers_are_words(tmp_path: Path) -> None:
    (found,) = tagged(tmp_path, "。。\tP\n３，５００\tN\nTraum，\tN\n")
    assert found.words == ("。。", "３，５００", "Traum，")
    line = "1\t你，我\t_\tX" + "\t_" * 6
    assert tagged(tmp_path, f"{line}\n", "a.conllu") == [Tagged(("你，我",), ("X",))]


def test_a_word_of_conllu_may_have_a_space(tmp_path: Path) -> None:
    (found,) = tagged(tmp_path, "1\t10 000\t_\tNUM" + "\t_" * 6 + "\n", "a.conllu")
    assert found == Tagged(("10 000",), ("NUM",))


def test_characters_of_chinese_are_words(tmp_path: Path) -> None:
    (found,) = tagged(tmp_path, "我爱北京。\tO O B-L I-L O\n")
    assert found.words == tuple("我爱北京。")
    assert found.texts == ("我爱北京。",)
    first, second = tagged(tmp_path, "我 爱 北京\tO O L\nhello.\tX\n")
    assert (first.words, second.words) == (("我", "爱", "北京"), ("hello.",))


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.tsv", "a b\tX Y\nc d\tX\n", "line 2: 2 words and 1 tag. Each word has one tag;"),
        ("a.tsv", "a b\tX Y\nc d\n", "line 2: 'c d' has no tab. Each line is the words of a"),
        ("a.tsv", "a\tX\nb\n", "line 2: 'b' has no tab. Each line is a word, a tab and its tag"),
        ("a.tsv", "a\tX\nb\t\n", "line 2: a word or a tag is missing."),
        ("a.tsv", "a\tX\tY\n", "line 1: 3 columns. Each line is a word, a tab and its tag"),
        (
            "a.tsv",
            "Go\tO\nTom likes\tO\n",
            "line 2: 'Tom likes' has a space, so it is several words, and one tag. Each line is a "
            "word, a tab and its tag, with an empty line between sentences; or all words of a",
        ),
        (
            "a.tsv",
            "我们\tO\n你好。\tO\n",
            "line 2: '你好。' is several words, and has one tag. Each",
        ),
        ("a.tsv", "我们\tO O\n你好。\tO\n", "line 2: 3 words and 1 tag. Each word has one tag;"),
        ("a.conllu", "1\ta\tX\n", "line 1: 3 columns, and CoNLL-U has 10"),
        ("a.tsv", "\n", "holds no examples. Is it the right file?"),
    ],
)
def test_a_fault_of_tags_has_its_line(
    tmp_path: Path, name: str, content: str, sentence: str
) -> None:
    with pytest.raises(DataError, match=re.escape(sentence)):
        tagged(tmp_path, content, name)


def test_names_of_files(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        parse_labelled("nowhere.tsv")
    for name in ("a", "b"):
        (tmp_path / name).write_text("x\ty\n", encoding="utf-8")
    with pytest.raises(DataError, match="names two files: examples with labels stand in one"):
        parse_labelled(f"{tmp_path / 'a'}|{tmp_path / 'b'}")
    assert len(read_classified([parse_labelled(f"{tmp_path / 'a'}*3")])) == 3


LETTERS = Words.train(["a b c d e f g h i j"])


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["a b"], "a b |"),
        (["a b c d e f g"], "a b c d e f |"),
        (["a", "b c"], "a | b c |"),
        (["a b", "c d e f g"], "a b | c d e |"),
        (["a b c d e f", "g"], "a b c d | g |"),
        (["a b c d e", "f g h i j"], "a b c | f g |"),
    ],
)
def test_what_is_too_long_is_cut_where_it_is_longest(texts: list[str], expected: str) -> None:
    row, is_cut = text_row(LETTERS, texts, context=8)
    assert row[0] == BOS
    shown = ["|" if one == EOS else LETTERS.token(one) for one in row[1:]]
    assert " ".join(shown) == expected
    assert is_cut == (sum(len(text.split()) for text in texts) > 7 - len(texts))


def test_a_long_sentence_goes_on_in_another_row() -> None:
    cut = WordIds([9, 10, 11, 12, 13, 14, 15, 16, 17], [1, 2, 5, 8])
    assert word_rows(cut, 6) == [
        ([BOS, 9, 10, EOS], [2]),
        ([BOS, 11, 12, 13, EOS], [1]),
        ([BOS, 14, 15, 16, 17, EOS], [1, 4]),
    ]
    assert word_rows(cut, 20) == [([BOS, *cut.ids, EOS], [2, 3, 6, 9])]
    long = WordIds([*range(5, 25), 30], [0, 20])  # a word of twenty pieces
    assert word_rows(long, 8) == [([BOS, *range(5, 11), EOS], [1]), ([BOS, 30, EOS], [1])]


def test_batches_hold_rows_and_labels() -> None:
    rows = [[BOS, 5, EOS], [BOS, 5, 6, 7, EOS], [BOS, 8, 9, EOS]]
    labels = [[NOTHING, 1, NOTHING], [NOTHING, 0, NOTHING, 2, NOTHING], [NOTHING, 2, 1, NOTHING]]
    corpus = LabelledRows([*map(np.asarray, rows)], [*map(np.asarray, labels)])
    batch = LabelledBatches(corpus, 1, 100).batch(np.asarray([0, 1]))
    assert batch.source.tolist() == [[BOS, 5, EOS, PAD, PAD], rows[1]]
    assert batch.target.tolist() == [[*labels[0], NOTHING, NOTHING], labels[1]]
    seen = [row for rows in LabelledBatches(corpus, 1, 10).epoch(0) for row in rows.tolist()]
    assert sorted(seen) == [0, 1, 2]
