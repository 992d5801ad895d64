"""What makes tokens vectors, as the kernels that embed them on their way are told."""

import ctypes
from dataclasses import dataclass
from typing import Any

from regard.attention import Learned, Sinusoidal
from regard.engine.native import native, pointer
from regard.models.sublayers import Embedding
from regard.shapes import Float, Tensor


class _Words(ctypes.Structure):
    """The kernels' struct of that name."""

    _fields_ = (
        ("table", ctypes.c_void_p),
        ("positions", ctypes.c_void_p),
        ("scale", ctypes.c_float),
    )


@dataclass(frozen=True)
class WordTable:
    """``scale · table[token] + positions[place]``, or no positions at all."""

    table: Float[Tensor, "V D"]
    positions: Float[Tensor, "L D"] | None
    scale: float

    @property
    def can_run(self) -> bool:
        """Whether the C++ kernels can read these tables."""
        tables = [self.table] if self.positions is None else [self.table, self.positions]
        return native(*tables) is not None and all(one.is_contiguous() for one in tables)

    @property
    def told(self) -> Any:
        """Where all of it lies; the caller keeps the tables."""
        return _Words(pointer(self.table), pointer(self.positions), self.scale)


def words_of(embedding: Embedding, n_places: int) -> WordTable:
    """What embeds tokens at so many places."""
    positions = embedding.positions
    table = positions.prepared(n_places) if isinstance(positions, Sinusoidal | Learned) else None
    return WordTable(embedding.weight, table, embedding.scale)
