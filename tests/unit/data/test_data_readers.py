"""Files of pairs: every format, every way they can be wrong."""

import gzip
import json
import subprocess
import tracemalloc

import pytest

from regard.data import Pair, parse_spec, prepare, read_corpus, read_pairs
from regard.errors import DataError, TextTypeError
from regard.text import Words


def write(path, text):
    content = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return path


def refusal(spec):
    with pytest.raises(DataError) as caught:
        list(read_pairs(spec))
    return str(caught.value)


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_two_files(tmp_path, ending):
    source = write(tmp_path / f"a.en{ending}", "One\nTwo")
    target = write(tmp_path / f"a.de{ending}", "Eins\nZwei\n")
    expected = [("One", "Eins"), ("Two", "Zwei")]
    assert list(read_pairs(f"{source}|{target}")) == expected
    assert list(read_pairs((source, target))) == expected


@pytest.mark.parametrize("ending", [".tsv", ".txt", ".TSV", ".tsv.gz"])
def test_tab_separated(tmp_path, ending):
    path = write(tmp_path / f"a{ending}", "One\tEins\tnote\n\nTwo\tZwei\n")
    assert list(read_pairs(path)) == [("One", "Eins"), ("Two", "Zwei")]


@pytest.mark.parametrize(
    "record",
    [
        {"source": "One", "target": "Eins"},
        {"id": 3, "target": "Eins", "source": "One"},
        {"translation": {"en": "One", "de": "Eins"}},
        {"en": "One", "score": 0.5, "de": "Eins"},
    ],
)
@pytest.mark.parametrize("ending", [".jsonl", ".jsonl.gz"])
def test_json_lines(tmp_path, record, ending):
    path = write(tmp_path / f"a{ending}", json.dumps(record) + "\n\n")
    assert list(read_pairs(path)) == [Pair("One", "Eins")]


CATALOGUE = r"""
# A translator
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\n"

#: main.c:3
msgctxt "menu"
msgid "Open \"%s\"\t"
msgstr "Öffne „%s“\\"
#, c-format, fuzzy
msgid "Fuzzy"
msgstr "Unscharf"

msgid "Untranslated"
msgstr ""

#, c-format
#| msgid "old"
msgid ""
"Two "
"lines\n"
"here"
msgstr ""
"Zwei\x21 "
"Zeilen"

msgid "%d file"
msgid_plural "%d files"
msgstr[0] "%d Datei"
msgstr[1] "%d Dateien"

msgid "half"
msgid_plural "halves"
msgstr[0] "Hälfte"
msgstr[1] ""

#~ msgid "Obsolete"
#~ msgstr "Veraltet"
msgid "Last"
msgstr "Letzte"
"""


@pytest.mark.parametrize("ending", [".po", ".po.gz"])
def test_gettext(tmp_path, ending):
    assert list(read_pairs(write(tmp_path / f"de{ending}", CATALOGUE))) == [
        ('Open "%s"\t', "Öffne „%s“\\"),
        ("Two lines here", "Zwei! Zeilen"),
        ("%d file", "%d Datei"),
        ("%d files", "%d Dateien"),
        ("Last", "Letzte"),
    ]


def test_one_plural_form_serves_both_numbers(tmp_path):
    text = 'msgid "%d file"\nmsgid_plural "%d files"\nmsgstr[0] "%d 个文件"\n'
    pairs = list(read_pairs(write(tmp_path / "zh.po", text)))
    assert pairs == [("%d file", "%d 个文件"), ("%d files", "%d 个文件")]


def test_only_the_newline_ends_a_line(tmp_path):
    odd = "a\u2028b\x85c\x0cd\x0be\rf\u2029g\x1ch"
    path = write(tmp_path / "a.tsv", f"{odd}\tx\r\ny\tz\0\r\n")
    assert list(read_pairs(path)) == [(odd, "x"), ("y", "z")]


def test_a_byte_order_mark_is_dropped(tmp_path):
    assert list(read_pairs(write(tmp_path / "a.tsv", "\ufeffa\tb\n"))) == [("a", "b")]


def test_text_within_a_pair_stays_on_one_line(tmp_path):
    path = write(tmp_path / "a.jsonl", json.dumps({"source": "a\nb", "target": "c\r\nd"}))
    assert list(read_pairs(path)) == [("a b", "c d")]


def test_weights_repeat_a_file(tmp_path):
    path = write(tmp_path / "a.jsonl.gz", '{"source": "a", "target": "b"}\n')
    assert parse_spec(f"{path}*3").weight == 3
    assert list(read_pairs(f"{path}*2")) == [("a", "b")] * 2
    assert len(list(read_corpus([f"{path}*2", path]))) == 3
    starred = write(tmp_path / "b*2", "c\n")
    assert parse_spec((starred, starred)).paths == (starred, starred)


def test_reading_is_streaming(tmp_path):
    path = tmp_path / "large.tsv"
    line = "word " * 40 + "\t" + "Wort " * 40 + "\n"
    with path.open("w") as file:
        file.writelines(line for _ in range(5_000))
    assert path.stat().st_size > 1_800_000
    tracemalloc.start()
    assert sum(1 for _ in read_pairs(path)) == 5_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 500_000


def test_the_first_pair_comes_before_the_rest_is_read(tmp_path):
    path = write(tmp_path / "a.tsv", b"a\tb\n\xff broken\n")
    pairs = read_pairs(path)
    assert next(pairs) == ("a", "b")
    with pytest.raises(DataError):
        next(pairs)


def test_files_are_checked_before_reading_begins(tmp_path):
    with pytest.raises(DataError):
        read_pairs(tmp_path / "none.tsv")


def test_refusals_of_names(tmp_path):
    assert refusal(tmp_path / "none.tsv") == (
        f"{tmp_path / 'none.tsv'}: no such file. Paths are taken from the current folder."
    )
    assert refusal(tmp_path) == (
        f"{tmp_path} is a folder: name a file in it, or two files as a.en|a.de."
    )
    path = write(tmp_path / "a.xlsx", "a,b")
    assert refusal(path) == (
        f"{path}: how pairs are written in this file cannot be told from its name. Use an ending "
        "out of .tsv, .txt, .csv, .jsonl, .ndjson, .json, .po (also with .gz or .xz), or name two "
        "files: train.en|train.de."
    )
    assert refusal("a|b|c") == (
        "'a|b|c' is not a name of examples: write one file (pairs.tsv) or two, source first "
        "(train.en|train.de)."
    )
    assert refusal("a.en|").startswith("'a.en|' is not a name of examples")
    assert refusal("").startswith("'' is not a name of examples")
    assert refusal("a.tsv*0") == "a.tsv*0: a weight is 1 or more; leave the file out instead."


def test_refusals_of_encodings(tmp_path):
    path = write(tmp_path / "a.tsv", "ok\tok\nfür\tfor\n".encode("latin-1"))
    assert f"{path}, line 2: byte 2 of the line (0xFC) is not UTF-8" in refusal(path)
    assert refusal(path).endswith(f"iconv -f ISO-8859-1 -t UTF-8 {path} > {tmp_path}/new-a.tsv")
    path = write(tmp_path / "d.tsv", "我爱北京。\tI love Beijing.\n".encode("gb18030"))
    assert refusal(path).endswith(f"iconv -f GB18030 -t UTF-8 {path} > {tmp_path}/new-d.tsv")
    path = write(tmp_path / "b.tsv", "a\tb\n".encode("utf-16"))
    assert refusal(path).startswith(f"{path} is UTF-16")
    assert refusal(path).endswith(f"iconv -f UTF-16 -t UTF-8 {path} > {tmp_path}/new-b.tsv")
    path = tmp_path / "c.tsv.gz"
    path.write_bytes(b"a\tb\n")
    assert refusal(path).startswith(f"{path} ends in .gz but is damaged or not compressed: ")
    path.write_bytes(gzip.compress(b"a\tb\n" * 99)[:-12])
    assert refusal(path).endswith("Compress it again, or take the .gz off its name.")


def test_refusals_of_contents(tmp_path):
    source = write(tmp_path / "a.en", "1\n2\n3\n")
    target = write(tmp_path / "a.de", "1\n2\n3\n4\n5\n")
    for one, n, other, m in ((source, 3, target, 5), (target, 5, source, 3)):
        assert refusal((one, other)) == (
            f"{one} has {n} lines and {other} has {m}: line n of one has to translate line n of "
            "the other. Find the line where they part."
        )
    path = write(tmp_path / "a.tsv", "a\tb\nno tab here\n")
    assert refusal(path) == (
        f"{path}, line 2: 'no tab here' has no tab. Each line is a source, a tab and a target; "
        "for one sentence a line, name two files: train.en|train.de."
    )
    path = write(tmp_path / "long.tsv", "x" * (1 << 22) + "y\tb\n")
    assert refusal(path) == (
        f"{path}, line 1: the line is longer than 4,194,304 bytes. Is this a file of text with "
        "one sentence a line?"
    )


@pytest.mark.parametrize("ending", [".tsv", ".jsonl", ".tsv.gz"])
def test_empty_files_are_refused(tmp_path, ending):
    path = write(tmp_path / f"a{ending}", "")
    assert refusal(path) == f"{path} holds no pairs. Is it the right file?"


def test_empty_two_files_and_catalogues_are_refused(tmp_path):
    one, two = write(tmp_path / "a.en", ""), write(tmp_path / "a.de", "")
    assert refusal((one, two)) == f"{one}|{two} holds no pairs. Is it the right file?"
    path = write(tmp_path / "a.po", 'msgid "a"\nmsgstr ""\n')
    assert refusal(path) == f"{path} holds no translated messages. Is it the right file?"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "not JSON (Expecting property name enclosed in double quotes). Each line is one"),
        ("[" * 99_999, "not JSON"),
        ("[1, 2]", '\'[1, 2]\' holds no pair. Each line needs text under "source" and "target"'),
        ('{"source": "a"}', "holds no pair."),
        ('{"source": "a", "target": 5, "en": "b"}', "holds no pair."),
        ('{"translation": "a"}', "holds no pair."),
        ('{"en": "a"}', "holds no pair."),
    ],
)
def test_malformed_json_is_refused(tmp_path, line, sentence):
    path = write(tmp_path / "a.jsonl", '{"source": "a", "target": "b"}\n' + line)
    assert refusal(path).startswith(f"{path}, line 2: ")
    assert sentence in refusal(path)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ('msgid "a"\nmsgstr b\n', 2, "'msgstr b' is not gettext. A line is a \"text\" in quotes,"),
        ('"a"\n', 1, "is not gettext"),
        ("hello\n", 1, "'hello' is not gettext"),
        ('msgid "a"\nmsgid "b"\n', 2, "msgid stands twice in one message. Each message has one"),
    ],
)
def test_malformed_catalogues_are_refused(tmp_path, text, line, sentence):
    path = write(tmp_path / "a.po", text)
    assert refusal(path).startswith(f"{path}, line {line}: ")
    assert sentence in refusal(path)


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.tsv.gz", "my pairs.tsv"])
def test_the_conversion_that_is_advised_works(tmp_path, name):
    (tmp_path / "some data").mkdir()
    path = tmp_path / "some data" / name
    raw = "你好\tHello\n".encode("gb18030")
    path.write_bytes(gzip.compress(raw) if name.endswith(".gz") else raw)
    advised = refusal(path).partition("for example: ")[2]
    subprocess.run(advised, shell=True, check=True)
    assert list(read_pairs(path.with_name(f"new-{name}"))) == [("你好", "Hello")]


@pytest.mark.usefixtures("as_users_call")
def test_one_name_is_no_list_of_names(tmp_path):
    path = str(write(tmp_path / "a.tsv", "a\tb\n"))
    with pytest.raises(TextTypeError, match="specs is a single str"):
        read_corpus(path)
    with pytest.raises(TextTypeError, match="specs is a single str"):
        prepare(path, tmp_path / "prepared", Words(["a", "b"]))
