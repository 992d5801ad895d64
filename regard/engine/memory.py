"""Keep freed memory instead of giving it back to the system after every operation."""

import ctypes
import platform

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
