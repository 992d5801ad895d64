"""Multi-head attention: self, causal and encoder-decoder attention are this one module."""

import math
from collections.abc import Sequence

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention.attend import Attended, Attention
from regard.attention.cache import Cache
from regard.attention.normalisers import Mask, Normaliser, Patterned, Soft
from regard.attention.probe import Probe
from regard.attention.scores import ScaledDot, Score
from regard.errors import SizeError
from regard.shapes import Float, Int, Tensor


class MultiHeadAttention(Attention):
    """``MultiHead(Q, K, V) = Concat(head₁, …, headₕ) W_O``, headᵢ = Attention(QW_Qⁱ, KW_Kⁱ, VW_Vⁱ).

    Self-attention is ``attention(x, x, x)``, causal attention the same under a causal mask,
    encoder-decoder attention ``attention(x, memory, memory)`` (Vaswani et al. 2017).

    When the score is the scaled dot product, the normaliser the softmax and nobody watches scores
    or weights, torch's fused kernel computes the heads; otherwise every step is computed in the
    open. Both give the same numbers.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        *,
        score: Score | None = None,
        normaliser: Normaliser | None = None,
        dropout: float = 0.0,
    ) -> None:
        if n_heads < 1 or d_model < 1 or d_model % n_heads:
            raise SizeError(
                f"d_model = {d_model} cannot be divided among n_heads = {n_heads}: "
                "choose a width that is a multiple of the number of heads"
            )
        d_head = d_model // n_heads
        super().__init__(score or ScaledDot(d_head, d_head, n_heads), normaliser, dropout)
        self.n_heads, self.d_head = n_heads, d_head
        self.query = nn.Linear(d_model, d_model)
        self.key = nn.Linear(d_model, d_model)
        self.value = nn.Linear(d_model, d_model)
        self.output = nn.Linear(d_model, d_model)
        self.queries, self.keys, self.values = Probe(), Probe(), Probe()
        # Glorot, as torch's own module starts: query, key and value as one matrix of 3d rows.
        for projection in (self.query, self.key, self.value):
            nn.init.xavier_uniform_(projection.weight, gain=math.sqrt(1 / 2))
        nn.init.xavier_uniform_(self.output.weight)
        for projection in (self.query, self.key, self.value, self.output):
            nn.init.zeros_(projection.bias)

    def keep(self, heads: Sequence[int]) -> None:
        """Do without all heads but these: only their rows of W_Q, W_K, W_V and columns of W_O stay.

        Without any head the module gives the bias of W_O alone.
        """
        if not set(heads) <= set(range(self.n_heads)) or len(set(heads)) != len(heads):
            raise SizeError(
                f"heads {list(heads)} cannot be kept: they are numbers from 0 to "
                f"{self.n_heads - 1}, each at most once"
            )
        rows = (torch.tensor(heads, dtype=torch.long)[:, None] * self.d_head).add(
            torch.arange(self.d_head)
        )
        at = rows.flatten().to(self.output.weight.device)
        for projection in (self.query, self.key, self.value):
            projection.weight = _taken(projection.weight, 0, at)
            projection.bias = _taken(projection.bias, 0, at)
            projection.out_features = len(at)
        self.output.weight = _taken(self.output.weight, 1, at)
        self.output.in_features = len(at)
        self.n_heads = len(heads)
        if isinstance(self.normaliser, Patterned):  # which knows its heads by number
            offsets = self.normaliser.offsets
            left = {n: offsets[head] for n, head in enumerate(heads) if head in offsets}
            self.normaliser = Patterned(left) if left else Soft()

    @property
    def is_standard(self) -> bool:
        """Whether it is the paper's attention, which fused kernels compute."""
        return type(self.score) is ScaledDot and type(self.normaliser) is Soft

    @property
    def is_fused(self) -> bool:
        """Whether the fused kernel serves: nobody watches, and it computes what is asked."""
        is_watched = self.scores.is_watched or self.weights.is_watched
        return self.is_standard and self.n_heads > 0 and not is_watched

    def forward(  # type: ignore[override]  # the paper's module gives its output alone
        self,
        query: Float[Tensor, "B Q D"],
        key: Float[Tensor, "B K D"],
        value: Float[Tensor, "B K D"],
        mask: Mask = None,
    ) -> Float[Tensor, "B Q D"]:
        """Let every query gather what it needs from the values."""
        return self.look_up(query, self.project(key, value), mask)

    def project(self, key: Float[Tensor, "B K D"], value: Float[Tensor, "B K D"]) -> Cache:
        """Project keys and values for all heads: what can be kept while decoding."""
        return Cache(
            self.keys(self.split(self.key(key))), self.values(self.split(self.value(value)))
        )

    def look_up(
        self, query: Float[Tensor, "B Q D"], memory: Cache, mask: Mask = None, *, first: int = 0
    ) -> Float[Tensor, "B Q D"]:
        """Let every query gather what it needs from keys and values projected before."""
        if not self.is_fused:
            return self.merge(self.each_head(query, memory, mask, first=first).context)
        context = F.scaled_dot_product_attention(
            self.queries(self.split(self.query(query))),
            memory.key,
            memory.value,
            attn_mask=mask,
            dropout_p=self.dropout.p if self.training else 0.0,
        )
        if mask is not None:
            # Kernels differ in what a query gets that may see nothing; here it is zeros.
            context = context.masked_fill(~mask.any(-1, keepdim=True), 0.0)
        return self.merge(self.contexts(context))

    def extend(
        self, value: Float[Tensor, "B Q D"], past: Cache | None, mask: Mask = None
    ) -> tuple[Float[Tensor, "B Q D"], Cache]:
        """Self-attention of words that come after those of a cache, and the cache with them."""
        new = self.project(value, value)
        seen = new if past is None else past.append(new)
        return self.look_up(value, seen, mask, first=seen.length - new.length), seen

    def each_head(
        self, query: Float[Tensor, "B Q D"], memory: Cache, mask: Mask = None, *, first: int = 0
    ) -> Attended:
        """What each head brings back and how, computed in the open (REINFORCE needs the how)."""
        queries = self.queries(self.split(self.query(query)))
        return self.attend(queries, memory.key, memory.value, mask, first=first)

    def split(self, value: Float[Tensor, "B L D"]) -> Float[Tensor, "B H L E"]:
        """Give each head its part of the width."""
        return value.view(*value.shape[:-1], self.n_heads, self.d_head).transpose(1, 2)

    def merge(self, context: Float[Tensor, "B H Q E"]) -> Float[Tensor, "B Q D"]:
        """Lay the heads end to end and multiply by W_O."""
        merged: Tensor = self.output(context.transpose(1, 2).flatten(-2))
        return merged


def _taken(parameter: Tensor, axis: int, at: Int[Tensor, "A"]) -> nn.Parameter:
    taken = parameter.detach().index_select(axis, at)
    return nn.Parameter(taken, requires_grad=parameter.requires_grad)
