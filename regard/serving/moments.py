"""Looking into a run as it was: the same text through the weights of one update after another."""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import torch

from regard.decoding import Search
from regard.folder import load_moment, moments_of
from regard.inspection.trace import Trace
from regard.serving.refusals import RequestError
from regard.serving.settings import Bounds
from regard.serving.translating import check_size, check_tokens
from regard.systems import Opened, Translator, loaded_of, open_any, trace

KEPT = 64  # traces
_OPEN = 3  # models
_SEARCH = Search(width=5)

Kept = TypeVar("Kept")


@dataclass(frozen=True)
class Then:
    """What a model looked at, and what it would have written itself."""

    trace: Trace
    output: str | None  # of a model that translates


class Moments:
    """The latest of what was looked at, and the models of it; for the engine's thread alone."""

    def __init__(self) -> None:
        self._seen: OrderedDict[Hashable, Then] = OrderedDict()
        self._opened: OrderedDict[Hashable, Opened] = OrderedDict()

    def of(
        self, folder: Path, update: int | None, source: str, target: str | None, bounds: Bounds
    ) -> Then:
        """A text, through the weights after an update; ``None`` are those the folder holds."""
        check_size([source, target or ""], bounds)
        if not source.strip() or (target is not None and not target.strip()):
            raise RequestError("there is nothing to look at: the text is empty", code="empty")
        place = (folder, update, _written(folder, update))
        key = (*place, source, target)
        if (found := self._seen.pop(key, None)) is None:
            found = _look(self._open(place), source, target, bounds)
        _keep(self._seen, key, found, KEPT)
        return found

    def _open(self, place: tuple[Path, int | None, int]) -> Opened:
        if (opened := self._opened.pop(place, None)) is None:
            loaded = load_moment(place[0], place[1])
            loaded.model.freeze()
            opened = open_any(loaded)
        _keep(self._opened, place, opened, _OPEN)
        return opened


@torch.inference_mode()
def _look(opened: Opened, source: str, target: str | None, bounds: Bounds) -> Then:
    loaded = loaded_of(opened)
    limit = bounds.looked
    if isinstance(opened, Translator):
        limit = min(limit, opened.limit)
    check_tokens("the source", loaded.source_tokenizer, source, limit)
    check_tokens("the target", loaded.target_tokenizer, target or "", limit)
    if not isinstance(opened, Translator):
        return Then(trace(opened, source, target), None)
    own = next(iter(opened.translate([source], _SEARCH)))[0].text
    shown = own if target is None else target
    # A model that has learned little may write nothing: then there is only what it began with.
    return Then(trace(opened, source, shown or None, search=_SEARCH), own)


def _written(folder: Path, update: int | None) -> int:
    """When the weights were written: they may be replaced while a run goes on."""
    for moment in moments_of(folder):
        if moment.update == update:
            return moment.path.stat().st_mtime_ns
    return 0  # opening it says what there is


def _keep(kept: OrderedDict[Hashable, Kept], key: Hashable, value: Kept, most: int) -> None:
    kept[key] = value
    while len(kept) > most:
        kept.popitem(last=False)
