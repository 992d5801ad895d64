"""Keys and values of frozen layers: rows that hypotheses share, only ever added to."""

from dataclasses import dataclass

from regard.shapes import Float, Tensor

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
