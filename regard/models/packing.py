"""Sentences end to end in one row, without padding: what training on a CPU computes with."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from regard.kernels import Spans
from regard.shapes import Bool, Int, Tensor


@dataclass(frozen=True)
class Packed:
    """The real tokens of a batch, sentence after sentence."""

    ids: Int[Tensor, "N"]
    places: Int[Tensor, "N"]  # of each token in its sentence
    starts: Int[Tensor, "starts"]  # of each sentence, and the end of the last
    longest: int

    @classmethod
    def column(cls, ids: Int[Tensor, "N"], place: int | Int[Tensor, "N"]) -> "Packed":
        """One token each of many sentences, at the same place in all, or each at its own."""
        # By numpy: a step of a search does this, and gives the interpreter to no other thread.
        starts = torch.from_numpy(np.arange(len(ids) + 1, dtype=np.int32))
        if isinstance(place, int):
            places = torch.from_numpy(np.full(len(ids), place))
            is_here = ids.device.type == "cpu"
            return cls(ids, places if is_here else places.to(ids.device), starts, place + 1)
        return cls(ids, place, starts, int(place.max()) + 1)

    @cached_property
    def among_themselves(self) -> Spans:
        """Every token sees all tokens of its sentence."""
        return Spans(self.starts, self.starts)

    @cached_property
    def backwards(self) -> Spans:
        """Every token sees itself and those before it."""
        return Spans(self.starts, self.starts, is_causal=True)

    def looking_at(self, other: "Packed") -> Spans:
        """Every token sees all tokens of the same sentence's other side."""
        return Spans(self.starts, other.starts)


def packed_places(is_real: Bool[Tensor, "B L"]) -> Int[Tensor, "B L"]:
    """Where each place of a padded batch stands when the padding is taken out; -1 for padding."""
    places = (is_real.flatten().cumsum(0) - 1).view(is_real.shape)
    return places.masked_fill(~is_real, -1).int()


def pack(ids: Int[Tensor, "B L"], is_real: Bool[Tensor, "B L"]) -> Packed:
    """Take the padding out of a batch padded on the right."""
    n_rows, n_places = ids.shape
    places = torch.arange(n_places).expand_as(ids)
    if bool(is_real.all()):
        starts = torch.arange(0, ids.numel() + 1, n_places, dtype=torch.int32)
        return Packed(ids.reshape(-1), places.reshape(-1), starts, n_places)
    lengths = is_real.sum(1)
    starts = torch.zeros(n_rows + 1, dtype=torch.int32)
    starts[1:] = lengths.cumsum(0)
    return Packed(ids[is_real], places[is_real], starts, int(lengths.max()))
