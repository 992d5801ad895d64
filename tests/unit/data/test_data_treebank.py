"""Treebanks and coreference: what is read, and what is refused with its line."""

import gzip
import lzma
from pathlib import Path

import pytest

from regard.data import (
    arcs_between_units,
    read_annotated_pairs,
    read_coreference,
    read_treebank,
)
from regard.errors import DataError
from regard.text import Characters, Words
from regard.text.sentences import place_units


def conllu(*rows: str) -> str:
    """Rows ``id form head relation [misc]`` as lines of ten columns."""
    lines = []
    for row in rows:
        number, form, head, relation, *misc = row.split()
        rest = [head, relation, "_", misc[0] if misc else "_"]
        lines.append("\t".join([number, form, "_", "NOUN", "_", "_", *rest]))
    return "\n".join([*lines, "", ""])


DOG = conllu("1 the 2 det", "2 dog 3 nsubj", "3 barks 0 root SpaceAfter=No", "4 . 3 punct")


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_words_have_their_places_governors_and_relations(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"dog.conllu{ending}"
    squeeze = {"": bytes, ".gz": gzip.compress, ".xz": lzma.compress}[ending]
    path.write_bytes(squeeze(("# newdoc\n" + DOG).encode()))
    (found,) = read_treebank(path)
    assert found.text == "the dog barks."
    assert [found.text[word.start : word.end] for word in found.words] == [
        *("the", "dog", "barks", "."),
    ]
    assert found.heads == (1, 2, -1, 2)
    assert found.relations == ("det", "nsubj", "root", "punct")


def test_multiword_tokens_are_cut_where_their_words_spell_them(tmp_path: Path) -> None:
    path = tmp_path / "many.conllu"
    path.write_text(
        conllu("1-2 don't _ _", "1 do 3 aux", "2 n't 3 advmod", "3 go 0 root", "3.1 x _ _")
        + conllu("1-2 im _ _", "1 in 3 case", "2 dem 3 det", "3 Haus 0 root")
    )
    english, german = read_treebank(path)
    assert english.text == "don't go"
    assert [(word.start, word.end) for word in english.words] == [(0, 2), (2, 5), (6, 8)]
    assert german.text == "im Haus"
    assert [(word.start, word.end) for word in german.words] == [(0, 2), (0, 2), (3, 7)]
    units = place_units(Characters.train([german.text]), german.text, german.words)
    assert units.words == ("im", "Haus")
    assert units.places == (0, 0, 1)
    assert arcs_between_units(german, units.places) == [(0, 1, "case"), (0, 1, "det")]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (conllu("1 a 2 det", "2 b 1 obj"), 1, "circle"),
        (conllu("1 a 1 det"), 1, "circle"),
        (conllu("1 a 0 root", "3 b 1 obj"), 2, "numbered 3"),
        (conllu("x a 0 root"), 1, "'x'"),
        (conllu("1 a 7 det"), 1, "'7'"),
        (conllu("1 a _ det"), 1, "'_'"),
        (conllu("1-2 ab _ _", "1 a 0 root"), 1, "1-2"),
        ("one two three\n", 1, "1 columns"),
    ],
)
def test_what_is_no_tree_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, says: str
) -> None:
    path = tmp_path / "bad.conllu"
    path.write_text(text)
    with pytest.raises(DataError, match=says) as raised:
        list(read_treebank(path))
    assert f"bad.conllu, line {line}" in str(raised.value)


def test_a_file_that_is_empty_or_missing_or_a_corpus_without_trees(tmp_path: Path) -> None:
    empty = tmp_path / "empty.conllu"
    empty.write_text("# nothing\n")
    for spec in (empty, tmp_path / "missing.conllu", "dates:test:3"):
        with pytest.raises(DataError):
            list(read_treebank(spec))


@pytest.mark.parametrize("pair", ["en-fr", "fr-zh"])
def test_the_phrasebook_has_trees_of_both_sides(pair: str) -> None:
    for one in read_annotated_pairs(f"phrasebook:{pair}:test:60"):
        for side in (one.source, one.target):
            assert [side.text[w.start : w.end] for w in side.words] == [w.text for w in side.words]
            assert side.heads.count(-1) == 1
        assert all(i < len(one.source.words) for i, _ in one.alignment)


def test_entities_of_a_document_are_antecedents_of_later_mentions(tmp_path: Path) -> None:
    first = conllu(
        "1 the 2 det Entity=(1-animal-new",
        "2 dog 3 nsubj Entity=1)",
        "3 saw 0 root",
        "4 Ann 3 obj Entity=(2-person-new)",
    )
    second = conllu("1 it 2 nsubj Entity=(1-animal-giv)", "2 ran 0 root")
    path = tmp_path / "gum.conllu"
    path.write_text(f"# newdoc id = a\n{first}{second}# newdoc id = b\n{second}")
    passage, alone = read_coreference(path)
    (found,) = passage.antecedents
    assert passage.text == "the dog saw Ann it ran"
    assert passage.heads == (1, 2, -1, 2, 5, -1)
    assert (found.place, found.right, found.wrong) == (4, ((1,),), ((3,),))
    assert alone.antecedents == ()


GAP = "ID Text Pronoun Pronoun-offset A A-offset A-coref B B-offset B-coref URL".replace(" ", "\t")
TEXT = "Mary Ann met Eve. She left."


def gap(offset: int = 18, is_first: str = "TRUE", is_second: str = "FALSE") -> str:
    columns = ("1", TEXT, "She", offset, "Mary Ann", 0, is_first, "Eve", 13, is_second, "")
    return "\t".join(str(one) for one in columns)


def test_gap_has_a_pronoun_and_two_names(tmp_path: Path) -> None:
    path = tmp_path / "gap.tsv"
    path.write_text(f"{GAP}\n{gap()}\n{gap(is_first='FALSE')}\n")
    known, neither = read_coreference(path)
    (found,) = known.antecedents
    assert (found.place, found.right, found.wrong) == (5, ((0, 1),), ((3,),))
    assert neither.antecedents == ()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{GAP}\n{gap(3)}\n", "line 2"),
        ("a\tb\n", "Text"),
        (f"{GAP}\n1\t2\n", "line 2"),
        ("", "empty"),
    ],
)
def test_a_broken_table_is_refused(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "gap.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=says):
        list(read_coreference(path))


def test_a_treebank_without_entities_has_no_coreference(tmp_path: Path) -> None:
    path = tmp_path / "dog.conllu"
    path.write_text(DOG)
    with pytest.raises(DataError, match="Entity="):
        list(read_coreference(path))


def test_units_of_words_with_places(tmp_path: Path) -> None:
    path = tmp_path / "dog.conllu"
    path.write_text(DOG)
    (found,) = read_treebank(path)
    units = place_units(Words(["the", "dog"]), found.text, found.words)
    assert units.words == ("the", "dog", "barks", ".")
    assert [token.word for token in units.tokens] == [0, 1, 2, 3]
