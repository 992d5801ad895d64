"""Atomic writes: a file or folder is whole or not there, whatever happens meanwhile.

Everything is written beside its place, flushed to the disk, then renamed into place. A kill or a
full disk at any moment leaves what was there before. Leftovers are called ``.NAME.partial`` and are
removed by the next writer; a folder of ours has one writer at a time. The names are hidden ones, so
that a ``NAME.old`` of the user's own is never in the way.

``CHECKSUMS`` of a folder has for its files the CRC-32 and length they were written with:

    5d0f3c1e 1190416  weights.safetensors

Enough to notice damage, and faster than any disk (4 GB/s); no defence against someone who wants to
deceive. A file may have two lines for a moment: the checksum of a new one is written before it
takes the old one's place, so whoever reads in between, or after a kill, finds the line of what is
there.
"""

import errno
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from regard.errors import WriteError

CHECKSUMS = "CHECKSUMS"
_LINE = re.compile(r"[0-9a-f]{8} [0-9]+  .+")

_PARTIAL = ".partial"
_CHUNK = 1 << 20
_ATTEMPTS = 3  # a file that is being replaced meanwhile may be read between two checksums
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


@contextmanager
def whole_file(path: Path, *, is_summed: bool = False, is_shared: bool = False) -> Iterator[Path]:
    """Atomic write of a file: within, a path to write to; at the end it replaces ``path``.

    Args:
        path: in a folder that exists.
        is_summed: keep its checksum in the folder's CHECKSUMS, by which damage is noticed.
        is_shared: as for ``staging_folder``.

    Raises:
        WriteError: what the system said while it was written, and what helps.
    """
    # In a folder of its own, since safetensors writes to yet another name and leaves it if killed.
    with explained_errors(path), staging_folder(path, is_shared=is_shared) as folder:
        partial = folder / path.name
        partial.touch()
        mode = partial.stat().st_mode  # what the user's mask allows; safetensors would make it 600
        yield partial
        partial.chmod(mode)
        put_in_place(partial, path, is_summed=is_summed)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Atomic write of a folder: within, an empty folder to fill; at the end it replaces ``path``.

    No system can put one full folder in another's place in one moment: the one before steps aside
    to ``.NAME.old``, where a reader that finds no ``path`` can look for it.

    Raises:
        WriteError: what the system said while it was written, and what helps.
    """
    with explained_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        with staging_folder(path) as partial:
            yield partial
            for one in (*partial.rglob("*"), partial):
                flush(one)
            old = path.with_name(f".{path.name}.old")
            if path.exists():
                if old.exists():
                    remove_folder(old)
                path.rename(old)
            partial.rename(path)
            flush(path.parent)
            if old.exists():
                remove_folder(old)


def write_text(path: Path, text: str, *, is_summed: bool = False) -> None:
    """Atomic write of a text as UTF-8."""
    with whole_file(path, is_summed=is_summed) as partial:
        partial.write_text(text, encoding="utf-8")


def write_bytes(path: Path, content: bytes, *, is_shared: bool = False) -> None:
    """Atomic write of bytes."""
    with whole_file(path, is_shared=is_shared) as partial:
        partial.write_bytes(content)


@contextmanager
def staging_folder(path: Path, *, is_shared: bool = False) -> Iterator[Path]:
    """An empty folder beside ``path`` to prepare it in, removed at the end.

    With ``is_shared`` each process has its own: whoever is last wins, and nobody clears what a
    process leaves that is killed.
    """
    partial = _partial(path, f".{os.getpid()}" if is_shared else "")
    _remove(partial)
    partial.mkdir()
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def put_in_place(written: Path, path: Path, *, is_summed: bool = False) -> None:
    """Flush a file and rename it to its place.

    With ``is_summed`` its checksum is written first, beside that of the file it replaces: at no
    moment, and after no kill, is there a file without its checksum.
    """
    flush(written)
    if is_summed:
        _replace_summed(written, path)
    else:
        written.replace(path)
    flush(path.parent)


def _replace_summed(written: Path, path: Path) -> None:
    new, sums = checksum(written), path.with_name(CHECKSUMS)
    expected = expected_checksums(path.parent)
    before = expected.get(path.name, [])
    # A file that has no checksum yet, of an older Regard, keeps having none until it is replaced.
    if not path.exists() or before:
        expected[path.name] = [*(one for one in before if one != new), new]
        write_text(sums, _checksum_lines(expected))
    written.replace(path)
    if expected.get(path.name) != [new]:
        write_text(sums, _checksum_lines(expected | {path.name: [new]}))


def flush(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open folders, and writes their names itself
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_folder(path: Path) -> None:
    """Remove a folder so that no half of it is ever seen under its name."""
    partial = _partial(path)
    shutil.rmtree(partial, ignore_errors=True)
    path.rename(partial)
    shutil.rmtree(partial, ignore_errors=True)


def remove_leftovers(folder: Path) -> None:
    """Remove what a writer that was killed left in a folder."""
    for leftover in folder.glob(f"*{_PARTIAL}"):
        _remove(leftover)


def _partial(path: Path, process: str = "") -> Path:
    return path.with_name(f".{path.name}{process}{_PARTIAL}")


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def explained_errors(path: Path) -> Iterator[None]:
    """Turn what goes wrong while ``path`` is written into a WriteError that says what helps."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason, number = _reason(error)
        before = ", and what was saved before is untouched"
        if not os.path.exists(path):  # noqa: PTH110 - of a name that is too long, pathlib complains
            before = ""
        raise WriteError(
            f"{path} cannot be written: {reason}{before}; {_remedy(path, number)}", reason
        ) from error


def _reason(error: OSError | SafetensorError) -> tuple[str, int | None]:
    """What the system said, in words and as its number."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror, error.errno
    said = re.search(r"I/O error: (.*?)(?: \(os error (\d+)\))?$", str(error))
    if said is None:
        return str(error), None
    return said[1], int(said[2]) if said[2] else None


def _remedy(path: Path, number: int | None) -> str:
    """What helps against what the system said."""
    if number in _FULL:
        return "make room and give the command again, or choose another place"
    if number in _FORBIDDEN:
        return "make the folder writable, or choose another place"
    if number == errno.ENOENT and not path.parent.exists():
        return f"its folder {path.parent} is gone: put it back, or choose another place"
    return "choose another place"


def checksum(path: Path) -> str:
    """CRC-32 and length of a file."""
    crc, n_bytes = 0, 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            crc = zlib.crc32(chunk, crc)
            n_bytes += len(chunk)
    return f"{crc:08x} {n_bytes}"


def expected_checksums(folder: Path) -> dict[str, list[str]]:
    """By file the checksums that CHECKSUMS of a folder allows; nothing where none were kept."""
    try:
        lines = (folder / CHECKSUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    found: dict[str, list[str]] = {}
    for line in lines:
        expected, _, name = line.partition("  ")
        if name:
            found.setdefault(name, []).append(expected)
    return found


def write_checksums(folder: Path) -> None:
    """Write CHECKSUMS of all files of a folder that is not in its place yet."""
    found = {one.name: [checksum(one)] for one in folder.iterdir() if one.is_file()}
    write_text(folder / CHECKSUMS, _checksum_lines(found))


def is_garbled(folder: Path) -> bool:
    """Whether CHECKSUMS of a folder is itself damaged: empty, or with lines that are none."""
    try:
        text = (folder / CHECKSUMS).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return not text or not all(map(_LINE.fullmatch, text.splitlines()))


def is_damaged(path: Path) -> bool:
    """Whether a file is not as it was written; one without a checksum is taken as it is."""
    if is_garbled(path.parent):
        return True
    for _ in range(_ATTEMPTS):
        # The file first: its checksum was written before it came.
        if path.name not in expected_checksums(path.parent):
            return False
        found = checksum(path)
        if found in expected_checksums(path.parent).get(path.name, [found]):
            return False
    return True


def first_damaged(folder: Path) -> Path | None:
    """A file of a folder that is gone, or not as it was written, if there is one."""
    if is_garbled(folder):
        return folder / CHECKSUMS
    paths = (folder / name for name in expected_checksums(folder))
    return next((path for path in paths if not path.is_file() or is_damaged(path)), None)


def _checksum_lines(expected: dict[str, list[str]]) -> str:
    return "".join(f"{one}  {name}\n" for name in sorted(expected) for one in expected[name])
