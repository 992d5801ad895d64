"""How much memory a computation needs: the bytes of all tensors alive at once, counted."""

import weakref
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


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
