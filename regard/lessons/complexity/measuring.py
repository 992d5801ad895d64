"""One layer at one size: how long a forward and a backward pass take, and how much they hold."""

import time
import weakref
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from regard.lessons.complexity.kinds import Kind
from regard.lessons.complexity.layers import Layer

BYTES = 4  # of a float32
# A short run is repeated for so long, and the best one counts: clocks and caches need it.
SECONDS_TOGETHER = 0.02


class LiveBytes(TorchDispatchMode):  # type: ignore[no-untyped-call]  # torch's has no types
    """While it is entered, counts the bytes of every storage that torch's operations make.

    A storage counts once, however many tensors look at it, from the operation that made it until
    nothing holds it. The process's own memory would say less on a CPU: freed pages stay with the
    allocator, so a peak is seen once and never again. What this does not see is scratch space that
    a kernel takes and gives back within one operation.
    """

    def __init__(self, known: Iterable[Tensor] = ()) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.now = self.peak = 0
        self._references: dict[int, object] = {}
        for tensor in known:  # it was there before, and is not counted
            self._watch(tensor, counts=False)

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Run the operation, and count what it made."""
        result = func(*args, **(kwargs or {}))
        for tensor in (result,) if isinstance(result, Tensor) else tree_leaves(result):
            if isinstance(tensor, Tensor):
                self._watch(tensor)
        self.peak = max(self.peak, self.now)
        return result

    def _watch(self, tensor: Tensor, *, counts: bool = True) -> None:
        storage = tensor.untyped_storage()
        name = id(storage)
        if name in self._references:
            return
        n_bytes = storage.nbytes() if counts else 0
        self.now += n_bytes
        self._references[name] = weakref.ref(storage, partial(self._forget, name, n_bytes))

    def _forget(self, name: int, n_bytes: int, _: object) -> None:
        self.now -= n_bytes
        self._references.pop(name, None)


@dataclass(frozen=True)
class Point:
    """A kind of layer at a length n and a width d."""

    kind: Kind
    length: int
    width: int

    @property
    def operations(self) -> int:
        """What the table says it costs, without constant factors."""
        return self.kind.operations(self.length, self.width)

    @property
    def most_bytes(self) -> int:
        """No less than it will need."""
        return BYTES * self.kind.most_floats(self.length, self.width)

    def build(self) -> Layer:
        """The layer itself."""
        if self.kind.build_at is not None:
            return self.kind.build_at(self.length, self.width)
        return self.kind.build(self.width)


@dataclass(frozen=True)
class MemoryUse:
    """Bytes beyond inputs and parameters: kept for the backward pass, and at the highest moment.

    What is kept includes the output; the peak includes the gradients of inputs and parameters.
    """

    kept: int
    peak: int


class TimedRun:
    """A layer at its size with an input and a gradient: one sequence, in float32."""

    def __init__(self, point: Point, seed: int = 0) -> None:
        generator = torch.Generator().manual_seed(seed)
        shape = (1, point.length, point.width)
        self.layer = point.build()
        self.value = torch.randn(shape, generator=generator).requires_grad_()
        self.gradient = torch.randn(shape, generator=generator)

    def memory(self) -> MemoryUse:
        """Count the bytes of one forward and backward pass; the first pass warms up, too."""
        self._forget()
        with LiveBytes([self.value, self.gradient, *self.layer.parameters()]) as live:
            output = self.layer(self.value)
            kept = live.now
            output.backward(self.gradient)
            return MemoryUse(kept, live.peak)

    def seconds(self) -> float:
        """The best time of one forward and backward pass, of one or, if it is short, of several.

        It is the processor's time, which other programs do not lengthen: with one thread the same
        as the clock's on a machine that has nothing else to do.
        """
        best, started = float("inf"), time.perf_counter()
        while best == float("inf") or time.perf_counter() - started < SECONDS_TOGETHER:
            self._forget()
            before = time.process_time()
            self.layer(self.value).backward(self.gradient)
            best = min(best, time.process_time() - before)
        return best

    def _forget(self) -> None:
        held: list[Tensor] = [self.value, *self.layer.parameters()]
        for tensor in held:
            tensor.grad = None


def free_bytes() -> float:
    """How much memory new programs can have without swapping; infinite where nobody says."""
    information = Path("/proc/meminfo")
    if information.is_file():
        for line in information.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("MemAvailable:"):
                return 1024.0 * int(line.split()[1])
    return float("inf")
