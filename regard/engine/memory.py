"""What a process holds of memory: freed blocks are kept, pages of weights are given back."""

import ctypes
import platform
from pathlib import Path

_PAGE_OUT = 21  # madvise's: pages of files are dropped, and read again when they are used

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX, _ARENA_MAX = -1, -2, -4, -8


def keep_heap() -> bool:
    """Let glibc's malloc reuse large blocks; false, and no effect, where it is not glibc.

    By default each large tensor is mapped anew, and the kernel clears every page of it first.
    """
    if platform.system() != "Linux":
        return False
    try:
        mallopt = ctypes.CDLL("libc.so.6").mallopt
    except (OSError, AttributeError):
        return False
    settings = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, -1), (_TOP_PAD, 64 << 20), (_ARENA_MAX, 1))
    return all(mallopt(name, value) == 1 for name, value in settings)


def give_back(file_name: str) -> None:
    """Let the system have what is free, and the pages of files of this name.

    Such as those of weights that were laid out anew: whoever reads them later finds them as they
    were. Without effect elsewhere than on Linux with glibc.
    """
    if platform.system() != "Linux":
        return
    try:
        libc = ctypes.CDLL("libc.so.6")
        libc.malloc_trim(0)
        lines = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, AttributeError):
        return
    for line in lines:
        if line.removesuffix(" (deleted)").endswith(f"/{file_name}"):
            start, end = (int(one, 16) for one in line.split(maxsplit=1)[0].split("-"))
            libc.madvise(ctypes.c_void_p(start), ctypes.c_size_t(end - start), _PAGE_OUT)
