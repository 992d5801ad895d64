"""Looking inside the served models: traces that are kept a while, and what is made of them."""

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from regard.decoding import Search
from regard.errors import UsageError
from regard.inspection.arithmetic import Arithmetic, arithmetic
from regard.inspection.scene import View, layout, page, render
from regard.inspection.trace import Trace
from regard.serving.ticket import Item
from regard.systems import Opened, Translator, loaded_of, trace

KEPT = 16


@dataclass(frozen=True)
class Sight:
    """A text to look at; without a target what the model makes of it is found."""

    name: str
    opened: Opened
    source: str
    target: str | None = None
    beam: int = 5  # for a translation
    n_new: int | None = None  # tokens for a language model to write

    @property
    def search(self) -> Search | None:
        """How a translation is found."""
        return Search(width=self.beam) if isinstance(self.opened, Translator) else None


@dataclass(frozen=True, eq=False)
class Alone:
    """Something that is done by itself: the payload is called, and gives the answer."""

    rows: int = 1
    is_shared: ClassVar[bool] = False

    @property
    def key(self) -> Hashable:
        """Its own."""
        return ("alone", id(self))

    def run(self, items: Sequence[Item]) -> None:
        """Call each."""
        for item in items:
            item.answer(item.payload())


class Traces:
    """The latest traces, so that a click on a picture need not translate again.

    For the engine's thread alone.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self._traces: OrderedDict[Hashable, Trace] = OrderedDict()

    def of(self, sight: Sight) -> Trace:
        """The trace of a sentence, made or remembered."""
        key = (sight.name, sight.source, sight.target, sight.beam, sight.n_new)
        found = self._traces.pop(key, None)
        if found is None:
            found = trace(
                sight.opened, sight.source, sight.target, search=sight.search, n_new=sight.n_new
            )
        self._traces[key] = found
        while len(self._traces) > self._kept:
            self._traces.popitem(last=False)
        return found

    def arithmetic(
        self, sight: Sight, asked: str | None, layer: int, *, head: int, row: int, column: int
    ) -> tuple[Arithmetic, Trace]:
        """The numbers of one cell, and the trace that it belongs to."""
        seen = self.of(sight)
        kind = asked or seen.usual_site
        model = loaded_of(sight.opened).model
        seen.site(kind, layer)  # which says what there is
        site = next(one for one in model.sites if (one.kind, one.layer) == (kind, layer))
        device = next(model.parameters()).device
        inputs = [
            torch.tensor([[token.id for token in seen.read(side)[1]]], device=device)
            for side in seen.way.reads
        ]
        return arithmetic(model, inputs, site, head=head, row=row, column=column), seen


def picture(seen: Trace, view: View, kind: str) -> bytes:
    """A picture as a file of its own; as HTML it is the page with all of them."""
    if kind == "html":
        return page(seen, view).encode()
    if kind == "json":
        return f"{seen.to_json()}\n".encode()
    return render(layout(seen, view), kind)


@dataclass(frozen=True)
class HeadFacts:
    """What a head does in one sentence, each number a mean over its rows."""

    kind: str
    layer: int
    head: int
    entropy: float  # in nats
    largest: float  # of the weights of a row
    on_special: float  # of the weight: on <s> and </s>
    before: float | None  # on the token before, its own, and the one after; not across languages
    itself: float | None
    after: float | None
    is_uniform: bool


def head_facts(seen: Trace) -> list[HeadFacts]:
    """Every head of a trace in numbers."""
    if not seen.sites:
        raise UsageError("this model never looks back at words, so it has no heads to speak of")
    facts = []
    for site in seen.sites:
        _, tokens = seen.read(site.attention.columns)
        special = [j for j, token in enumerate(tokens) if token.is_special]
        for head, weights in enumerate(site.weights.astype(np.float64)):
            logs = np.log(np.maximum(weights, 1e-300))
            is_self = not site.attention.is_across
            facts.append(
                HeadFacts(
                    site.kind,
                    site.layer,
                    head,
                    float(-(weights * logs).sum(-1).mean()),
                    float(weights.max(-1).mean()),
                    float(weights[:, special].sum(-1).mean()),
                    _near(weights, -1) if is_self else None,
                    _near(weights, 0) if is_self else None,
                    _near(weights, 1) if is_self else None,
                    site.is_uniform[head],
                )
            )
    return facts


def _near(weights: np.ndarray, offset: int) -> float:
    """The mean weight on the place that lies so far from a row's own."""
    diagonal = np.diagonal(weights, offset)
    return float(diagonal.sum() / len(weights))
