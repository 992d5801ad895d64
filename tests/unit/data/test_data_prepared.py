"""The corpus on disk: written once, reused, replaced whole, refused when damaged."""

import json
import os

import numpy as np
import pytest

from regard.data import PreparedCorpus, prepare
from regard.errors import DataError
from regard.text import Characters, SentencePieceText, Words

LINES = ["the dog\tder Hund", "the cat\tdie Katze", "the dog\tder Hund", "a\tein langer Satz hier"]


@pytest.fixture
def words():
    return Words.train(LINES)


@pytest.fixture
def train(tmp_path):
    path = tmp_path / "train.tsv"
    path.write_text("\n".join(LINES) + "\n")
    return path


def decoded(corpus, tokenizer):
    return [tuple(tokenizer.decode(side) for side in corpus[i]) for i in range(len(corpus))]


def test_pairs_come_back(tmp_path, train, words):
    corpus = prepare([train], tmp_path / "prepared", words)
    assert decoded(corpus, words) == [
        ("the dog", "der Hund"),
        ("the cat", "die Katze"),
        ("a", "ein langer Satz hier"),
    ]
    source, target = corpus.lengths()
    assert source.tolist() == [2, 2, 1]
    assert target.tolist() == [2, 2, 4]
    assert corpus.account.line() == "4 pairs read, 3 kept; dropped: 1 duplicate"
    assert corpus[-1][1].tolist() == corpus[2][1].tolist()
    with pytest.raises(IndexError, match="pair 3 of 3"):
        corpus[3]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["prepared", "train.tsv"]


def test_two_tokenizers_and_small_or_large_ids(tmp_path, train):
    source = Words([str(i) for i in range(70_000)] + ["the", "dog", "cat", "a"])
    target = Characters.train(LINES)
    corpus = prepare([train], tmp_path / "prepared", source, target)
    assert corpus[0][0].dtype == np.int32
    assert corpus[0][1].dtype == np.uint16
    assert source.decode(corpus[1][0]) == "the cat"
    assert target.decode(corpus[1][1]) == "die Katze"


def test_a_weight_repeats_pairs_although_duplicates_go(tmp_path, train, words):
    corpus = prepare([f"{train}*3"], tmp_path / "prepared", words)
    assert len(corpus) == 9
    assert corpus.account.n_kept == 3
    assert sorted(decoded(corpus, words)) == sorted(decoded(corpus, words)[:3] * 3)


def test_a_second_run_reuses_and_a_change_prepares_anew(tmp_path, train, words):
    folder = tmp_path / "prepared"
    header = folder / "header.json"

    def written(*specs, tokenizer=words, **options):
        header.touch() if header.exists() else None
        if header.exists():
            os.utime(header, ns=(1, 1))
        prepare(specs or [train], folder, tokenizer, **options)
        return header.stat().st_mtime_ns != 1

    assert written()
    assert not written()
    assert written(max_length=9)
    assert not written(max_length=9)
    assert written(f"{train}*2", max_length=9)
    assert written(tokenizer=Words.train(LINES, is_lowercase=True))
    assert not written(tokenizer=Words.train(LINES, is_lowercase=True))
    train.write_text("new\tneu\n")
    assert written(tokenizer=Words.train(LINES, is_lowercase=True))
    header.write_text("{")
    assert written(tokenizer=Words.train(LINES, is_lowercase=True))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["prepared", "train.tsv"]


def test_validation_pairs_inside_the_training_data_are_counted(tmp_path, train, words):
    valid = tmp_path / "valid.tsv"
    valid.write_text("the cat\tdie Katze\nother\tanders\n")
    corpus = prepare([train], tmp_path / "prepared", words, held_out=[valid])
    assert (corpus.account.n_overlap, corpus.account.n_held_out) == (1, 2)
    assert len(corpus) == 3
    again = prepare([train], tmp_path / "prepared", words, held_out=[valid])
    assert again.account == corpus.account


def test_chunks_do_not_show(tmp_path, monkeypatch, words):
    path = tmp_path / "many.tsv"
    path.write_text("".join(f"the dog {i % 7} \tdie Katze {i}\n" for i in range(50)))
    whole = prepare([path], tmp_path / "whole", words)
    monkeypatch.setattr("regard.data.prepared._CHUNK", 3)
    parts = prepare([path], tmp_path / "parts", words)
    for name in ("source.ids.bin", "target.ids.bin", "source.offsets.bin", "target.offsets.bin"):
        assert (whole.folder / name).read_bytes() == (parts.folder / name).read_bytes()


def test_sentencepiece_ids(tmp_path, train):
    tokenizer = SentencePieceText.train(LINES * 4, 300, is_upper_limit=True)
    corpus = prepare([train], tmp_path / "prepared", tokenizer)
    assert corpus[0][0].tolist() == tokenizer.encode("the dog")


def test_refusals(tmp_path, train, words):
    folder = tmp_path / "prepared"
    with pytest.raises(DataError) as refusal:
        prepare([], folder, words)
    assert str(refusal.value) == (
        "No examples were named: set data.train, for example to train.en|train.de."
    )
    with pytest.raises(DataError) as refusal:
        prepare([train], folder, Characters.train(LINES), max_length=1)
    assert str(refusal.value) == (
        f"No pair of {train} is left to learn from (4 pairs read, 0 kept; dropped: 3 too long, "
        "1 duplicate). Look at the examples, or change data.max_length and data.max_ratio."
    )
    assert [p.name for p in tmp_path.iterdir()] == ["train.tsv"]
    with pytest.raises(DataError) as refusal:
        PreparedCorpus(folder)
    assert str(refusal.value) == (
        f"{folder} is not a prepared corpus: it has no readable header.json."
    )


def test_a_folder_of_something_else_is_left_alone(tmp_path, train, words):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "thesis.txt").write_text("precious")
    with pytest.raises(DataError) as refusal:
        prepare([train], folder, words)
    assert str(refusal.value) == (
        f"{folder} exists and is not a prepared corpus, so it is left alone. Name another folder, "
        "or delete this one."
    )
    assert [p.name for p in folder.iterdir()] == ["thesis.txt"]


def test_damage_is_noticed(tmp_path, train, words):
    folder = tmp_path / "prepared"
    prepare([train], folder, words)
    ids = folder / "target.ids.bin"
    ids.write_bytes(ids.read_bytes()[:-2])
    with pytest.raises(DataError) as refusal:
        PreparedCorpus(folder)
    assert str(refusal.value) == (
        f"{ids} is damaged: it has 14 bytes instead of 16. Delete the folder {folder} and it will "
        "be prepared anew."
    )
    assert json.loads((folder / "header.json").read_text())["n_pairs"] == 3


def test_a_broken_file_leaves_the_old_corpus(tmp_path, train, words):
    folder = tmp_path / "prepared"
    prepare([train], folder, words)
    train.write_text("a\tb\nbroken\n")
    with pytest.raises(DataError, match="has no tab"):
        prepare([train], folder, words)
    assert len(PreparedCorpus(folder)) == 3
    assert sorted(p.name for p in tmp_path.iterdir()) == ["prepared", "train.tsv"]


@pytest.mark.parametrize(
    "name",
    ["source.offsets.bin", "target.offsets.bin", "source.ids.bin", "target.ids.bin", "header.json"],
)
def test_a_flipped_bit_is_noticed(tmp_path, train, words, name):
    folder = tmp_path / "prepared"
    prepare([train], folder, words)
    path = folder / name
    whole = path.read_bytes()
    for at in range(0, len(whole), 1 + len(whole) // 40):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 2]) + whole[at + 1 :])
        with pytest.raises(DataError, match="header.json" if name == "header.json" else name):
            PreparedCorpus(folder)
    path.write_bytes(whole)
    prepare([train], folder, words)


@pytest.mark.parametrize(
    ("name", "values", "dtype"),
    [
        ("source.offsets.bin", [0, 4, 2, 5], "int64"),
        ("source.offsets.bin", [1, 2, 4, 5], "int64"),
        ("target.offsets.bin", [0, 2, 4, 1 << 40], "int64"),
        ("target.offsets.bin", [0, -1, 4, 8], "int64"),
        ("source.ids.bin", [4, 5, 4, 9_000, 6], "uint16"),
    ],
)
def test_what_cannot_be_is_refused_without_checksums_too(
    tmp_path, train, words, name, values, dtype
):
    folder = tmp_path / "prepared"
    prepare([train], folder, words)
    (folder / "CHECKSUMS").unlink()
    prepare([train], folder, words)
    (folder / name).write_bytes(np.asarray(values, dtype).tobytes())
    with pytest.raises(DataError, match=name):
        prepare([train], folder, words)


@pytest.mark.parametrize(
    "change",
    [{"n_pairs": "many"}, {"source_dtype": "object"}, {"account": 3}, {"n_source_ids": {}}],
)
def test_a_header_of_other_types_is_refused(tmp_path, train, words, change):
    folder = tmp_path / "prepared"
    prepare([train], folder, words)
    (folder / "CHECKSUMS").unlink()
    header = json.loads((folder / "header.json").read_text())
    (folder / "header.json").write_text(json.dumps(header | change))
    with pytest.raises(DataError, match=r"header\.json"):
        PreparedCorpus(folder)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"format": 1}'])
def test_a_header_that_says_nothing_is_written_anew(tmp_path, train, words, text):
    folder = tmp_path / "prepared"
    prepare([train], folder, words)
    (folder / "header.json").write_text(text)
    assert len(prepare([train], folder, words)) == 3
