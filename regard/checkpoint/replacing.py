"""Files and folders that are whole or not there: written beside, synced, renamed into place.

A kill or a full disk at any moment leaves what was there before. Leftovers end in ``.partial`` and
are removed by the next writer; a folder has one writer at a time.
"""

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from safetensors import SafetensorError

from regard.checksums import CHECKSUMS, checksum, promises
from regard.checksums import written as checksum_lines
from regard.errors import ModelFolderError

PARTIAL = ".partial"
OLD = ".old"


@contextmanager
def replacing(path: Path, *, is_summed: bool = False) -> Iterator[Path]:
    """Give a path to write a file to; what is there at the end takes the place of ``path``.

    With ``is_summed``, the folder's CHECKSUMS have a line for it, by which damage is noticed.
    """
    # In a folder of its own, since safetensors writes to yet another name and leaves it if killed.
    with telling(path), beside(path) as folder:
        partial = folder / path.name
        partial.touch()
        mode = partial.stat().st_mode  # what the user's mask allows; safetensors would make it 600
        yield partial
        partial.chmod(mode)
        sync(partial)
        if is_summed:
            replace_summed(partial, path)
        else:
            partial.replace(path)
        sync(path.parent)


def replace_summed(written: Path, path: Path) -> None:
    """Rename a file to its place, and keep its checksum there.

    The new checksum is written before the file, beside that of the one it replaces: at no moment,
    and after no kill, is there a file without its checksum.
    """
    new, sums = checksum(written), path.with_name(CHECKSUMS)
    promised = promises(path.parent)
    before = promised.get(path.name, [])
    # A file that has no checksum yet, of an older Regard, keeps having none until it is replaced.
    if not path.exists() or before:
        promised[path.name] = [*(one for one in before if one != new), new]
        write_text(sums, checksum_lines(promised))
    written.replace(path)
    if promised.get(path.name) != [new]:
        write_text(sums, checksum_lines(promised | {path.name: [new]}))


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Give an empty folder beside ``path`` to fill; at the end it takes its place.

    No system can put one full folder in another's place in one moment: the one before steps aside
    to ``path.old``, where a reader that finds no ``path`` can look for it.
    """
    with telling(path), beside(path) as partial:
        yield partial
        for file in partial.iterdir():
            sync(file)
        sync(partial)
        old = path.with_name(f"{path.name}{OLD}")
        if path.exists():
            if old.exists():
                remove_folder(old)
            path.rename(old)
        partial.rename(path)
        sync(path.parent)
        if old.exists():
            remove_folder(old)


@contextmanager
def beside(path: Path) -> Iterator[Path]:
    """Give an empty folder beside ``path``, which is gone at the end."""
    partial = _beside(path)
    _remove(partial)
    partial.mkdir(parents=True)
    try:
        yield partial
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def write_text(path: Path, text: str, *, is_summed: bool = False) -> None:
    """Let a file hold this text."""
    with replacing(path, is_summed=is_summed) as partial:
        partial.write_text(text, encoding="utf-8")


def remove_folder(path: Path) -> None:
    """Remove a folder so that no half of it is ever seen under its name."""
    partial = _beside(path)
    shutil.rmtree(partial, ignore_errors=True)
    path.rename(partial)
    shutil.rmtree(partial, ignore_errors=True)


def clean(folder: Path) -> None:
    """Remove what a writer that was killed left behind."""
    for leftover in folder.glob(f"*{PARTIAL}"):
        _remove(leftover)


def sync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open folders, and writes their names itself
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}{PARTIAL}")


@contextmanager
def telling(path: Path) -> Iterator[None]:
    """Turn what goes wrong while writing into one sentence."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        reason, number = _reason(error)
        before = ", and what was saved before is untouched"
        if not os.path.exists(path):  # noqa: PTH110 - of a name that is too long, pathlib complains
            before = ""
        raise ModelFolderError(
            f"{path} cannot be written: {reason}{before}; {_remedy(path, number)}"
        ) from error


def _reason(error: OSError | SafetensorError) -> tuple[str, int | None]:
    """What the system said, in words and as its number."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror, error.errno
    said = re.search(r"I/O error: (.*?)(?: \(os error (\d+)\))?$", str(error))
    if said is None:
        return str(error), None
    return said[1], int(said[2]) if said[2] else None


_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def _remedy(path: Path, number: int | None) -> str:
    """What helps against what the system said."""
    if number in _FULL:
        return "make room and give the command again, or choose another place"
    if number in _FORBIDDEN:
        return "make the folder writable, or choose another place"
    if number == errno.ENOENT and not path.parent.exists():
        return f"its folder {path.parent} is gone: put it back, or choose another place"
    return "choose another place"
