"""Builds the C++ kernels with the package; what the package is stands in pyproject.toml.

Nothing needs them. Without a compiler the package is built without them, and torch does their work,
more slowly; REGARD_REQUIRE_NATIVE=1 makes that an error.
"""

import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext

FOLDER = Path(__file__).parent / "regard" / "engine"


def compiling() -> ModuleType:
    """The module that compiles, without the package around it, which needs torch."""
    spec = importlib.util.spec_from_file_location("compiling", FOLDER / "compiling.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


class BuildKernels(build_ext):
    """Compiles a library for each instruction set: no extension of Python, a plain C interface."""

    def run(self) -> None:
        place = FOLDER if self.inplace else Path(self.build_lib) / "regard" / "engine"
        compiled, kernels = place / "compiled", compiling()
        for old in compiled.glob("*.so"):
            old.unlink()
        built = kernels.compile_all(compiled)
        names = ", ".join(one.name for one in built)
        print(f"C++ kernels for {names}" if built else "no C++ compiler: torch does all the work")
        if os.environ.get("REGARD_REQUIRE_NATIVE") and built != [*kernels.instruction_sets()]:
            raise SystemExit("REGARD_REQUIRE_NATIVE is set, and some kernels could not be compiled")

    def get_outputs(self) -> list[str]:
        return []


class Wheel(bdist_wheel):
    """For any Python, and for one kind of machine."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


class WithKernels(Distribution):
    """A distribution that is not the same on every machine."""

    def has_ext_modules(self) -> bool:
        return True


setup(
    distclass=WithKernels,
    cmdclass={"build_ext": BuildKernels, "bdist_wheel": Wheel},
)
