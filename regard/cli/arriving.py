"""Lines as they are typed or arrive: a person can talk with us, and a program by pipe, at once."""

import os
import queue
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import typer

from regard.data.lines import likely_encoding, read_lines
from regard.errors import DataError, RegardError

MOST_LINES = 2048  # given at once: enough to put sentences of like length together
_CHUNK = 1 << 16
_CHUNKS_AHEAD = 64
_LONGEST = 1 << 22  # bytes; no sentence is that long, a file that is not text may well be
_NAME = "standard input"
_PROMPT = "› "


def lines_of_files(paths: Sequence[Path]) -> Iterator[list[str]]:
    """The lines of files, one after the other; what stands before a fault is given before it."""
    burst: list[str] = []
    try:
        for path in paths:
            for line in read_lines(path):
                burst.append(line)
                if len(burst) >= MOST_LINES:
                    full, burst = burst, []
                    yield full
    except RegardError:
        if burst:
            yield burst
        raise
    if burst:
        yield burst


def lines_of_stdin(descriptor: int = 0) -> Iterator[list[str]]:
    """The lines that have arrived since the last time, at least one; a thread reads them."""
    chunks: queue.Queue[bytes | OSError] = queue.Queue(_CHUNKS_AHEAD)
    # A daemon on the bare descriptor: it may wait for a line for ever without keeping us.
    threading.Thread(target=_read, args=(descriptor, chunks), daemon=True).start()
    number, rest, is_open = 0, b"", True
    while is_open:
        raw, rest, is_open = _arrived(chunks, rest)
        burst: list[str] = []
        for line in raw:
            number += 1
            try:
                burst.append(_decoded(number, line))
            except DataError:
                if burst:
                    yield burst
                raise
        if burst:
            yield burst
        _check_length(number + 1, rest)


def _read(descriptor: int, chunks: "queue.Queue[bytes | OSError]") -> None:
    try:
        while chunk := os.read(descriptor, _CHUNK):
            chunks.put(chunk)
        chunks.put(b"")
    except OSError as error:
        chunks.put(error)


def _arrived(
    chunks: "queue.Queue[bytes | OSError]", rest: bytes
) -> tuple[list[bytes], bytes, bool]:
    """Whole lines, the beginning of the next, and whether more may come."""
    parts, n_lines = [rest], 0
    chunk = chunks.get()
    while True:
        if isinstance(chunk, OSError):
            raise DataError(f"{_NAME} cannot be read: {chunk.strerror}") from chunk
        parts.append(chunk)
        n_lines += chunk.count(b"\n")
        if not chunk or n_lines >= MOST_LINES:
            break
        try:
            chunk = chunks.get_nowait()
        except queue.Empty:
            break
    lines = b"".join(parts).split(b"\n")
    last = lines.pop()
    if chunk:
        return lines, last, True
    return [*lines, last] if last else lines, b"", False


def _check_length(number: int, raw: bytes) -> None:
    if len(raw) > _LONGEST:
        raise DataError(
            f"{_NAME}, line {number}: the line is longer than {_LONGEST:,} bytes. "
            "Is this text with one sentence a line?"
        )


def _decoded(number: int, raw: bytes) -> str:
    _check_length(number, raw)
    if number == 1:
        raw = raw.removeprefix(b"\xef\xbb\xbf")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DataError(
            f"{_NAME}, line {number}: byte {error.start + 1} of the line "
            f"(0x{raw[error.start]:02X}) is not UTF-8. Convert the text, for example: "
            f"iconv -f {likely_encoding(raw)} -t UTF-8"
        ) from error
    return text.removesuffix("\r").replace("\0", "")


def typed_lines(greeting: str) -> Iterator[str]:
    """What is typed, line by line, until Ctrl-D; the greeting goes to standard error."""
    typer.secho(greeting, err=True, dim=True)
    with_prompt = sys.stdout.isatty()
    with suppress(ImportError):  # not on every system
        import readline  # noqa: F401 - arrow keys and history
    try:
        while True:
            if not with_prompt:  # the prompt would go where the answers go
                typer.echo(_PROMPT, nl=False, err=True)
            yield input(_PROMPT if with_prompt else "")
    except EOFError:
        typer.echo(err=True)
