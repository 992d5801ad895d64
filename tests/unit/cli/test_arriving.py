"""Lines are given as they arrive, and what stands before a fault is given before it."""

import gzip
import os
import threading
from pathlib import Path

import pytest

from regard.cli import arriving
from regard.cli.arriving import lines_of_files, lines_of_stdin
from regard.errors import DataError


def piped(*chunks: bytes) -> int:
    """A descriptor from which these bytes can be read."""
    reading, writing = os.pipe()

    def write() -> None:
        for chunk in chunks:
            os.write(writing, chunk)
        os.close(writing)

    threading.Thread(target=write).start()
    return reading


def test_a_line_is_given_before_the_next_is_written() -> None:
    reading, writing = os.pipe()
    bursts = lines_of_stdin(reading)
    for sentence in ("a dog", "", "机器学习"):
        os.write(writing, f"{sentence}\n".encode())
        assert next(bursts) == [sentence]
    os.write(writing, b"no end")
    os.close(writing)
    assert list(bursts) == [["no end"]]


def test_all_lines_come_whole_however_they_were_cut() -> None:
    text = "".join(f"Zeile {i} — 机器\r\n" for i in range(5000)).encode()
    cut = [text[i : i + 997] for i in range(0, len(text), 997)]
    found = [line for burst in lines_of_stdin(piped(*cut)) for line in burst]
    assert found == [f"Zeile {i} — 机器" for i in range(5000)]


def test_marks_and_nuls_are_dropped() -> None:
    assert list(lines_of_stdin(piped(b"\xef\xbb\xbfa\0b"))) == [["ab"]]


def test_what_comes_before_invalid_bytes_is_given_first() -> None:
    bursts = lines_of_stdin(piped(b"one\ntwo\nth\xffree\nfour\n"))
    assert next(bursts) == ["one", "two"]
    with pytest.raises(DataError) as refused:
        next(bursts)
    assert str(refused.value) == (
        "standard input, line 3: byte 3 of the line (0xFF) is not UTF-8. Convert the text, for "
        "example: iconv -f ISO-8859-1 -t UTF-8"
    )


def test_chinese_that_is_no_utf_8_is_told_how_it_is_converted() -> None:
    with pytest.raises(DataError, match=r"for example: iconv -f GB18030 -t UTF-8$"):
        next(lines_of_stdin(piped("你好，Tom。\n".encode("gb18030"))))


def test_a_line_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arriving, "_LONGEST", 1000)
    with pytest.raises(DataError, match="line 1: the line is longer than 1,000 bytes"):
        list(lines_of_stdin(piped(b"x" * 3000)))


def test_files_follow_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arriving, "MOST_LINES", 2)
    (tmp_path / "a").write_bytes(b"1\n2\n3\n")
    (tmp_path / "b.gz").write_bytes(gzip.compress(b"4\n5"))
    assert list(lines_of_files([tmp_path / "a", tmp_path / "b.gz"])) == [
        ["1", "2"],
        ["3", "4"],
        ["5"],
    ]
    (tmp_path / "c").write_bytes(b"6\n\xff\n")
    bursts = lines_of_files([tmp_path / "c"])
    assert next(bursts) == ["6"]
    with pytest.raises(DataError, match="line 2: byte 1"):
        next(bursts)
