"""Multi-head attention: self, causal and encoder-decoder attention are this one module."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F

from regard.attention.attend import Attended, Attention
from regard.attention.cache import Cache, Store
from regard.attention.normalisers import Mask, Normaliser, Patterned, Soft
from regard.attention.probe import Probe
from regard.attention.scores import ScaledDot, Score
from regard.engine import Spans, attend_packed, laid_out, linear, recall
from regard.errors import SizeError
from regard.shapes import Bool, Float, Int, Tensor


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
        self._joined: dict[int, Joined] = {}  # by how many, once the weights are frozen
        self._reset()

    def _reset(self) -> None:
        """Glorot, as torch's own module starts: query, key and value as one matrix of 3d rows."""
        for projection in (self.query, self.key, self.value):
            nn.init.xavier_uniform_(projection.weight, gain=math.sqrt(1 / 2))
        nn.init.xavier_uniform_(self.output.weight)
        for projection in (self.query, self.key, self.value, self.output):
            nn.init.zeros_(projection.bias)

    @property
    def width(self) -> int:
        """Of all heads end to end: ``d_model``, unless some were taken out."""
        return self.n_heads * self.d_head

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
            dropout_p=self.dropout.active_p,
        )
        if mask is not None:
            # Kernels differ in what a query gets that may see nothing; here it is zeros.
            context = context.masked_fill(~mask.any(-1, keepdim=True), 0.0)
        return self.merge(self.contexts(context))

    def packed(
        self,
        query: Float[Tensor, "N D"],
        memory: Float[Tensor, "M D"] | None,
        spans: Spans,
    ) -> Float[Tensor, "N D"]:
        """Attention of packed rows, by fused kernels; without memory it is self-attention.

        Scaled dot product and softmax only; where scores or weights are watched, on a padded copy.
        """
        if not self.is_fused:
            return self._packed_openly(query, memory, spans)
        if memory is None:
            return self.read_packed(query, spans)[0]
        projected = self._project(query, self.query)
        remembered = self._project(memory, self.key, self.value)
        p = self.dropout.active_p
        context = attend_packed(projected, remembered, spans, self.n_heads, p)
        return linear(context, self.output.weight, self.output.bias)

    def _packed_openly(
        self,
        query: Float[Tensor, "N D"],
        memory: Float[Tensor, "M D"] | None,
        spans: Spans,
    ) -> Float[Tensor, "N D"]:
        """Packed rows by the general path, which a head that is taught needs of its layer."""
        padding, n_sentences = spans.padding, len(spans.query_starts) - 1
        read = query if memory is None else memory
        queries, keys = (
            rows.index_select(0, layout.packed_row).view(n_sentences, -1, rows.shape[1])
            for rows, layout in ((query, padding.query), (read, padding.key))
        )
        found = self.look_up(queries, self.project(keys, keys), padding.allowed)
        return found.flatten(0, 1).index_select(0, padding.query.padded_place)

    def read_packed(
        self, value: Float[Tensor, "N D"], spans: Spans
    ) -> tuple[Float[Tensor, "N D"], Store]:
        """Self-attention of packed rows, and their keys and values, for words yet to come."""
        projected = self._project(value, self.query, self.key, self.value)
        context = attend_packed(projected, None, spans, self.n_heads, self.dropout.active_p)
        kept = Store.of(projected[:, self.width :])
        return linear(context, self.output.weight, self.output.bias), kept

    def read(
        self, value: Float[Tensor, "B L D"], mask: Mask, is_real: Bool[Tensor, "B L"]
    ) -> tuple[Float[Tensor, "B L D"], Store]:
        """Self-attention of padded rows, past every probe; the store holds the real ones."""
        memory = self.project(value, value)
        rows = [heads.transpose(1, 2).flatten(2)[is_real] for heads in (memory.key, memory.value)]
        return self.look_up(value, memory, mask), Store.of(torch.cat(rows, dim=1))

    def freeze(self) -> None:
        """Promise that the weights will not change: projections are joined once for all."""
        for projections in ((self.query, self.key, self.value), (self.key, self.value)):
            self._joined[len(projections)] = Joined.of(*projections).laid_out()

    def joined(self) -> "Joined":
        """Query, key and value projections as one."""
        return self._joined.get(3) or Joined.of(self.query, self.key, self.value)

    def joined_memory(self) -> "Joined":
        """Key and value projections as one."""
        return self._joined.get(2) or Joined.of(self.key, self.value)

    def _project(
        self, value: Float[Tensor, "N D"], *projections: nn.Linear
    ) -> Float[Tensor, "N P"]:
        """Several projections side by side, as one product."""
        if len(projections) == 1:
            return linear(value, projections[0].weight, projections[0].bias)
        joined = self._joined.get(len(projections)) or Joined.of(*projections)
        return linear(value, joined.weight, joined.bias)

    def remember(self, rows: Float[Tensor, "M D"]) -> Store:
        """Project rows that queries to come will look up."""
        if self._is_heard:
            new = self.project(rows[None], rows[None])
            return Store.of(torch.cat([_end_to_end(new.key), _end_to_end(new.value)], dim=1))
        return Store.of(self._project(rows, self.key, self.value))

    def recall(
        self, query: Float[Tensor, "R D"], store: Store, places: Int[Tensor, "R K"]
    ) -> Float[Tensor, "R D"]:
        """Let the one query of each row gather from places of a store; -1 is no place."""
        if self._is_heard or not self.is_standard:
            return self._recall_openly(query, store, places)
        queries = self._project(query, self.query)
        return self._recall_projected(queries, store, places)

    def extend(
        self, value: Float[Tensor, "R D"], store: Store, places: Int[Tensor, "R K"]
    ) -> tuple[Float[Tensor, "R D"], Store]:
        """Causal self-attention for one new word a row, which the store then holds too.

        The last column of ``places`` is where the new words will be.
        """
        if self._is_heard or not self.is_standard:
            new = self.remember(value)
            grown = store.append(new.memory)
            return self._recall_openly(value, grown, places), grown
        projected = self._project(value, self.query, self.key, self.value)
        grown = store.append(projected[:, self.width :])
        return self._recall_projected(projected[:, : self.width], grown, places), grown

    def _recall_projected(
        self, queries: Float[Tensor, "R A"], store: Store, places: Int[Tensor, "R K"]
    ) -> Float[Tensor, "R D"]:
        context = recall(queries, store.key, store.value, places, self.n_heads)
        return linear(context, self.output.weight, self.output.bias)

    def _recall_openly(
        self, query: Float[Tensor, "R D"], store: Store, places: Int[Tensor, "R K"]
    ) -> Float[Tensor, "R D"]:
        """Recall by the general path: any score, and everyone may watch."""
        at, (n_rows, n_keys) = places.clamp(min=0).flatten(), places.shape
        key, value = (
            self.split(rows.index_select(0, at).view(n_rows, n_keys, -1))
            for rows in (store.key, store.value)
        )
        mask = (places >= 0)[:, None, None, :]
        return self.look_up(query[:, None], Cache(key, value), mask, first=n_keys - 1)[:, 0]

    @property
    def _is_heard(self) -> bool:
        return any(
            probe.is_watched
            for probe in (
                *(self.queries, self.keys, self.values),
                *(self.scores, self.weights, self.contexts),
            )
        )

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


@dataclass(frozen=True)
class Joined:
    """Several projections as one."""

    weight: Float[Tensor, "P D"]
    bias: Float[Tensor, "P"]

    @classmethod
    def of(cls, *projections: nn.Linear) -> "Joined":
        """Lay their rows end to end."""
        return cls(
            torch.cat([projection.weight for projection in projections]),
            torch.cat([projection.bias for projection in projections]),
        )

    def laid_out(self) -> "Joined":
        """Weights in the layout that products with few rows read fastest."""
        return Joined(laid_out(self.weight).detach(), self.bias.detach())


def _taken(parameter: Tensor, axis: int, at: Int[Tensor, "A"]) -> nn.Parameter:
    taken = parameter.detach().index_select(axis, at)
    return nn.Parameter(taken, requires_grad=parameter.requires_grad)


def _end_to_end(heads: Float[Tensor, "1 H M E"]) -> Float[Tensor, "M D"]:
    return heads[0].transpose(0, 1).flatten(1)
