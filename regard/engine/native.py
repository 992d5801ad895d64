"""The C++ kernels: compiled once by g++ where there is one, kept in the user's cache.

Nothing needs them: without a compiler every operation has its torch path.
"""

import ctypes
import hashlib
import logging
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

from regard.files import put_in_place, staging_folder
from regard.shapes import Tensor

_FOLDER = Path(__file__).parent
_SOURCES = tuple(sorted(_FOLDER.glob("*.cpp")))
_HEADERS = tuple(sorted(_FOLDER.glob("*.h")))
_FLAGS = ("-O3", "-march=native", "-fopenmp", "-fno-math-errno", "-fno-trapping-math")
_SHARED = ("-std=c++17", "-shared", "-fPIC")

_log = logging.getLogger(__name__)
_is_allowed = True


@cache
def library() -> ctypes.CDLL | None:
    """The compiled kernels, or ``None`` where they cannot be built; never raises."""
    compiler = shutil.which("g++")
    if platform.system() != "Linux" or compiler is None:
        return None
    flags = [*_FLAGS, *_SHARED]
    if platform.machine() == "x86_64":
        flags.append("-mprefer-vector-width=512")
    try:
        target = _cache_folder() / f"kernels-{_key(flags)}.so"
        if not target.exists():
            _compile(compiler, flags, target)
        # torch has loaded its OpenMP already, and the loader gives this library the same threads.
        loaded = ctypes.CDLL(str(target))
    except (OSError, subprocess.SubprocessError) as error:
        _log.info("the C++ kernels cannot be built (%s): torch's are used", error)
        return None
    for measuring in (loaded.k_cross_entropy, loaded.k_linear_loss, loaded.k_squares):
        measuring.restype = ctypes.c_double
    for counting in (loaded.k_layer_room, loaded.k_beams_advance):
        counting.restype = ctypes.c_int64
    loaded.k_largest_id.restype = ctypes.c_uint64
    loaded.k_beams_begin.restype = ctypes.c_void_p
    return loaded


def native(*tensors: Tensor) -> ctypes.CDLL | None:
    """The kernels, if they can compute with these tensors."""
    if not _is_allowed:
        return None
    for one in tensors:
        if one.dtype != torch.float32 or not one.is_cpu:
            return None
    return library()


def is_native() -> bool:
    """Whether the C++ kernels are in use."""
    return _is_allowed and library() is not None


@contextmanager
def without_native() -> Iterator[None]:
    """Within, every operation takes its torch path: for tests and comparisons."""
    global _is_allowed
    before, _is_allowed = _is_allowed, False
    try:
        yield
    finally:
        _is_allowed = before


class Pointer(ctypes.c_void_p):
    """Where a tensor's numbers begin, and the tensor: a copy made for a call lives as long."""

    tensor: Tensor | None


def pointer(tensor: Tensor | None) -> Pointer:
    """Where a tensor's numbers begin; ``None`` is the null pointer."""
    start = Pointer(None if tensor is None else tensor.data_ptr())
    start.tensor = tensor
    return start


def addresses(tensors: Sequence[Tensor | None]) -> Any:
    """Where each tensor's numbers begin, one after the other; the caller keeps the tensors."""
    starts = [None if one is None else one.data_ptr() for one in tensors]
    return (ctypes.c_void_p * len(starts))(*starts)


def count(number: int) -> ctypes.c_int64:
    """A size or a stride."""
    return ctypes.c_int64(number)


def require_ids(ids: Tensor, n: int) -> None:
    """Refuse an id that is not among the first n: a kernel would read foreign memory.

    On a GPU torch does this itself, and asking would make it wait.
    """
    if not ids.is_cpu or not ids.numel():
        return
    lib = library() if ids.dtype == torch.int64 and ids.is_contiguous() else None
    if lib is not None and lib.k_largest_id(count(ids.numel()), pointer(ids)) < n:
        return
    given = ids.numpy()  # numpy gives the interpreter to no other thread meanwhile
    if not 0 <= given.min() <= given.max() < n:
        raise IndexError(f"ids must lie between 0 and {n - 1}, and reach {given.max()}")


def as_ids(ids: Tensor) -> Tensor:
    """Ids as the kernels read them; as they are, where they lie so."""
    if ids.dtype == torch.int64 and ids.is_contiguous():
        return ids
    return ids.long().contiguous()


def _cache_folder() -> Path:
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "regard"


def _key(flags: list[str]) -> str:
    """Changes with the source, the flags and the processor, for which -march=native compiles."""
    processor = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    features = processor.partition("flags")[2].partition("\n")[0]
    source = b"".join(path.read_bytes() for path in (*_SOURCES, *_HEADERS))
    parts = source + repr((flags, features, platform.machine())).encode()
    return hashlib.sha256(parts).hexdigest()[:16]


def _compile(compiler: str, flags: list[str], target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with staging_folder(target, is_shared=True) as folder:
        built = folder / target.name
        command = [compiler, *flags, *map(str, _SOURCES), "-o", str(built)]
        subprocess.run(command, check=True, capture_output=True, timeout=600)  # noqa: S603
        put_in_place(built, target)
