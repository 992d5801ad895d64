"""A place in a model where one can listen, and lay hands on what passes."""

from collections.abc import Callable

from torch import Tensor, nn

Listener = Callable[[Tensor], Tensor]


class Probe(nn.Module):
    """The identity, unless someone listens.

    A layer sends a tensor through a probe under a stable name, such as
    ``decoder.layers.3.cross.weights``; a listener sees it and gives back what goes on. Probes hold
    no parameters and never appear in a state dict. Models know probes and nothing of who listens.
    """

    def __init__(self) -> None:
        super().__init__()
        self._listeners: list[Listener] = []
        self._alone: list[Listener] = []  # of these, those content with one layer in the open

    @property
    def is_watched(self) -> bool:
        """Whether anyone listens, so that a fused kernel must not hide the tensor."""
        return bool(self._listeners)

    @property
    def opens_all(self) -> bool:
        """Whether anyone listens for whom the whole model must compute in the open."""
        return len(self._listeners) > len(self._alone)

    def attach(self, listener: Listener, *, opens_all: bool = True) -> None:
        """Let a listener see, and maybe replace, every tensor that passes.

        One that hears attention's scores or weights while a model learns needs only that layer in
        the open: without ``opens_all`` the other layers stay packed.
        """
        self._listeners.append(listener)
        if not opens_all:
            self._alone.append(listener)

    def detach(self, listener: Listener) -> None:
        """Let a listener go; one that is not there is no error."""
        self._listeners = [known for known in self._listeners if known is not listener]
        self._alone = [known for known in self._alone if known is not listener]

    def forward(self, value: Tensor) -> Tensor:
        """Pass the tensor on."""
        for listener in self._listeners:
            value = listener(value)
        return value

    def __deepcopy__(self, memo: dict[int, object]) -> "Probe":
        """A copied model is not watched by those who watch the original."""
        return Probe().train(self.training)
