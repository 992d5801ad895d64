"""Attention over packed sentences: no padding is ever scored, and nothing is copied into heads."""

import ctypes
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import autograd

from regard.engine.native import count, pointer
from regard.engine.noise import as_arguments, draw_key
from regard.engine.operation import kernels, run
from regard.errors import SizeError
from regard.shapes import Bool, Float, Int, Tensor

_LANES = 16  # the kernel's rows of probabilities are a multiple of this


@dataclass(frozen=True)
class Spans:
    """Where sentences begin in packed queries and in packed keys: who may look where.

    Sentence b's queries are rows ``query_starts[b]`` to ``query_starts[b + 1]``, and they see
    its own keys alone; under ``is_causal`` none that comes later.
    """

    query_starts: Int[Tensor, "starts"]
    key_starts: Int[Tensor, "starts"]
    is_causal: bool = False

    def __post_init__(self) -> None:
        for starts in (self.query_starts, self.key_starts):
            if starts.dtype != torch.int32 or starts.dim() != 1 or len(starts) < 2:
                raise SizeError(
                    f"sentences begin at int32 places, one more than there are sentences, not at "
                    f"{starts.dtype} of shape {[*starts.shape]}: convert them with .int()"
                )
        if len(self.query_starts) != len(self.key_starts) or not self._are_plain:
            raise SizeError(
                f"{len(self.query_starts) - 1} sentences of queries and {len(self.key_starts) - 1} "
                "of keys: there must be as many of both, their places on the CPU, end to end"
            )

    @property
    def _are_plain(self) -> bool:
        both = (self.query_starts, self.key_starts)
        return all(one.is_cpu and one.is_contiguous() for one in both)

    def require_rows(self, n_queries: int, n_keys: int) -> None:
        """Refuse packed rows that are not those that the sentences have."""
        if self._ends != (n_queries, n_keys):
            raise SizeError(
                f"the sentences have {self._ends[0]} queries and {self._ends[1]} keys, and "
                f"{n_queries} and {n_keys} rows are given"
            )

    @cached_property
    def _ends(self) -> tuple[int, int]:
        """How many queries and keys there are; places that go back are refused."""
        for starts in (self.query_starts.numpy(), self.key_starts.numpy()):
            if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
                raise SizeError("the places where sentences begin go up from 0, and these do not")
        return int(self.query_starts[-1]), int(self.key_starts[-1])

    def rooms(self, n_heads: int) -> tuple[Int[Tensor, "B"], int]:
        """Where each sentence's probabilities begin, and how many there are in all."""
        if n_heads not in self._rooms:
            self._rooms[n_heads] = self._lay_out(n_heads)
        return self._rooms[n_heads]

    @cached_property
    def _rooms(self) -> dict[int, tuple[Int[Tensor, "B"], int]]:
        return {}

    def _lay_out(self, n_heads: int) -> tuple[Int[Tensor, "B"], int]:
        queries, keys = self.query_starts.numpy(), self.key_starts.numpy()
        n_queries, n_keys = queries[1:] - queries[:-1], keys[1:] - keys[:-1]
        sizes = n_queries.astype(np.int64) * (-(-n_keys // _LANES) * _LANES) * n_heads
        ends = np.cumsum(sizes)
        with torch.inference_mode(mode=False):  # spans may be kept, and used to learn later
            return torch.from_numpy(ends - sizes), int(ends[-1])

    @cached_property
    def padding(self) -> "Padding":
        """How to lay the sentences out as a padded batch, for what computes in the open."""
        with torch.inference_mode(mode=False):  # as above
            query, key = (_Rows.of(one.diff()) for one in (self.query_starts, self.key_starts))
            allowed = key.is_real[:, None, None, :]
            if self.is_causal:
                n, m = query.is_real.shape[1], key.is_real.shape[1]
                allowed = allowed & torch.ones(n, m, dtype=torch.bool).tril()
            return Padding(query, key, allowed)


@dataclass(frozen=True)
class _Rows:
    """Between packed rows and padded places."""

    is_real: Bool[Tensor, "B L"]
    packed_row: Int[Tensor, "BL"]  # of every padded place; 0 for padding
    padded_place: Int[Tensor, "N"]  # of every packed row

    @classmethod
    def of(cls, lengths: Int[Tensor, "B"]) -> "_Rows":
        is_real = torch.arange(int(lengths.max())) < lengths[:, None]
        padded_place = is_real.flatten().nonzero()[:, 0]
        packed_row = torch.zeros(is_real.numel(), dtype=torch.long)
        packed_row[padded_place] = torch.arange(len(padded_place))
        return cls(is_real, packed_row, padded_place)


@dataclass(frozen=True)
class Padding:
    """A packed batch's padded form."""

    query: _Rows
    key: _Rows
    allowed: Bool[Tensor, "B 1 Q K"]


def attend_packed(
    projected: Float[Tensor, "N P"],
    memory: Float[Tensor, "M R"] | None,
    spans: Spans,
    n_heads: int,
    p: float,
) -> Float[Tensor, "N D"]:
    """``dropout(softmax(q kᵀ / √E)) v`` in every head of every sentence, heads laid end to end.

    For self-attention, ``projected`` holds queries, keys and values side by side; otherwise it
    holds queries, and ``memory`` keys and values side by side. Without heads there is nothing.
    """
    if not n_heads and not projected.shape[1]:
        return projected
    width = projected.shape[1] // 3 if memory is None else projected.shape[1]
    _require_fit(projected, memory, width, n_heads)
    spans.require_rows(len(projected), len(projected if memory is None else memory))
    given = (projected,) if memory is None else (projected, memory)
    lib = kernels(*given)
    noise = draw_key() if p else 0
    context: Tensor = run(
        _AttendPacked,
        projected,
        memory,
        spans,
        n_heads,
        p,
        noise,
        lib,
    )
    return context


def _require_fit(projected: Tensor, memory: Tensor | None, width: int, n_heads: int) -> None:
    """Refuse what the kernel would read beyond its end."""
    fits = projected.shape[1] == 3 * width if memory is None else memory.shape[1] == 2 * width
    if n_heads < 1 or width % (n_heads * _LANES) or not fits:
        given = [[*one.shape] for one in (projected, memory) if one is not None]
        raise SizeError(
            f"projected and memory of shapes {', '.join(map(str, given))} do not fit {n_heads} "
            "heads: they are (N, 3 D), or (N, D) and (M, 2 D), with D a multiple of the heads and "
            f"of {_LANES} in each"
        )


def _parts(projected: Tensor, memory: Tensor | None) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values, as bands of columns."""
    if memory is None:
        query, key, value = projected.chunk(3, dim=1)
        return query, key, value
    key, value = memory.chunk(2, dim=1)
    return projected, key, value


class _AttendPacked(autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        projected: Tensor,
        memory: Tensor | None,
        spans: Spans,
        n_heads: int,
        p: float,
        noise: int,
        lib: ctypes.CDLL,
    ) -> Tensor:
        query, key, value = _parts(projected, memory)
        rooms, total = spans.rooms(n_heads)
        probabilities, context = query.new_empty(total), query.new_empty(query.shape)
        ctx.save_for_backward(projected, memory, probabilities, rooms)
        ctx.spans, ctx.n_heads, ctx.p, ctx.noise, ctx.lib = spans, n_heads, p, noise, lib
        lib.k_attention(
            *_sizes(ctx, query),
            pointer(rooms),
            *_banded(query),
            *_banded(key),
            *_banded(value),
            ctypes.c_int(spans.is_causal),
            *as_arguments(noise, p),
            pointer(probabilities),
            pointer(context),
        )
        return context

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> Any:
        projected, memory, probabilities, rooms = ctx.saved_tensors
        query, key, value = _parts(projected, memory)
        grad_projected = torch.empty_like(projected)
        grad_memory = None if memory is None else torch.empty_like(memory)
        grad_query, grad_key, grad_value = _parts(grad_projected, grad_memory)
        ctx.lib.k_attention_back(
            *_sizes(ctx, query),
            pointer(rooms),
            *_banded(query),
            *_banded(key),
            *_banded(value),
            ctypes.c_int(ctx.spans.is_causal),
            *as_arguments(ctx.noise, ctx.p),
            pointer(probabilities),
            pointer(grad.contiguous()),
            *_banded(grad_query),
            *_banded(grad_key),
            *_banded(grad_value),
        )
        return grad_projected, grad_memory, None, None, None, None, None


def _sizes(ctx: Any, query: Tensor) -> tuple[Any, ...]:
    spans = ctx.spans
    return (
        count(len(spans.query_starts) - 1),
        count(ctx.n_heads),
        count(query.shape[1] // ctx.n_heads),
        pointer(spans.query_starts),
        pointer(spans.key_starts),
    )


def _banded(tensor: Tensor) -> tuple[Any, ...]:
    """Rows may lie apart, the numbers of a row may not."""
    assert tensor.stride(1) == 1
    return pointer(tensor), count(tensor.stride(0))
