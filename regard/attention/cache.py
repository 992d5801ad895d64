"""The keys and values that queries look up: projected once, grown word by word while decoding."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from regard.shapes import Float, Int, Tensor

_ROOM = 1024  # rows of a new store


@dataclass(frozen=True)
class Store:
    """Keys and values of one attention module, a row each, only ever added to.

    What a hypothesis has written is a list of places here, so taking, copying and dropping
    hypotheses moves no keys. A store is a value: adding gives a longer one and the old one stays
    as it was, though both may lie in the same memory.
    """

    memory: Float[Tensor, "room P"]  # key and value side by side, heads end to end
    length: int
    used: list[int]  # of the memory, by the longest store that lies in it

    @classmethod
    def of(cls, rows: Float[Tensor, "M P"]) -> "Store":
        """A store of these rows."""
        return cls(rows, len(rows), [len(rows)])

    @property
    def key(self) -> Float[Tensor, "M D"]:
        """All keys."""
        return self.memory[: self.length, : self.memory.shape[1] // 2]

    @property
    def value(self) -> Float[Tensor, "M D"]:
        """All values."""
        return self.memory[: self.length, self.memory.shape[1] // 2 :]

    def append(self, rows: Float[Tensor, "R P"]) -> "Store":
        """Store with rows added at the end."""
        end = self.length + len(rows)
        if rows.requires_grad or self.memory.requires_grad:  # memory in use cannot be written to
            return Store.of(torch.cat([self.memory[: self.length], rows]))
        longer = self.with_room(len(rows))
        longer.memory[self.length : end] = rows
        return longer

    def with_room(self, n_rows: int) -> "Store":
        """Store with rows at the end whose numbers the caller writes at once."""
        end = self.length + n_rows
        memory, used = self.memory, self.used
        if used[0] != self.length or end > len(memory):
            memory = self.memory.new_empty(max(_ROOM, 2 * end), self.memory.shape[1])
            memory[: self.length] = self.memory[: self.length]
            used = [self.length]
        used[0] = end
        return Store(memory, end, used)


class Keeping:
    """Attention that gives a store beside what it brings back: the store is kept, the rest goes on.

    What stands around attention (add & norm) passes on one tensor and knows nothing of stores.
    """

    store: Store

    def __init__(self, attend: Callable[[Tensor], tuple[Tensor, Store]]) -> None:
        self._attend = attend

    def __call__(self, value: Tensor) -> Tensor:
        """Attend, keep the store, and give what was brought back."""
        context, self.store = self._attend(value)
        return context


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
