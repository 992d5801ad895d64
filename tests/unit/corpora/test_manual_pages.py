"""Manual pages: what roff says in plain text, and which pages are examples."""

import gzip
from pathlib import Path

import pytest

from regard.corpora import manual_pages, open_corpus, parse_extract
from regard.corpora.roff import read_sections
from regard.errors import DataError

LS = r"""'\" t
.\" made by hand
.de Vb
.SH not a title
..
.ie \n(.g .ds Aq \(aq
.el       .ds Aq '
.TH LS "1" "September 2022"
.SH NAME
ls \- list directory contents
.SH SYNOPSIS
.B ls
[\fI\,OPTION\/\fR]...
.SH DESCRIPTION
.if t \{\
not on paper
.\}
List \*(Aqall\*(Aq files; see
.BR stat (2).
.TP
\fB\-a\fR, \fB\-\-all\fR
do not ignore \e and \(lqx\(rq
.TS
l l.
one	two
.TE
.EQ
x over y
.EN
"""
CAT = r""".Dd May 2, 1995
.Dt CAT 1
.Sh NAME
.Nm cat
.Nd concatenate and print files
.Sh SYNOPSIS
.Nm
.Op Fl benstuv
.Op Ar
"""


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, **pages: str) -> None:
    monkeypatch.setattr(manual_pages, "FOLDERS", (str(folder),))
    (folder / "man1").mkdir(parents=True)
    for name, text in pages.items():
        (folder / "man1" / f"{name}.1.gz").write_bytes(gzip.compress(text.encode()))


def test_a_page_of_man_becomes_plain_text() -> None:
    sections = {one.title: one.text for one in read_sections(LS)}
    assert sections == {
        "NAME": "ls - list directory contents",
        "SYNOPSIS": "ls [OPTION]...",
        "DESCRIPTION": "List 'all' files; see stat(2). -a, --all do not ignore \\ and “x” one two",
    }


def test_a_page_of_mdoc_becomes_plain_text() -> None:
    sections = {one.title: one.text for one in read_sections(CAT)}
    assert sections == {
        "NAME": "cat - concatenate and print files",
        "SYNOPSIS": "cat -benstuv",
    }


def test_examples_are_pages_with_a_line_under_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, monkeypatch, ls=LS, dir=LS, cat=CAT, alias=".so man1/ls.1", empty="")
    (tmp_path / "man1" / "damaged.1.gz").write_bytes(b"\x1f\x8bno")
    found = [one for split in ("train", "valid", "test")
             for one in open_corpus("manual-pages", "en").examples(split, 1)]  # fmt: skip
    assert {one.target for one in found} == {
        "list directory contents",
        "concatenate and print files",
    }
    assert all("\n" not in one.source and "list directory" not in one.source for one in found)
    before = manual_pages.version()
    (tmp_path / "man1" / "new.1").write_text(CAT)
    manual_pages._fingerprint.cache_clear()
    assert manual_pages.version() != before


def test_a_chinese_page_has_its_own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, monkeypatch, ls=LS)
    (tmp_path / "zh_CN" / "man1").mkdir(parents=True)
    page = ".TH LS 1\n.SH 名称\nls \\- 列出目录内容\n.SH 描述\n列出文件。\n"
    (tmp_path / "zh_CN" / "man1" / "ls.1").write_text(page, encoding="utf-8")
    found = [one for split in ("train", "valid", "test")
             for one in open_corpus("manual-pages", "zh").examples(split, 1)]  # fmt: skip
    assert [(one.source, one.target) for one in found] == [("描述 列出文件。", "列出目录内容")]


def test_a_machine_without_pages_is_told_how_to_have_some(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(manual_pages, "FOLDERS", (str(tmp_path),))
    with pytest.raises(DataError, match=r"no manual pages .* apt-get install"):
        next(open_corpus("manual-pages", "en").examples("train", 1))


def test_a_needle_stands_among_other_words() -> None:
    for example in parse_extract("needle:128:valid:20").draw(3):
        words = example.source.split()
        assert len(words) == 128
        assert words[-1] == "?"
        assert words[words.index("key") + 1] == example.target
    splits = [{one.source for one in parse_extract(f"needle:128:{split}:50").draw()}
              for split in ("train", "valid", "test")]  # fmt: skip
    assert not splits[0] & splits[1] | splits[1] & splits[2] | splits[0] & splits[2]
