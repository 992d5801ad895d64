"""Sentences end to end in one row, without padding: what training on a CPU computes with."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import torch

from regard.engine import Spans
from regard.shapes import Bool, Int, Tensor


@dataclass(frozen=True)
class Layout:
    """Where the sentences of a batch stand when they are laid end to end."""

    places: Int[Tensor, "N"]  # of each token in its sentence
    starts: Int[Tensor, "starts"]  # of each sentence, and the end of the last
    longest: int

    @cached_property
    def among_themselves(self) -> Spans:
        """Every token sees all tokens of its sentence."""
        return Spans(self.starts, self.starts)

    @cached_property
    def backwards(self) -> Spans:
        """Every token sees itself and those before it."""
        return Spans(self.starts, self.starts, is_causal=True)


@dataclass(frozen=True)
class Packed:
    """The real tokens of a batch, sentence after sentence."""

    ids: Int[Tensor, "N"]
    layout: Layout

    @classmethod
    def column(cls, ids: Int[Tensor, "N"], place: int | Int[Tensor, "N"]) -> "Packed":
        """One token each of many sentences, at the same place in all, or each at its own."""
        # By numpy: a step of a search does this, and gives the interpreter to no other thread.
        starts = torch.from_numpy(np.arange(len(ids) + 1, dtype=np.int32))
        if isinstance(place, int):
            places = torch.from_numpy(np.full(len(ids), place))
            is_here = ids.device.type == "cpu"
            return cls(ids, Layout(places if is_here else places.to(ids.device), starts, place + 1))
        return cls(ids, Layout(place, starts, int(place.max()) + 1))

    @property
    def among_themselves(self) -> Spans:
        """Every token sees all tokens of its sentence."""
        return self.layout.among_themselves

    @property
    def backwards(self) -> Spans:
        """Every token sees itself and those before it."""
        return self.layout.backwards

    def looking_at(self, other: "Packed") -> Spans:
        """Every token sees all tokens of the same sentence's other side."""
        return Spans(self.layout.starts, other.layout.starts)


def packed_places(is_real: Bool[Tensor, "B L"]) -> Int[Tensor, "B L"]:
    """Where each place of a padded batch stands when the padding is taken out; -1 for padding."""
    places = (is_real.flatten().cumsum(0) - 1).view(is_real.shape)
    return places.masked_fill(~is_real, -1).int()


def pack(ids: Int[Tensor, "B L"], is_real: Bool[Tensor, "B L"] | None) -> Packed:
    """Take the padding out of a batch padded on the right, if there is any."""
    if is_real is None or bool(is_real.all()):
        return Packed(ids.reshape(-1), _without_gaps(*ids.shape))
    n_rows, n_places = ids.shape
    places = torch.arange(n_places).expand_as(ids)
    lengths = is_real.sum(1)
    starts = torch.zeros(n_rows + 1, dtype=torch.int32)
    starts[1:] = lengths.cumsum(0)
    return Packed(ids[is_real], Layout(places[is_real], starts, int(lengths.max())))


@lru_cache(maxsize=64)
def _without_gaps(n_rows: int, n_places: int) -> Layout:
    """Sentences of one length: what a language model reads, the same at every update."""
    with torch.inference_mode(mode=False):  # it may be asked for first where nothing learns
        starts = torch.arange(0, n_rows * n_places + 1, n_places, dtype=torch.int32)
        return Layout(torch.arange(n_places).repeat(n_rows), starts, n_places)
