"""CHECKSUMS: for each file of a folder the CRC-32 and length it was written with.

    5d0f3c1e 1190416  weights.safetensors

Enough to notice damage, and faster than any disk (4 GB/s); no defence against someone who wants to
deceive. A file may have two lines for a moment: a new one is promised before it takes the old one's
place, so whoever reads in between, or after a kill, finds the line of what is there.
"""

import zlib
from collections.abc import Iterable
from pathlib import Path

CHECKSUMS = "CHECKSUMS"

_CHUNK = 1 << 20
_ATTEMPTS = 3  # a file that is being replaced meanwhile may be read between two promises


def checksum(path: Path) -> str:
    """CRC-32 and length of a file."""
    crc, n_bytes = 0, 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            crc = zlib.crc32(chunk, crc)
            n_bytes += len(chunk)
    return f"{crc:08x} {n_bytes}"


def promises(folder: Path) -> dict[str, list[str]]:
    """The checksums that each file of a folder may have; nothing where none were kept."""
    try:
        lines = (folder / CHECKSUMS).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    found: dict[str, list[str]] = {}
    for line in lines:
        promised, _, name = line.partition("  ")
        if name:
            found.setdefault(name, []).append(promised)
    return found


def is_damaged(path: Path) -> bool:
    """Whether a file is not as it was written; one without a checksum is taken as it is."""
    for _ in range(_ATTEMPTS):
        # The file first: its promise was made before it came.
        if path.name not in promises(path.parent):
            return False
        found = checksum(path)
        if found in promises(path.parent).get(path.name, [found]):
            return False
    return True


def first_damaged(folder: Path) -> Path | None:
    """A file of a folder that is gone, or not as it was written, if there is one."""
    paths = (folder / name for name in promises(folder))
    return next((path for path in paths if not path.is_file() or is_damaged(path)), None)


def summed(folder: Path, names: Iterable[str]) -> str:
    """What CHECKSUMS says of these files of a folder, as they are now."""
    return written({name: [checksum(folder / name)] for name in names})


def written(promised: dict[str, list[str]]) -> str:
    """The text of CHECKSUMS."""
    return "".join(f"{one}  {name}\n" for name in sorted(promised) for one in promised[name])
