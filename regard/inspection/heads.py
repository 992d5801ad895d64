"""The heads of a model by name: ``cross.1.0`` is head 0 of the second look at the source."""

from collections.abc import Iterable
from dataclasses import dataclass

from torch import nn

from regard.attention import Site
from regard.errors import UsageError
from regard.inspection.trace import KINDS


@dataclass(frozen=True, order=True)
class Head:
    """One head; layers and heads count from 0, layers of their kind."""

    kind: str
    layer: int
    head: int

    @property
    def name(self) -> str:
        """As people write it: ``cross.1.0``."""
        return f"{self.kind}.{self.layer}.{self.head}"

    def __str__(self) -> str:
        return self.name


HeadLike = Head | str | tuple[str, int, int]


def sites_of(model: nn.Module) -> tuple[Site, ...]:
    """Where a model attends; one that never does has no heads to speak of."""
    sites: tuple[Site, ...] = getattr(model, "sites", ())
    if not sites:
        raise UsageError(
            "this model never looks back at words, so it has no heads: choose one with attention"
        )
    return sites


def attention_at(model: nn.Module, site: Site) -> nn.Module:
    """The attention whose weights pass the site's probe."""
    return model.get_submodule(site.probe.rpartition(".")[0])


def n_heads(model: nn.Module, site: Site) -> int:
    """How many heads look there: attention without an axis of heads of its own has one."""
    return int(getattr(attention_at(model, site), "n_heads", 1))


def all_heads(model: nn.Module, kind: str | None = None) -> tuple[Head, ...]:
    """Every head of a model, or those that look in one way, layer by layer."""
    return tuple(
        Head(site.kind, site.layer, head)
        for site in sites_of(model)
        if kind in (None, site.kind)
        for head in range(n_heads(model, site))
    )


def find_heads(
    model: nn.Module, names: HeadLike | Iterable[HeadLike], *, kind: str | None = None
) -> tuple[Head, ...]:
    """The heads that names mean, each once, in the order given.

    ``encoder.3.2`` is one head, ``encoder.3`` a layer, ``encoder`` all of its kind; several stand
    with commas between them. With a ``kind`` the short ``3.2`` and ``3`` are of that kind.
    """
    known = all_heads(model)
    found: dict[Head, None] = {}
    for one in _listed_names(names):
        parts = one.replace(" ", "").split(",") if isinstance(one, str) else [_name(one)]
        for name in parts:
            found |= dict.fromkeys(_meant(name, known, kind))
    return tuple(found)


def _listed_names(names: HeadLike | Iterable[HeadLike]) -> list[HeadLike]:
    if isinstance(names, Head | str):
        return [names]
    several = list(names)
    match several:
        case [str(kind), int(layer), int(head)]:
            return [(kind, layer, head)]
    return [one for one in several if not isinstance(one, int)]


def _name(head: Head | tuple[str, int, int]) -> str:
    return head.name if isinstance(head, Head) else ".".join(str(part) for part in head)


def _meant(name: str, known: tuple[Head, ...], kind: str | None) -> list[Head]:
    """The known heads whose names begin so, part by part."""
    parts = name.split(".")
    if parts[0].isdecimal():
        if kind is None:
            raise UsageError(
                f"{name!r} does not say which attention is meant: write encoder.{name}, "
                f"decoder.{name} or cross.{name}"
            )
        parts = [kind, *parts]
    is_name = parts[0] in KINDS and len(parts) <= 3 and all(p.isdecimal() for p in parts[1:])
    if not is_name:
        raise UsageError(
            f"{name!r} is no head: a head is called encoder.3.2 (layer 3, head 2), a layer "
            "encoder.3; the attentions are encoder, decoder and cross"
        )
    beginning = ".".join([parts[0], *(f"{int(part)}" for part in parts[1:])]) + "."
    found = [head for head in known if f"{head.name}.".startswith(beginning)]
    if not found:
        raise UsageError(f"this model has no {'.'.join(parts)}: {_listed(known)}")
    return found


def _listed(known: tuple[Head, ...]) -> str:
    """What there is to choose: of each kind its layers and heads, counted from 0."""
    kinds = []
    for kind in KINDS:
        mine = [head for head in known if head.kind == kind]
        if mine:
            last = max(mine)
            kinds.append(f"{kind} has layers 0 to {last.layer} of heads 0 to {last.head}")
    return ", ".join(kinds)
