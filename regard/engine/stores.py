"""Keys and values of frozen layers: rows that hypotheses share, only ever added to."""

from dataclasses import dataclass, replace

from regard.engine.places import taken_rows
from regard.models.copying import Copyable
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


@dataclass(frozen=True)
class FrozenState:
    """What decoding remembers: keys and values of every layer, in rows that hypotheses share."""

    written: tuple[Store, ...]
    places: Int[Tensor, "R T"]  # of the rows written: -1 is none
    memory: tuple[Store, ...]  # of the source; a decoder alone has none
    memory_places: Int[Tensor, "R S"] | None
    lengths: Int[Tensor, "R"]  # words each row has read and written
    prompted: Float[Tensor, "R V"] | None = None  # logits after a prompt, until writing begins

    def reorder(self, rows: Int[Tensor, "N"]) -> "FrozenState":
        """Take these rows, in this order."""
        seen, prompted = self.memory_places, self.prompted
        return replace(
            self,
            places=taken_rows(self.places, rows),
            memory_places=None if seen is None else taken_rows(seen, rows),
            lengths=taken_rows(self.lengths, rows),
            prompted=None if prompted is None else prompted.index_select(0, rows),
        )


@dataclass(frozen=True)
class FrozenCopyingState:
    """What decoding remembers: what is written, and what can be copied."""

    written: FrozenState
    given: Copyable
    rows: Int[Tensor, "R"]  # which of the sources a row copies from

    def reorder(self, rows: Int[Tensor, "N"]) -> "FrozenCopyingState":
        """Take these rows, in this order."""
        return replace(self, written=self.written.reorder(rows), rows=taken_rows(self.rows, rows))
