"""What makes tokens vectors, as the kernels that embed them on their way are told."""

import ctypes
from dataclasses import dataclass
from typing import Any

from regard.attention import Learned, Sinusoidal
from regard.engine.native import native, pointer
from regard.engine.panels import Panels
from regard.models.sublayers import Embedding
from regard.shapes import Float, Tensor


class _Words(ctypes.Structure):
    """The kernels' struct of that name."""

    _fields_ = (
        ("table", ctypes.c_void_p),
        ("positions", ctypes.c_void_p),
        ("scale", ctypes.c_float),
        ("packed", ctypes.c_int64),
    )


@dataclass(frozen=True)
class WordTable:
    """``scale · table[token] + positions[place]``, or no positions at all."""

    table: Float[Tensor, "V D"]
    positions: Float[Tensor, "L D"] | None
    scale: float
    panels: Panels | None = (
        None  # of an output layer that is the table, too: it is read in its place
    )

    @property
    def can_run(self) -> bool:
        """Whether the C++ kernels can read these tables."""
        tables = [self.table] if self.positions is None else [self.table, self.positions]
        return native(*tables) is not None and all(one.is_contiguous() for one in tables)

    @property
    def told(self) -> Any:
        """Where all of it lies; the caller keeps the tables."""
        panels = self.panels
        table = self.table if panels is None else panels.numbers
        n_packed = 0 if panels is None else panels.n_outputs
        return _Words(pointer(table), pointer(self.positions), self.scale, n_packed)


def words_of(embedding: Embedding, n_places: int, panels: Panels | None = None) -> WordTable:
    """What embeds tokens at so many places; from panels where they are its table."""
    positions = embedding.positions
    table = positions.prepared(n_places) if isinstance(positions, Sinusoidal | Learned) else None
    return WordTable(embedding.weight, table, embedding.scale, panels)
