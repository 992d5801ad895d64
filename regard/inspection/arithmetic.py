"""One weight as it came about: two vectors, their products, the sum, the scale, the row, the sum.

Every number was heard at a probe of the model while it read the sentence. Only the products of the
two vectors and their sum are worked out here: a model computes them all at once.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from regard.attention import Dot, MultiHeadAttention, ScaledDot, Site
from regard.errors import UsageError
from regard.inspection.recording import Recording, record
from regard.inspection.trace import ATTENTIONS, Kind, Trace
from regard.shapes import Float, Int, Tensor

_VECTORS = ("queries", "keys", "values")
_PROBES = (*_VECTORS, "scores", "weights", "contexts")

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
    base = _base(site)
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
        _divisor(attention, query.shape[-1]),
        float(found["scores"][head, row, column]),
        _numbers(found["scores"][head, row]),
        tuple(j <= row or not ATTENTIONS[site.kind].is_causal for j in range(n_columns)),
        _numbers(found["weights"][head, row]),
        tuple(_numbers(value) for value in found["values"][head]),
        _numbers(found["contexts"][head, row]),
    )


def _attention(model: nn.Module, site: Site) -> MultiHeadAttention:
    attention = model.get_submodule(_base(site))
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


def inputs_of(trace: Trace, device: torch.device) -> list[Int[Tensor, "1 _"]]:
    """What the model read when a text was traced: its tokens, on each side that it reads."""
    return [
        torch.tensor([[token.id for token in trace.read(side)[1]]], device=device)
        for side in trace.way.reads
    ]


@torch.inference_mode()
def head_vectors(
    model: nn.Module, sites: Sequence[Site], trace: Trace, device: torch.device
) -> dict[str, np.ndarray]:
    """The numbers behind every weight of a trace, by names as ``cross.1.queries``.

    Beside queries, keys and values of each head they are ``sums`` (``qᵀk``), ``scores``, what the
    scores are divided by (``divisor``, one number), which places may be seen (``may_see``), and
    ``contexts``. Only of sites whose score is such a sum: others have nothing to step through.
    """
    attending = [site for site in sites if _is_product(model, site)]
    if trace.picture is not None or not attending:
        return {}
    probes = {f"{_base(site)}.{name}" for site in attending for name in _PROBES}
    with record(model, *sorted(probes)) as heard:
        model(*inputs_of(trace, device))
    there = {site.name for site in trace.sites}
    found: dict[str, np.ndarray] = {}
    for site in attending:
        passed = {name: heard.all(f"{_base(site)}.{name}") for name in _PROBES}
        place = site.occasion or 0
        if site.name not in there or any(place >= len(all_) for all_ in passed.values()):
            continue
        one = {name: all_[place][0].float().cpu() for name, all_ in passed.items()}
        numbers = products_behind(_attention(model, site), one, site.kind)
        found |= {f"{site.name}.{name}": array for name, array in numbers.items()}
    return found


def products_behind(
    attention: MultiHeadAttention, passed: Mapping[str, Float[Tensor, "H _ _"]], kind: Kind
) -> dict[str, np.ndarray]:
    """What passed the probes of an attention by dot product, and the sums behind its scores.

    Nothing where the scores are more than that, as with a learned distance.
    """
    queries, keys = passed["queries"], passed["keys"]
    divisor = _divisor(attention, queries.shape[-1])
    sums = queries @ keys.mT
    if not torch.allclose(sums / (divisor or 1.0), passed["scores"], atol=1e-3, rtol=1e-3):
        return {}
    n_rows, n_columns = sums.shape[1:]
    may_see = torch.ones(n_rows, n_columns, dtype=torch.uint8)
    if ATTENTIONS[kind].is_causal:
        may_see = may_see.tril()
    kept = {name: passed[name] for name in (*_VECTORS, "scores", "contexts")}
    kept |= {"sums": sums, "may_see": may_see}
    kept |= {} if divisor is None else {"divisor": torch.tensor([divisor])}
    # A file takes them as they lie in memory.
    return {name: values.contiguous().numpy() for name, values in kept.items()}


def _divisor(attention: MultiHeadAttention, width: int) -> float | None:
    return math.sqrt(width) if isinstance(attention.score, ScaledDot) else None


def _base(site: Site) -> str:
    return site.probe.rpartition(".")[0]


def _is_product(model: nn.Module, site: Site) -> bool:
    attention = model.get_submodule(_base(site))
    return isinstance(attention, MultiHeadAttention) and isinstance(
        attention.score, Dot | ScaledDot
    )
