"""One weight as it came about: two vectors, their products, the sum, the scale, the row, the sum.

Every number was heard at a probe of the model while it read the sentence. Only the products of the
two vectors and their sum are worked out here: a model computes them all at once.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from regard.attention import Dot, MultiHeadAttention, ScaledDot, Site
from regard.errors import UsageError
from regard.inspection.recording import Recording, record
from regard.inspection.trace import ATTENTIONS, Kind
from regard.shapes import Float, Int, Tensor

_PROBES = ("queries", "keys", "values", "scores", "weights", "contexts")

Numbers = tuple[float, ...]


@dataclass(frozen=True)
class Arithmetic:
    """How the query of a row scores the key of a column, and what becomes of the score.

    ``products`` and ``sum`` are there where the score is a sum of products, ``divisor`` where it is
    scaled: ``score = sum / divisor``. ``scores``, ``weights`` and ``values`` are those of the whole
    row; ``context = Σⱼ weights[j] · values[j]``.
    """

    kind: Kind
    layer: int
    head: int
    row: int
    column: int
    formula: str
    query: Numbers
    key: Numbers
    products: Numbers | None
    sum: float | None
    divisor: float | None
    score: float
    scores: Numbers
    may_see: tuple[bool, ...]  # a decoder sees nothing that comes later
    weights: Numbers
    values: tuple[Numbers, ...]
    context: Numbers


@torch.inference_mode()
def arithmetic(
    model: nn.Module,
    inputs: Sequence[Int[Tensor, "1 _"]],
    site: Site,
    *,
    head: int,
    row: int,
    column: int,
) -> Arithmetic:
    """The numbers of one cell, while the model reads what it is given: one text, or two."""
    attention = _attention(model, site)
    base = site.probe.rpartition(".")[0]
    with record(model, *(f"{base}.{name}" for name in _PROBES)) as heard:
        model(*inputs)
    found = {name: _passed(heard, f"{base}.{name}", site) for name in _PROBES}
    n_heads, n_rows, n_columns = found["weights"].shape
    for what, given, n in (
        ("head", head, n_heads),
        ("row", row, n_rows),
        ("column", column, n_columns),
    ):
        if not 0 <= given < n:
            raise UsageError(f"{site.name} has no {what} {given}: choose 0 to {n - 1}")
    query, key = found["queries"][head, row], found["keys"][head, column]
    score = attention.score
    is_product = isinstance(score, Dot | ScaledDot)
    products = query * key if is_product else None
    return Arithmetic(
        site.kind,
        site.layer,
        head,
        row,
        column,
        score.formula,
        _numbers(query),
        _numbers(key),
        None if products is None else _numbers(products),
        None if products is None else float(products.double().sum()),
        math.sqrt(query.shape[-1]) if isinstance(score, ScaledDot) else None,
        float(found["scores"][head, row, column]),
        _numbers(found["scores"][head, row]),
        tuple(j <= row or not ATTENTIONS[site.kind].is_causal for j in range(n_columns)),
        _numbers(found["weights"][head, row]),
        tuple(_numbers(value) for value in found["values"][head]),
        _numbers(found["contexts"][head, row]),
    )


def _attention(model: nn.Module, site: Site) -> MultiHeadAttention:
    attention = model.get_submodule(site.probe.rpartition(".")[0])
    if not isinstance(attention, MultiHeadAttention):
        raise UsageError(
            f"{site.name} of this model has no queries and keys of heads to step through: choose a "
            "model with multi-head attention"
        )
    return attention


def _passed(heard: Recording, probe: str, site: Site) -> Float[Tensor, "H _ _"]:
    passed = heard.all(probe)
    if site.occasion is not None and site.occasion >= len(passed):
        raise UsageError(
            f"{site.name} did not come about: every word had halted after {len(passed)} steps"
        )
    return passed[site.occasion or 0][0]


def _numbers(values: Float[Tensor, "N"]) -> Numbers:
    return tuple(values.double().tolist())
