"""Listening to a model: every tensor that passes a probe, by name, and the power to replace it."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from fnmatch import fnmatchcase

import torch
from torch import nn

from regard.attention import Probe, Site
from regard.errors import UsageError
from regard.shapes import Float, Tensor

Replacement = Callable[[Tensor], Tensor]


class Recording(Mapping[str, Tensor]):
    """What passed each probe: ``recording[name]`` is the latest tensor, ``all(name)`` every one.

    Tensors are detached; their memory is shared with the model's until it computes the next.
    """

    def __init__(self, names: list[str]) -> None:
        self._passed: dict[str, list[Tensor]] = {name: [] for name in names}

    def __getitem__(self, name: str) -> Tensor:
        passed = self._passed.get(name)
        if not passed:
            raise KeyError(f"nothing was recorded at {name!r}; recorded: {', '.join(self) or '-'}")
        return passed[-1]

    def __iter__(self) -> Iterator[str]:
        return (name for name, passed in self._passed.items() if passed)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def all(self, name: str) -> tuple[Tensor, ...]:
        """Every tensor that passed this probe, in order."""
        return tuple(self._passed.get(name, ()))

    def cpu(self) -> "Recording":
        """All of it in the memory of the processor, wherever the model computed."""
        moved = Recording([])
        moved._passed = {name: [one.cpu() for one in all_] for name, all_ in self._passed.items()}
        return moved


def probe_names(model: nn.Module) -> list[str]:
    """The names of all places of a model where one can listen."""
    return [name for name, module in model.named_modules() if isinstance(module, Probe)]


@contextmanager
def record(
    model: nn.Module, *patterns: str, replace: Mapping[str, Replacement] | None = None
) -> Iterator[Recording]:
    """Record what passes the probes whose names match, and maybe put something else in its place.

    ``with record(model, "decoder.*.weights") as recording: model(source, target)``. Patterns are
    shell patterns; none means all. ``replace`` maps patterns to functions from the passing tensor
    to the one that goes on (ablate, patch); what is recorded is what goes on. Listeners leave with
    the block, whatever happens inside it.
    """
    probes = {name: m for name, m in model.named_modules() if isinstance(m, Probe)}
    replace = replace or {}
    for pattern in (*patterns, *replace):
        if not any(fnmatchcase(name, pattern) for name in probes):
            raise UsageError(
                f"no probe of this model matches {pattern!r}; it has {_some(list(probes))}"
            )
    heard = patterns or (("*",) if not replace else ())
    recording = Recording([n for n in probes if any(fnmatchcase(n, p) for p in heard)])
    attached: list[tuple[Probe, Replacement]] = []
    try:
        for name, probe in probes.items():
            functions = [f for pattern, f in replace.items() if fnmatchcase(name, pattern)]
            passed = recording._passed.get(name)
            if functions or passed is not None:
                listener = _listener(name, functions, passed)
                probe.attach(listener)
                attached.append((probe, listener))
        yield recording
    finally:
        for probe, listener in attached:
            probe.detach(listener)


def at(recording: Recording, site: Site) -> Float[Tensor, "B H Q K"]:
    """The weights of one place where a model attends, however often it passed its probe."""
    passed = recording.all(site.probe)
    if site.occasion is None:
        return torch.cat(passed, dim=-2)
    if site.occasion >= len(passed):
        raise UsageError(
            f"{site.name} did not come about: every word had halted after {len(passed)} steps"
        )
    return passed[site.occasion]


def _listener(name: str, functions: list[Replacement], passed: list[Tensor] | None) -> Replacement:
    def listen(value: Tensor) -> Tensor:
        for function in functions:
            replacement: object = function(value)
            if not isinstance(replacement, Tensor) or replacement.shape != value.shape:
                raise UsageError(
                    f"the replacement at {name!r} must give a tensor of shape "
                    f"{tuple(value.shape)}, and gave {_described(replacement)}"
                )
            value = replacement
        if passed is not None:
            passed.append(value.detach())
        return value

    return listen


def _described(given: object) -> str:
    return f"one of {tuple(given.shape)}" if isinstance(given, Tensor) else type(given).__name__


def _some(names: list[str], most: int = 6) -> str:
    if not names:
        return "no probes at all"
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown}, … ({len(names)} in all)"
