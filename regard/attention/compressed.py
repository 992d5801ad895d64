"""Memory-compressed attention: every query sees all that came before, s places at a time.

Liu et al. (2018), "Generating Wikipedia by Summarizing Long Sequences", section 4.2.3. Keys and
values pass a convolution of width s and stride s, so a sequence of n places has n / s keys.
"""

from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention.attend import Attention
from regard.attention.cache import Cache
from regard.attention.normalisers import masked_softmax
from regard.attention.scores import ScaledDot
from regard.errors import SizeError
from regard.shapes import Bool, Float, Tensor


class CompressedAttention(Attention):
    """``cᵢ = Σⱼ softmaxⱼ(qᵢ·k'ⱼ / √d) v'ⱼ`` over the blocks j that end at place i or before it.

    ``k'ⱼ = Σₜ Wₜ k_{js+t} + b`` is the convolution of a block of s keys, and ``v'ⱼ`` that of its
    values. A block that has not ended would show its queries their future, so it is not seen; what
    is near is left to other layers. A query before the end of the first block sees a null key
    alone, whose value is zero; others do not see that one, so that with stride 1 and an identity
    for a kernel this is full causal attention.

    With ``averages`` a block is the mean of its keys and of its values, and there is no convolution
    to learn: the control of what the convolution is worth.

    When nobody watches, no matrix of scores is formed: training takes memory that grows as n.
    Scores and weights pass their probes as ``B H L 1+M``, the null key first, then M blocks.
    """

    def __init__(self, d_model: int, n_heads: int, *, stride: int, averages: bool = False) -> None:
        if stride < 1 or n_heads < 1 or d_model % n_heads:
            raise SizeError(
                f"attention of width {d_model} with {n_heads} heads cannot be compressed by a "
                f"stride of {stride}: choose a multiple of the heads, and a stride of 1 or more"
            )
        d_head = d_model // n_heads
        super().__init__(ScaledDot(d_head, d_head, n_heads))
        self.n_heads, self.stride = n_heads, stride
        self.compress_key, self.compress_value = (
            None if averages else nn.Conv1d(d_model, d_model, stride, stride) for _ in range(2)
        )

    def forward(  # type: ignore[override]  # the whole matrix of weights is what it does without
        self,
        query: Float[Tensor, "B H L E"],
        key: Float[Tensor, "B H L E"],
        value: Float[Tensor, "B H L E"],
    ) -> Float[Tensor, "B H L E"]:
        """What each query gathers from the blocks behind it."""
        memory = self.compress(key, value)
        if not self.is_watched:
            return self._by_phases(query, memory)
        ends = torch.arange(1, query.shape[2] + 1, device=query.device) // self.stride
        blocks = torch.arange(memory.length, device=query.device)
        return self.look_up(query, [memory], (blocks < ends[:, None])[None])

    def after(
        self, query: Float[Tensor, "B H Q E"], memory: Cache, n_before: int
    ) -> Float[Tensor, "B H Q E"]:
        """What queries gather that stand after ``n_before`` blocks, all of which they see."""
        ends = n_before + torch.arange(1, query.shape[2] + 1, device=query.device) // self.stride
        blocks = torch.arange(memory.length, device=query.device)
        mask = blocks < ends[:, None]
        found = F.scaled_dot_product_attention(query, memory.key, memory.value, mask)
        return self.contexts(found)  # type: ignore[no-any-return]

    @property
    def is_watched(self) -> bool:
        """Whether scores or weights are listened to, so that they must be formed."""
        return self.scores.is_watched or self.weights.is_watched

    def compress(self, key: Float[Tensor, "B H L E"], value: Float[Tensor, "B H L E"]) -> Cache:
        """Keys and values of the blocks that are whole."""
        return Cache(
            self._convolved(self.compress_key, key), self._convolved(self.compress_value, value)
        )

    def look_up(
        self,
        query: Float[Tensor, "B H Q E"],
        parts: Sequence[Cache],
        is_seen: Bool[Tensor, "#B #Q M"],
    ) -> Float[Tensor, "B H Q E"]:
        """What each query gathers from the blocks it sees, past the probes.

        The blocks come in parts, one after the other; those that rows share have one row.
        """
        mask = torch.cat([~is_seen.any(-1, keepdim=True), is_seen], dim=-1)[:, None]
        null = torch.zeros_like(query[..., :1])
        scores = torch.cat([null, *(self._scores(query, part) for part in parts)], dim=-1)
        weights = self.weights(masked_softmax(self.scores(scores), mask))
        shares = weights[..., 1:].split([part.length for part in parts], dim=-1)
        pairs = zip(shares, parts, strict=True)
        context: Tensor = self.contexts(sum(_gathered(share, part) for share, part in pairs))
        return context

    def _scores(self, query: Float[Tensor, "B H Q E"], part: Cache) -> Float[Tensor, "B H Q M"]:
        if not _is_shared(query, part):
            return self.score(query, part.key)  # type: ignore[no-any-return]
        # One query a row, all for one memory: they stand side by side, and nothing is copied.
        return self.score(query.transpose(0, 2), part.key).transpose(0, 2)  # type: ignore[no-any-return]

    def _by_phases(
        self, query: Float[Tensor, "B H L E"], memory: Cache
    ) -> Float[Tensor, "B H L E"]:
        """All queries at once, by torch's fused causal kernel and without any mask.

        Of s queries in a row, beginning with the one that ends block j, all see the blocks 0 to j.
        The first of each such row are a sequence as long as the memory, under a causal mask; so are
        the second of each, and so on: s sequences that share their keys.
        """
        batch, n_heads, length, width = query.shape
        n_blocks, stride = memory.length, self.stride
        if not n_blocks:
            return self.contexts(torch.zeros_like(query))  # type: ignore[no-any-return]
        rows = F.pad(query[:, :, stride - 1 :], (0, 0, 0, n_blocks * stride - length + stride - 1))
        rows = rows.view(batch, n_heads, n_blocks, stride, width).permute(0, 3, 1, 2, 4)
        shape = (batch, stride, n_heads, n_blocks, width)
        key, value = (
            one[:, None].expand(shape).flatten(0, 1) for one in (memory.key, memory.value)
        )
        found = F.scaled_dot_product_attention(rows.flatten(0, 1), key, value, is_causal=True)
        joined = found.view(shape).permute(0, 2, 3, 1, 4).flatten(2, 3)
        context: Tensor = self.contexts(F.pad(joined, (0, 0, stride - 1, 0))[:, :, :length])
        return context

    def _convolved(
        self, convolution: nn.Conv1d | None, value: Float[Tensor, "B H L E"]
    ) -> Float[Tensor, "B H M E"]:
        batch, n_heads, length, width = value.shape
        n_blocks = length // self.stride
        if convolution is None:
            whole = value[:, :, : n_blocks * self.stride]
            return whole.reshape(batch, n_heads, n_blocks, self.stride, width).mean(3)
        # A convolution whose stride is its width is one product of blocks laid end to end.
        blocks = value[:, :, : n_blocks * self.stride].transpose(1, 2)
        blocks = blocks.reshape(batch, n_blocks, self.stride * n_heads * width)
        kernel = convolution.weight.transpose(1, 2).flatten(1)
        made = F.linear(blocks, kernel, convolution.bias)
        return made.view(batch, n_blocks, n_heads, width).transpose(1, 2)


def _is_shared(rows: Float[Tensor, "B H Q K"], part: Cache) -> bool:
    return len(part.key) == 1 and len(rows) > 1 and rows.shape[2] == 1


def _gathered(share: Float[Tensor, "B H Q M"], part: Cache) -> Float[Tensor, "B H Q E"]:
    if not _is_shared(share, part):
        return share @ part.value
    return (share.transpose(0, 2) @ part.value).transpose(0, 2)
