"""Minimal pairs in the forms that the field has them in, and files that are none."""

import gzip
import json
import lzma
from pathlib import Path

import pytest

from regard.data.minimal_pairs import MinimalPair, read_minimal_pairs
from regard.errors import DataError

TABLE = "phenomenon\tparadigm\tgood\tbad\n" + "".join(
    f'agreement\t{name}\tThe "cat" {n} sleeps.\tThe "cat" {n} sleep.\n'
    for name in ("one", "two")
    for n in range(3)
)


@pytest.mark.parametrize("ending", ["", ".gz", ".xz"])
def test_a_table(tmp_path: Path, ending: str) -> None:
    opened = {"": open, ".gz": gzip.open, ".xz": lzma.open}[ending]
    path = tmp_path / f"set.tsv{ending}"
    with opened(path, "wb") as file:
        file.write(TABLE.encode())
    found = read_minimal_pairs(path)
    assert len(found) == 6
    first = 'The "cat" 0 sleeps.', 'The "cat" 0 sleep.'
    assert found[0] == MinimalPair("agreement", "one", *first)
    assert [one.paradigm for one in read_minimal_pairs(path, limit=1)] == ["one", "two"]


def test_commonmt(tmp_path: Path) -> None:
    path = tmp_path / "lexical.csv"
    path.write_text(
        "chinese_source,english_target_correct,english_target_wrong\n"
        '他喜欢吃苹果。,"He likes apples, a lot.",He destroys apples.\n',
        encoding="utf-8",
    )
    (found,) = read_minimal_pairs(path)
    sentences = "He likes apples, a lot.", "He destroys apples.", "他喜欢吃苹果。"
    assert found == MinimalPair("lexical", "lexical", *sentences)


def test_blimp(tmp_path: Path) -> None:
    path = tmp_path / "adjunct_island.jsonl"
    row = {"sentence_good": "Yes.", "sentence_bad": "No.", "UID": "u", "linguistics_term": "t"}
    path.write_text(json.dumps(row | {"pairID": 3}) + "\n", encoding="utf-8")
    assert read_minimal_pairs(path) == [MinimalPair("t", "u", "Yes.", "No.")]


def test_discourse(tmp_path: Path) -> None:
    path = tmp_path / "anaphora.json"
    target = {"correct": ["Le toit.", "Il."], "incorrect": ["Le toit.", "Elle."], "type": "m.sg"}
    other = {"semi-correct": ["La.", "Elle."], "incorrect": ["La.", "Il."], "type": "f.sg"}
    block = {"src": ["The roof.", "It."], "trg": [target, other]}
    path.write_text(json.dumps({"1": block}), encoding="utf-8")
    first, second = read_minimal_pairs(path)
    assert (first.good, first.bad, first.source) == (
        "Le toit. Il.",
        "Le toit. Elle.",
        "The roof. It.",
    )
    assert (first.paradigm, second.phenomenon) == ("m.sg", "anaphora, semi-correct")
    path.write_text(
        json.dumps({"1": {"type": "repet", "examples": [{"src": ["A"], "trg": target}]}}),
        encoding="utf-8",
    )
    assert read_minimal_pairs(path)[0].paradigm == "m.sg"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.tsv", "one\ttwo\n", "good, bad"),
        ("a.tsv", "", "good, bad"),
        ("a.tsv", "good\tbad\n", "no minimal pairs"),
        ("a.tsv", "good\tbad\na\tb\tc\n", "line 2"),
        ("a.tsv", "good\tbad\na\t \n", "no bad sentence"),
        ("a.tsv", "good\tbad\tsource\na\tb\tc\na\tb\t\n", "all or none"),
        ("a.json", "[", "not JSON"),
        ("a.json", '{"1": {}}', "contrastive"),
        ("a.jsonl", "3\n", "object"),
        ("a.csv.gz", "good,bad", "damaged"),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=said) as refused:
        read_minimal_pairs(tmp_path / name)
    assert name in str(refused.value)


def test_a_folder_is_no_set(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="folder"):
        read_minimal_pairs(tmp_path)
