"""Looking inside the served models: traces that are kept a while, and what is made of them."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from regard.decoding import Search
from regard.folder import moments_of
from regard.inspection.arithmetic import Arithmetic, arithmetic, head_vectors, inputs_of
from regard.inspection.figures import View, figure
from regard.inspection.trace import Trace
from regard.inspection.viewer import ViewedTrace, page
from regard.serving.refusals import RequestError
from regard.serving.settings import Bounds, check_tokens, read_input
from regard.systems import OpenedModel, load_moment, open_model

Value = TypeVar("Value")

KEPT = 16
KEPT_MOMENTS = 64  # traces of runs
OPEN_MOMENTS = 3  # models of runs
_SEARCH = Search(width=5)


@dataclass(frozen=True)
class TraceRequest:
    """A text to look at; without a target what the model makes of it is found."""

    name: str
    opened: OpenedModel
    source: str | bytes  # a picture's
    target: str | None = None
    beam: int = 5  # for what is searched for
    n_new: int | None = None  # tokens for a language model to write

    @property
    def search(self) -> Search | None:
        """How what it writes is found, where that is searched for."""
        return Search(width=self.beam) if "search" in self.opened.takes else None


class _Latest(OrderedDict[Hashable, Value]):
    """The values that were used last, and no more than so many."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def get_or_make(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of a key, remembered or made now."""
        self[key] = self.pop(key) if key in self else make()
        while len(self) > self.most:
            self.popitem(last=False)
        return self[key]


class TraceCache:
    """The latest traces, so that a click on a picture need not translate again.

    For the thread that computes alone.
    """

    def __init__(self, kept: int = KEPT) -> None:
        self._traces = _Latest[Trace](kept)

    def of(self, asked: TraceRequest) -> Trace:
        """The trace of a sentence, made or remembered."""
        return self._traces.get_or_make(
            (asked.name, asked.source, asked.target, asked.beam, asked.n_new),
            lambda: asked.opened.trace(
                asked.source, asked.target, search=asked.search, n_new=asked.n_new
            ),
        )

    def arithmetic(
        self, asked: TraceRequest, kind: str | None, layer: int, *, head: int, row: int, column: int
    ) -> tuple[Arithmetic, Trace]:
        """The numbers of one cell, and the trace that it belongs to."""
        seen = self.of(asked)
        kind = kind or seen.usual_site
        model = asked.opened.model
        seen.site(kind, layer)  # which says what there is
        site = next(one for one in model.sites if (one.kind, one.layer) == (kind, layer))
        inputs = inputs_of(seen, asked.opened.device)
        return arithmetic(model, inputs, site, head=head, row=row, column=column), seen

    def vectors(self, asked: TraceRequest) -> dict[str, np.ndarray]:
        """Queries, keys and values of the heads, where its weights follow from them."""
        seen, opened = self.of(asked), asked.opened
        return head_vectors(opened.model, opened.model.sites, seen, opened.device)

    def page(self, asked: TraceRequest, view: View) -> bytes:
        """The viewer as one file, open at this view."""
        return page(ViewedTrace(self.of(asked), self.vectors(asked)), view=view).encode()


def picture(seen: Trace, view: View, ending: str) -> bytes:
    """A picture as a file of its own, or the numbers behind it."""
    if ending == "json":
        return f"{seen.to_json()}\n".encode()
    return figure(seen, view).to_bytes(ending)


@dataclass(frozen=True)
class MomentTrace:
    """What a model looked at, and what it would have written itself."""

    trace: Trace
    output: str | None  # of a model that translates


class MomentCache:
    """The latest traces of runs, and their models; for the thread that computes alone."""

    def __init__(self) -> None:
        self._seen = _Latest[MomentTrace](KEPT_MOMENTS)
        self._opened = _Latest[OpenedModel](OPEN_MOMENTS)

    def of(
        self, folder: Path, update: int | None, source: str, target: str | None, bounds: Bounds
    ) -> MomentTrace:
        """A text, through the weights after an update; ``None`` are those the folder holds."""
        if not source.strip() or (target is not None and not target.strip()):
            raise RequestError("there is nothing to look at: the text is empty", code="empty")
        place = (folder, update, _written(folder, update))
        return self._seen.get_or_make(
            (*place, source, target),
            lambda: _look(
                self._opened.get_or_make(place, lambda: _open(*place[:2])), source, target, bounds
            ),
        )


def _open(folder: Path, update: int | None) -> OpenedModel:
    loaded = load_moment(folder, update)
    loaded.model.eval().requires_grad_(False)
    return open_model(loaded)


def _look(opened: OpenedModel, source: str, target: str | None, bounds: Bounds) -> MomentTrace:
    read = read_input(opened, source, bounds, bounds.looked, "the source")
    bounds.check_size([target or ""])
    check_tokens("the target", opened.loaded.target_tokenizer, target or "", bounds.looked)
    if "search" not in opened.takes:
        return MomentTrace(opened.trace(read, target), None)
    own = opened.trace(read, search=_SEARCH)
    return MomentTrace(opened.trace(read, target) if target else own, own.target.text)


def _written(folder: Path, update: int | None) -> int:
    """When the weights were written: they may be replaced while a run goes on."""
    for moment in moments_of(folder):
        if moment.update == update:
            return moment.path.stat().st_mtime_ns
    return 0  # opening it says what there is
