"""The places where a model attends, by the names people and probes give them."""

from dataclasses import dataclass
from typing import Literal

SiteKind = Literal["encoder", "decoder", "cross"]


@dataclass(frozen=True)
class Site:
    """A place where a model attends: who looks at whom, and the probe its weights pass.

    A decoder that looks anew at every word passes its probe once a word, and the passes together
    are the matrix (``occasion`` is None); a repeated layer passes once a repetition, which it
    numbers (``occasion``). Weights are ``B H Q K``.
    """

    kind: SiteKind
    layer: int  # from 0, of its kind
    probe: str
    occasion: int | None = None

    @property
    def name(self) -> str:
        """As people write it: ``cross.1``."""
        return f"{self.kind}.{self.layer}"
