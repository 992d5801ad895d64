"""The letters that stand for axes, in every signature of the project.

    B  batch                D  model width
    S  source positions     E  width of one head
    T  target positions     V  vocabulary
    Q  queries              W  beam width
    K  keys (and values)    N  tokens of a batch, all sentences in one row
    H  heads                F  inner width of the feed-forward network
    L  places of one text   C  classes (labels, tags)

Batch comes first, heads second: queries are ``B H Q E``, attention weights ``B H Q K``.
An axis written ``*H`` may be absent: one head needs no axis. Shapes are written with jaxtyping
and checked by beartype while the tests run; outside them they cost nothing.
Pictures are ``B Z Y X``: channels (3, or 1 of grey), rows from the top, columns from the left.
"""

from jaxtyping import Bool, Float, Int
from torch import Tensor

Source = Int[Tensor, "B S"] | Float[Tensor, "B Z Y X"]  # what is read: ids of texts, or pictures

__all__ = ["Bool", "Float", "Int", "Source", "Tensor"]
