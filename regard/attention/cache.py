"""The keys and values that queries look up: projected once, grown word by word while decoding."""

from dataclasses import dataclass

import torch

from regard.shapes import Float, Int, Tensor


@dataclass(frozen=True)
class Cache:
    """Projected keys and values of one attention module, head by head."""

    key: Float[Tensor, "B H K E"]
    value: Float[Tensor, "B H K E"]

    @property
    def length(self) -> int:
        """How many places can be looked up."""
        return self.key.shape[2]

    def append(self, new: "Cache") -> "Cache":
        """Cache with later places added."""
        return Cache(
            torch.cat([self.key, new.key], dim=2), torch.cat([self.value, new.value], dim=2)
        )

    def reorder(self, rows: Int[Tensor, "R"]) -> "Cache":
        """Take these rows of the batch, in this order, as a beam search does at every step."""
        return Cache(self.key.index_select(0, rows), self.value.index_select(0, rows))
