"""Text to a stream of ids, and the stream to windows and passages."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from regard.corpora import TEXTS
from regard.data import (
    Passages,
    Place,
    PreparedText,
    Windows,
    documents,
    held_out_windows,
    parse_text,
    prepare_text,
)
from regard.errors import DataError
from regard.special import BOS, EOS, PAD
from regard.text import Characters

TEXT = "one line\n\n  another,\n"
LETTERS = Characters.train([TEXT])


def file(folder: Path, text: str, name: str = "a.txt") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    return str(folder / name)


def test_a_file_is_one_document_with_its_layout(tmp_path: Path) -> None:
    specs = [parse_text(file(tmp_path, TEXT)), parse_text(file(tmp_path, "line\n", "b.txt"))]
    text = prepare_text(specs, tmp_path / "run", LETTERS)
    assert text.starts.tolist() == [0, len(TEXT) + 2, len(TEXT) + 9]
    assert (text.ids[0], text.ids[len(TEXT) + 1]) == (BOS, EOS)
    assert LETTERS.decode(text.ids.tolist()) == TEXT + "line\n"
    assert text.n_characters == len(TEXT) + 5


def test_a_line_may_be_a_document(tmp_path: Path) -> None:
    specs = [parse_text(file(tmp_path, TEXT))]
    assert list(documents(specs, "line")) == [["one line"], ["another,"]]


def test_what_is_prepared_is_opened_again(tmp_path: Path) -> None:
    name = file(tmp_path, TEXT)
    first = prepare_text([parse_text(name)], tmp_path / "run", LETTERS)
    written = (tmp_path / "run" / "ids.bin").stat().st_mtime_ns
    again = prepare_text([parse_text(name)], tmp_path / "run", LETTERS)
    assert (tmp_path / "run" / "ids.bin").stat().st_mtime_ns == written
    assert first.fingerprint == again.fingerprint
    file(tmp_path, TEXT + TEXT)
    assert prepare_text([parse_text(name)], tmp_path / "run", LETTERS).n_characters == 2 * len(TEXT)


def test_a_damaged_text_is_refused(tmp_path: Path) -> None:
    prepare_text([parse_text(file(tmp_path, TEXT))], tmp_path / "run", LETTERS)
    with (tmp_path / "run" / "ids.bin").open("ab") as ids:
        ids.write(b"x")
    with pytest.raises(DataError, match=r"ids.bin is damaged: it has 47 bytes instead of 46"):
        prepare_text([parse_text(str(tmp_path / "a.txt"))], tmp_path / "run", LETTERS)


@pytest.mark.parametrize("name", ["ids.bin", "starts.bin", "header.json"])
def test_a_flipped_bit_of_a_text_is_refused(tmp_path: Path, name: str) -> None:
    prepare_text([parse_text(file(tmp_path, TEXT))], tmp_path / "run", LETTERS)
    path = tmp_path / "run" / name
    whole = path.read_bytes()
    path.write_bytes(whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:])
    with pytest.raises(DataError, match=name):
        PreparedText(tmp_path / "run")


def test_places_and_ids_that_cannot_be_are_refused_without_checksums_too(tmp_path: Path) -> None:
    specs = [parse_text(file(tmp_path, TEXT))]
    for name, place, value in (
        ("starts.bin", 0, 1),
        ("starts.bin", 1, 1 << 40),
        ("ids.bin", 3, 999),
    ):
        prepare_text(specs, tmp_path / name, LETTERS)
        (tmp_path / name / "CHECKSUMS").unlink()
        dtype = "int64" if name == "starts.bin" else "uint16"
        numbers = np.fromfile(tmp_path / name / name, dtype)
        numbers[place] = value
        numbers.tofile(tmp_path / name / name)
        with pytest.raises(DataError, match=name):
            prepare_text(specs, tmp_path / name, LETTERS)
        shutil.rmtree(tmp_path / name)


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("empty.txt", "empty.txt holds no text. Is it the right file?"),
        (".", ". is a folder: name a file of text in it."),
        ("pydocs", "pydocs: no such file, nor a text that needs none; did you mean pydoc? Paths"),
        ("x.txt", "x.txt: no such file, nor a text that needs none; they are pydoc and python-"),
    ],
)
def test_what_is_no_text_is_refused(
    name: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty.txt").write_text(" \n\n")
    with pytest.raises(DataError) as caught:
        list(documents([parse_text(name)]))
    assert str(caught.value).startswith(sentence)


def test_there_are_texts_that_need_no_file() -> None:
    assert sum(map(len, TEXTS["pydoc"].texts())) > 300_000
    modules = TEXTS["python-source"].texts()
    assert "\nclass " in "".join(next(modules) for _ in range(5))
    assert TEXTS["pydoc"].version


IDS = np.arange(100, 331)  # 231 ids: 230 are predicted


def test_an_epoch_reads_nearly_everything_once() -> None:
    plan = Windows(IDS, 7, seed=3, batch_tokens=15)
    rows = plan.epoch(0)
    assert all(len(batch) == 2 for batch in rows)
    windows = [plan.batch(batch) for batch in rows]
    assert all(one.target.shape == (2, 8) and one.source.shape == (2, 0) for one in windows)
    read = np.concatenate([one.target[:, :-1].numpy().ravel() for one in windows])
    assert len(set(read.tolist())) == len(read) == 7 * 2 * len(rows) >= 210
    for one in windows:
        assert bool((one.target[:, 1:] == one.target[:, :-1] + 1).all())
    assert [r.tolist() for r in plan.epoch(0)] == [r.tolist() for r in rows]
    assert [r.tolist() for r in plan.epoch(1)] != [r.tolist() for r in rows]


def test_a_place_is_all_there_is_to_save() -> None:
    plan = Windows(IDS, 7, seed=3, batch_tokens=40)
    batches = plan.iterate()
    seen = [next(batches).target.tolist() for _ in range(12)]
    later = plan.iterate(Place(1, 2))
    n_epoch = len(plan.epoch(0))
    assert next(later).target.tolist() == seen[n_epoch + 2]


def test_processes_share_the_windows_of_a_batch() -> None:
    together = Windows(IDS, 7, seed=3, batch_tokens=28).epoch(2)
    parts = [Windows(IDS, 7, 3, 14, rank, 2).epoch(2) for rank in (0, 1)]
    for whole, *shares in zip(together, *parts, strict=True):
        assert sorted(whole.tolist()) == sorted([one for part in shares for one in part.tolist()])


def test_too_little_text_is_refused() -> None:
    with pytest.raises(DataError) as caught:
        Windows(IDS[:7], 7, 1, 10)
    assert str(caught.value) == (
        "the text has 7 tokens, and model.context = 7 are read at once: give more text, or a "
        "smaller context"
    )
    assert len(Windows(IDS[:8], 7, 1, 10).epoch(0)) == 1
    with pytest.raises(DataError, match="3 windows cannot be shared by 4 processes"):
        Windows(IDS[:25], 7, 1, 10, 0, 4)


def test_what_is_held_out_is_measured_once() -> None:
    batches = held_out_windows(IDS, 7, 10_000)
    rows = np.concatenate([one.target.numpy() for one in batches])
    predicted = rows[:, 1:][rows[:, 1:] != PAD]
    assert predicted.tolist() == IDS[1:].tolist()
    few = held_out_windows(IDS, 7, 35)
    assert sum(len(one) for one in few) == 5


STARTS = np.array([0, 41, 45, 231])


def test_passages_stay_within_their_documents() -> None:
    ids = IDS.copy()
    ids[[0, 41, 45]], ids[[40, 44, 230]] = BOS, EOS
    plan = Passages(ids, STARTS, 12, seed=1, batch_tokens=60)
    passages = plan.cut(4)
    read = [one for a, b in passages.tolist() for one in range(a, b)]
    assert read == [*range(1, 40), *range(42, 44), *range(46, 230)]
    lengths = passages[:, 1] - passages[:, 0]
    assert lengths.max() == 10
    assert len(set(lengths.tolist())) > 3
    batch = plan.batch(plan.epoch(4)[0])
    assert batch.source[:, 0].tolist() == [BOS] * len(batch)
    assert bool(((batch.source == EOS).sum(1) == 1).all())
    assert batch.target.shape == (len(batch), 0)
    every = sorted(tuple(row) for rows in plan.epoch(4) for row in rows.tolist())
    assert set(every) <= {tuple(row) for row in passages.tolist()}


def test_a_context_without_room_is_refused() -> None:
    with pytest.raises(DataError, match=r"cut into passages of model.context = 2 tokens"):
        Passages(IDS, STARTS, 2, 1, 60)
