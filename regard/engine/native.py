"""The C++ kernels, compiled for the best instructions that this processor has.

Nothing needs them: without them every operation has its torch path.
"""

import ctypes
import logging
import os
import platform
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import torch

from regard.engine.compiling import (
    COMPILED,
    InstructionSet,
    compile_library,
    compiler,
    instruction_sets,
    supported,
)
from regard.errors import UsageError
from regard.shapes import Tensor

_CHOICE = "REGARD_INSTRUCTIONS"  # in the environment: a name, or "none" for torch alone
_RUNTIMES = ("libgomp", "libiomp5", "libomp")

_log = logging.getLogger(__name__)
_is_allowed = True
_chosen: str | None = None


class Kernels(ctypes.CDLL):
    """A library of kernels, and the instructions it is compiled for."""

    instructions: str


def library() -> Kernels | None:
    """The compiled kernels, or ``None`` where there are none for this machine."""
    return _opened(_chosen)


def instructions() -> str | None:
    """Name of the instructions that the kernels in use are compiled for; ``None``: torch's."""
    found = library() if _is_allowed else None
    return None if found is None else found.instructions


def supported_instructions() -> list[str]:
    """Names of the instruction sets this processor has, the fastest first."""
    return [one.name for one in supported()]


@contextmanager
def using_instructions(name: str) -> Iterator[None]:
    """Within, the kernels are those compiled for other instructions: for tests and comparisons."""
    global _chosen
    before, _chosen = _chosen, name
    try:
        yield
    finally:
        _chosen = before


@cache
def _opened(chosen: str | None) -> Kernels | None:
    wanted = _wanted(chosen or os.environ.get(_CHOICE) or None)
    for one in wanted:
        if (COMPILED / one.file_name).exists():
            try:
                return _open(one, COMPILED / one.file_name)
            except OSError as error:
                _log.info("the C++ kernels for %s cannot be opened: %s", one.name, error)
    # The package was built without a compiler, or its sources have changed since.
    for one in wanted[:1]:
        try:
            if (path := _in_cache(one)) is not None:
                return _open(one, path)
        except (OSError, subprocess.SubprocessError) as error:
            _log.info("the C++ kernels cannot be built (%s): torch's are used", error)
    return None


def _wanted(chosen: str | None) -> list[InstructionSet]:
    """What may be opened, the best first."""
    found = supported()
    if chosen is None:
        return [*found]
    known = {one.name for one in instruction_sets()} | {"none"}
    if chosen not in known:
        raise UsageError(f"{_CHOICE} is {chosen}: it can be {', '.join(sorted(known))}")
    if chosen != "none" and chosen not in {one.name for one in found}:
        raise UsageError(
            f"{_CHOICE} is {chosen}, which this processor does not have: "
            f"it has {', '.join(one.name for one in found) or 'none of them'}"
        )
    return [one for one in found if one.name == chosen]


def _in_cache(wanted: InstructionSet) -> Path | None:
    """The library compiled on this machine, kept in the user's cache; compiled if need be."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "regard"
    target = folder / wanted.file_name
    if not target.exists():
        if compiler() is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        compile_library(wanted, target)
    return target


def _open(wanted: InstructionSet, path: Path) -> Kernels:
    _share_openmp()
    loaded = Kernels(str(path))
    for measuring in (loaded.k_cross_entropy, loaded.k_linear_loss, loaded.k_squares):
        measuring.restype = ctypes.c_double
    for counting in (loaded.k_layer_room, loaded.k_beams_advance, loaded.k_int8_bytes):
        counting.restype = ctypes.c_int64
    loaded.k_largest_id.restype = ctypes.c_uint64
    loaded.k_beams_begin.restype = ctypes.c_void_p
    loaded.instructions = wanted.name
    return loaded


@cache
def _share_openmp() -> None:
    """Let the kernels find the OpenMP that torch has loaded: a process should have but one."""
    theirs = next(filter(None, map(_loaded_runtime, _RUNTIMES)), None)
    if theirs is not None:
        ctypes.CDLL(theirs, mode=ctypes.RTLD_GLOBAL)


def _loaded_runtime(name: str) -> str | None:
    """Path of a library that this process has loaded."""
    if platform.system() == "Linux":
        maps = Path("/proc/self/maps").read_text(encoding="utf-8", errors="replace")
        paths = (line.split(maxsplit=5)[-1] for line in maps.splitlines() if "/" in line)
        return next((one for one in paths if Path(one).name.startswith(name)), None)
    found = sorted((Path(torch.__file__).parent / "lib").glob(f"{name}*"))
    return str(found[0]) if found else None


def native(*tensors: Tensor) -> Kernels | None:
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
