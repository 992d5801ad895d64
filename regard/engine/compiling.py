"""Compiles the C++ kernels, once for each instruction set a processor may have.

``setup.py`` runs this file by itself when the package is built, before anything else is installed:
it needs the standard library alone. A library's name holds the hash of what it was compiled from,
so that an old one is never taken for a new one.
"""

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SOURCES = Path(__file__).parent / "cpp"
COMPILED = Path(__file__).parent / "compiled"  # where building the package puts the libraries

_SECONDS = 600
_FLAGS = ("-std=c++17", "-O3", "-fPIC", "-fno-math-errno", "-fno-trapping-math")
_VISIBLE = ("-fvisibility-inlines-hidden",)
_COMPILERS = ("c++", "g++", "clang++")
_X86_V3 = frozenset({"avx2", "fma", "bmi1", "bmi2", "f16c", "movbe"})
_X86_V4 = _X86_V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}


@dataclass(frozen=True)
class InstructionSet:
    """Instructions that a library is compiled for, and the features a processor needs for them."""

    name: str
    flags: tuple[str, ...]
    needs: frozenset[str] = frozenset()  # as /proc/cpuinfo calls them, without underscores

    @property
    def file_name(self) -> str:
        """Name of its library."""
        return f"{self.name}-{self._key}.so"

    @property
    def _key(self) -> str:
        """Changes with every source and flag."""
        parts = [repr((_FLAGS, self.flags, platform.machine())).encode(), _all_sources()]
        return hashlib.sha256(b"".join(parts)).hexdigest()[:16]


_X86 = (
    InstructionSet(
        "avx512-vnni",
        ("-march=x86-64-v4", "-mavx512vnni", "-mprefer-vector-width=512"),
        _X86_V4 | {"avx512vnni"},
    ),
    InstructionSet("avx512", ("-march=x86-64-v4", "-mprefer-vector-width=512"), _X86_V4),
    InstructionSet("avx2", ("-march=x86-64-v3",), _X86_V3),
)
_ARM = (InstructionSet("neon", ()),)


def instruction_sets() -> tuple[InstructionSet, ...]:
    """Those that are compiled for this kind of machine, the fastest first."""
    if platform.system() not in ("Linux", "Darwin"):
        return ()
    return {"x86_64": _X86, "aarch64": _ARM, "arm64": _ARM}.get(platform.machine(), ())


@cache
def processor_features() -> frozenset[str]:
    """What the processor says it can do, without underscores."""
    if platform.system() == "Darwin":
        asked = ["sysctl", "-n", "machdep.cpu.features", "machdep.cpu.leaf7_features"]
        said = subprocess.run(asked, capture_output=True, text=True, check=False).stdout  # noqa: S603
    else:
        cpus = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        said = cpus.partition("flags")[2].partition("\n")[0]
    return frozenset(said.lower().replace("_", "").split())


def supported() -> tuple[InstructionSet, ...]:
    """The instruction sets this processor has, the fastest first."""
    found = instruction_sets()
    return tuple(one for one in found if not one.needs or one.needs <= processor_features())


def compiler() -> str | None:
    """The C++ compiler: ``$CXX``, or the first one on the path."""
    chosen = os.environ.get("CXX")
    return (
        shutil.which(chosen) if chosen else next(filter(None, map(shutil.which, _COMPILERS)), None)
    )


def compile_all(folder: Path) -> list[InstructionSet]:
    """Put a library for every instruction set into a folder; gives those that could be compiled."""
    sets = instruction_sets()

    def is_compiled(one: InstructionSet) -> bool:
        try:
            compile_library(one, folder / one.file_name)
        except (OSError, subprocess.SubprocessError):
            return False
        return True

    if compiler() is None:
        return []
    folder.mkdir(parents=True, exist_ok=True)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return [one for one, done in zip(sets, pool.map(is_compiled, sets), strict=True) if done]


def compile_library(wanted: InstructionSet, target: Path) -> None:
    """Compile all sources into one library."""
    chosen = compiler()
    if chosen is None:
        raise FileNotFoundError("there is no C++ compiler")
    openmp, undefined = _openmp()
    with tempfile.TemporaryDirectory() as place:
        objects = []
        for source in sorted(SOURCES.glob("*.cpp")):
            objects.append(f"{place}/{source.stem}.o")
            flags = (*_FLAGS, *_VISIBLE, *wanted.flags, *openmp)
            _run([chosen, *flags, "-c", str(source), "-o", objects[-1]])
        # Not linked with an OpenMP of its own: the process has one already, torch's.
        _run([chosen, "-shared", *undefined, *objects, "-o", f"{place}/library.so"])
        written = target.with_name(f"{target.name}.{os.getpid()}.partial")
        try:
            shutil.copyfile(f"{place}/library.so", written)
            written.replace(target)
        finally:
            written.unlink(missing_ok=True)


def _openmp() -> tuple[Sequence[str], Sequence[str]]:
    """Flags that compile for OpenMP, and those that leave its functions to be found when loaded."""
    if platform.system() == "Darwin":
        return ("-Xpreprocessor", "-fopenmp"), ("-undefined", "dynamic_lookup")
    return ("-fopenmp",), ()


def _run(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, timeout=_SECONDS)  # noqa: S603


@cache
def _all_sources() -> bytes:
    return b"".join(_contents())


def _contents() -> Iterator[bytes]:
    for path in sorted(SOURCES.glob("*.[ch]*")):
        yield path.read_bytes()
