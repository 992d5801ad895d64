r"""Lines of UTF-8 files, one at a time. Only \n ends a line: never \x0c, \x85 or U+2028."""

import gzip
import io
import lzma
import re
import shlex
import zlib
from collections.abc import Iterator
from pathlib import Path

from regard.errors import DataError

_LONGEST = 1 << 22  # bytes; no sentence is that long, a file that is not text may well be


def read_lines(path: Path) -> Iterator[str]:
    """The lines of a file, plain, .gz or .xz, without their ends; a byte order mark is dropped.

    NUL characters are dropped too: they come from broken exports and stop other programs.
    """
    try:
        with _open(path) as file:
            for number, raw in enumerate(iter(lambda: file.readline(_LONGEST), b""), 1):
                if number == 1:
                    raw = _without_mark(path, raw)
                if len(raw) == _LONGEST and not raw.endswith(b"\n"):
                    raise DataError(
                        f"{path}, line {number}: the line is longer than {_LONGEST:,} bytes. "
                        "Is this a file of text with one sentence a line?"
                    )
                yield _decoded(path, number, raw)
    except (EOFError, gzip.BadGzipFile, zlib.error, lzma.LZMAError) as error:
        raise DataError(
            f"{path} ends in {path.suffix} but is damaged or not compressed: {error}. "
            f"Compress it again, or take the {path.suffix} off its name."
        ) from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from error


def _open(path: Path) -> io.BufferedIOBase:
    if path.name.lower().endswith(".gz"):
        return gzip.open(path, "rb")
    if path.name.lower().endswith(".xz"):
        return lzma.open(path, "rb")
    return path.open("rb")


def _without_mark(path: Path, raw: bytes) -> bytes:
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise DataError(
            f"{path} is UTF-16; text has to be UTF-8. Convert it: {_conversion(path, 'UTF-16')}"
        )
    return raw.removeprefix(b"\xef\xbb\xbf")


def _decoded(path: Path, number: int, raw: bytes) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path}, line {number}: byte {error.start + 1} of the line (0x{raw[error.start]:02X}) "
            "is not UTF-8. Convert the file, for example: "
            f"{_conversion(path, likely_encoding(raw))}"
        ) from error
    if text.endswith("\n"):
        text = text[:-1]
        if text.endswith("\r"):
            text = text[:-1]
    return text.replace("\0", "") if "\0" in text else text


def _conversion(path: Path, encoding: str) -> str:
    """The command that makes UTF-8 of a file, beside it; as a shell takes it from here."""
    old, new = (shlex.quote(str(one)) for one in (path, path.with_name(f"new-{path.name}")))
    if path.name.lower().endswith(".gz"):
        return f"gzip -dc {old} | iconv -f {encoding} -t UTF-8 | gzip > {new}"
    return f"iconv -f {encoding} -t UTF-8 {old} > {new}"


def likely_encoding(raw: bytes) -> str:
    """What a line that is no UTF-8 may be: bytes of Chinese come in pairs, others by themselves."""
    runs = re.findall(rb"[\x80-\xff]+", raw)
    return "GB18030" if all(_is_chinese(run) for run in runs) else "ISO-8859-1"


def _is_chinese(run: bytes) -> bool:
    try:
        run.decode("gb2312")
    except UnicodeDecodeError:
        return False
    return True
