"""Restricted self-attention: each place sees its neighbours alone, at a cost that grows as r·n·d.

A mask of a band (``masks.window``) gives the same numbers from a matrix of n × n scores, almost all
of which it throws away. Here those scores are never computed. The queries go in blocks; a block of
c queries meets the c + 2r keys that any of them may see, so the scores are n × (c + 2r). With c = r
that is 3·r·n numbers, in the forward and in the backward pass.
"""

from dataclasses import dataclass

import torch
from torch.nn import functional as F

from regard.attention.attend import Attention
from regard.attention.normalisers import masked_softmax
from regard.attention.scores import Location, ScaledDot, Score
from regard.errors import SizeError
from regard.shapes import Bool, Float, Tensor

# Narrower blocks are many small products, which take longer than the few scores they save.
LEAST_BLOCK = 16


class WindowAttention(Attention):
    """``cᵢ = Σⱼ softmaxⱼ(score(qᵢ, kⱼ)) vⱼ`` over the places j with ``|i - j| ≤ reach``.

    With ``is_causal`` the window reaches to the left alone: ``i - reach ≤ j ≤ i``. This is the
    restricted self-attention of Vaswani et al. 2017 (section 4), with any score of query and key.

    Scores and weights pass their probes as bands ``B H L 2r+1`` (causal: ``B H L r+1``), r being
    the reach or, if that is less, L - 1. Column o is the key at ``i - r + o``; beyond the ends of
    the sequence weights are zero.
    """

    def __init__(
        self,
        score: Score,
        *,
        reach: int,
        is_causal: bool = False,
        dropout: float = 0.0,
        n_heads: int = 1,
    ) -> None:
        if reach < 0:
            raise SizeError(f"a window's reach is 0 or more places, not {reach}")
        if isinstance(score, Location):
            raise SizeError(
                "location-based attention gives every place of a sequence its own weight, and a "
                "window knows no such places: choose a score that looks at the key"
            )
        super().__init__(score, dropout=dropout)
        self.reach, self.is_causal, self.n_heads = reach, is_causal, n_heads

    def forward(  # type: ignore[override]  # the whole matrix of weights is what it does without
        self,
        query: Float[Tensor, "B H L Eq"],
        key: Float[Tensor, "B H L Ek"],
        value: Float[Tensor, "B H L Ev"],
        is_real: Bool[Tensor, "B L"] | None = None,
    ) -> Float[Tensor, "B H L Ev"]:
        """What each query gathers in its window; keys where ``is_real`` is false are not seen."""
        batch, n_heads, length, _ = query.shape
        if not length:
            return value
        blocks = _Blocks.of(batch, n_heads, length, self.reach, is_causal=self.is_causal)
        if is_real is None and self.is_fused:
            return self.contexts(self._fused(blocks, query, key, value))  # type: ignore[no-any-return]
        scores = self.score(blocks.cut(query), blocks.overlap(key))
        if self.scores.is_watched:
            scores = blocks.from_band(self.scores(blocks.to_band(scores)))
        weights = masked_softmax(scores, blocks.mask(is_real, query.device))
        if self.weights.is_watched:
            weights = blocks.from_band(self.weights(blocks.to_band(weights)))
        context: Tensor = self.contexts(blocks.join(self.dropout(weights) @ blocks.overlap(value)))
        return context

    @property
    def is_fused(self) -> bool:
        """Whether torch's fused kernel serves: it computes what is asked, and nobody watches."""
        is_heard = self.scores.is_watched or self.weights.is_watched
        drops = self.dropout.training and self.dropout.p > 0
        is_asked = type(self.score) is ScaledDot and not drops
        return self.is_causal and is_asked and not is_heard

    def _fused(
        self,
        blocks: "_Blocks",
        query: Float[Tensor, "B H L E"],
        key: Float[Tensor, "B H L E"],
        value: Float[Tensor, "B H L Ev"],
    ) -> Float[Tensor, "B H L Ev"]:
        """Causal windows without a matrix of scores, in memory that grows as n whatever the reach.

        The first block has nothing before it; all others see through one band.
        """
        queries = blocks.by_row(blocks.cut(query))
        keys, values = (blocks.by_row(blocks.overlap(one)) for one in (key, value))
        near, left = blocks.near(query.device), blocks.left
        found = F.scaled_dot_product_attention(
            queries[:, 0], keys[:, 0, :, left:], values[:, 0, :, left:], near[:, left:]
        )[:, None]
        if blocks.n_blocks > 1:
            query, key, value = (one[:, 1:].flatten(0, 1) for one in (queries, keys, values))
            rest = F.scaled_dot_product_attention(query, key, value, near)
            found = torch.cat([found, rest.view(blocks.batch, -1, *rest.shape[1:])], dim=1)
        return blocks.join(found.flatten(0, 1))


@dataclass(frozen=True)
class _Blocks:
    """How a sequence is cut: ``n_blocks`` of ``width`` queries, ``span`` keys for each."""

    batch: int
    n_heads: int
    length: int
    n_blocks: int
    width: int
    left: int
    right: int

    @classmethod
    def of(cls, batch: int, n_heads: int, length: int, reach: int, *, is_causal: bool) -> "_Blocks":
        reach = min(reach, length - 1)
        width = min(max(reach, LEAST_BLOCK), length)
        n_blocks = -(-length // width)
        return cls(batch, n_heads, length, n_blocks, width, reach, 0 if is_causal else reach)

    @property
    def span(self) -> int:
        """How many keys a block of queries may see."""
        return self.left + self.width + self.right

    @property
    def rest(self) -> int:
        """How many places the last block is short of."""
        return self.n_blocks * self.width - self.length

    def cut(self, value: Float[Tensor, "B H L E"]) -> Float[Tensor, "BN H C E"]:
        """The blocks, side by side on the axis of the batch."""
        return self._split(value).flatten(0, 1)

    def join(self, blocks: Float[Tensor, "BN H C E"]) -> Float[Tensor, "B H L E"]:
        """The sequence that was cut."""
        return self.by_row(blocks).transpose(1, 2).flatten(2, 3)[:, :, : self.length]

    def by_row(self, blocks: Float[Tensor, "BN H C E"]) -> Float[Tensor, "B N H C E"]:
        """The blocks of each row of the batch."""
        return blocks.view(self.batch, self.n_blocks, *blocks.shape[1:])

    def overlap(self, value: Float[Tensor, "B H L E"]) -> Float[Tensor, "BN H M E"]:
        """For each block the places that it may see; neighbouring blocks share some."""
        # No window is wider than a block, so only the two neighbours are seen. The gradient of
        # these slices is several times faster than that of torch's unfold.
        blocks = self._split(value)
        before = F.pad(blocks[:, :-1, :, self.width - self.left :], _BEFORE)
        after = F.pad(blocks[:, 1:, :, : self.right], _AFTER)
        return torch.cat([before, blocks, after], dim=3).flatten(0, 1)

    def mask(
        self, is_real: Bool[Tensor, "B L"] | None, device: torch.device
    ) -> Bool[Tensor, "BN 1 C M"]:
        """Allow what is in the window, in the sequence, and real."""
        if is_real is None:
            is_real = torch.ones(1, self.length, dtype=torch.bool, device=device)
        is_there = F.pad(is_real, (self.left, self.right + self.rest))
        seen = is_there.unfold(1, self.span, self.width).expand(self.batch, -1, -1).flatten(0, 1)
        return self.near(device) & seen[:, None, None, :]

    def near(self, device: torch.device) -> Bool[Tensor, "C M"]:
        """Allow what is in the window: the query in row j stands at place j + left of its span."""
        row = torch.arange(self.width, device=device)[:, None]
        place = torch.arange(self.span, device=device)
        return (place >= row) & (place <= row + self.left + self.right)

    def to_band(self, blocks: Float[Tensor, "BN H C M"]) -> Float[Tensor, "B H L R"]:
        """The diagonal band of each block, as columns."""
        # Row j of the band begins at j: in rows that are one longer, it begins at the left edge.
        longer = F.pad(blocks.flatten(2), (0, self.width))
        rows = longer.view(*blocks.shape[:2], self.width, self.span + 1)
        return self.join(rows[..., : self.left + 1 + self.right])

    def from_band(self, band: Float[Tensor, "B H L R"]) -> Float[Tensor, "BN H C M"]:
        """The blocks whose diagonal band this is, zero elsewhere."""
        longer = F.pad(self.cut(band), (0, self.width)).flatten(2)
        blocks = longer[..., : self.width * self.span]
        return blocks.reshape(*blocks.shape[:2], self.width, self.span)

    def _split(self, value: Float[Tensor, "B H L E"]) -> Float[Tensor, "B N H C E"]:
        padded = F.pad(value, (0, 0, 0, self.rest)) if self.rest else value
        shape = (self.batch, self.n_heads, self.n_blocks, self.width, value.shape[3])
        return padded.reshape(shape).transpose(1, 2)


# One block of zeros before the first, or after the last: axes from the last, two numbers each.
_BEFORE, _AFTER = (0, 0, 0, 0, 0, 0, 1, 0), (0, 0, 0, 0, 0, 0, 0, 1)
