"""A network without some heads computes what it computed with those heads switched off."""

from collections.abc import Callable
from typing import Any

import pytest
import torch

from regard.decoding import Limits, Search, SourceLine, search_many
from regard.engine import for_decoding, for_training
from regard.inspection import ablated
from regard.models import Bert, Gpt, Model
from regard.models.transformer import Sizes, Transformer
from regard.special import PAD

N = 37
STACK = {"n_layers": 3, "context": 12}
BUILD: dict[str, Callable[[Sizes], Model]] = {
    "transformer": lambda sizes: Transformer(N, N, sizes, n_layers=3),
    "gpt": lambda sizes: Gpt(N, sizes, **STACK),  # type: ignore[arg-type]
    "bert": lambda sizes: Bert(N, sizes, **STACK),  # type: ignore[typeddict-item]
}
KEPT = {
    ("encoder", 0): (1, 3),
    ("encoder", 1): (),
    ("decoder", 0): (2,),
    ("decoder", 1): (),
    ("cross", 1): (0, 2, 3),
    ("cross", 2): (),
}


def pair(kind: str, d_head: int, *, is_pre_norm: bool) -> tuple[Model, Model, list[str]]:
    """A network, the same one pruned, and the heads that are gone."""
    models = []
    for _ in range(2):
        torch.manual_seed(5)
        models.append(BUILD[kind](Sizes(4 * d_head, 4, 48, is_pre_norm=is_pre_norm)).eval())
    whole, small = models
    kinds = {site.kind for site in whole.sites}
    kept = {place: heads for place, heads in KEPT.items() if place[0] in kinds}
    small.keep_heads(kept)
    gone = [
        f"{kind}.{layer}.{head}"
        for (kind, layer), heads in kept.items()
        for head in range(4)
        if head not in heads
    ]
    return whole, small, gone


def rows(n: int, length: int) -> torch.Tensor:
    ids = torch.randint(4, N, (n, length))
    ids[1, length - 2 :] = PAD
    return ids


@pytest.mark.parametrize("is_pre_norm", [True, False])
@pytest.mark.parametrize("d_head", [16, 5])  # for the C++ kernels, and for torch
@pytest.mark.parametrize("kind", BUILD)
def test_all_at_once(kind: str, d_head: int, is_pre_norm: bool) -> None:
    whole, small, gone = pair(kind, d_head, is_pre_norm=is_pre_norm)
    sides = [rows(3, 9), rows(3, 7)][: 2 if kind == "transformer" else 1]
    with torch.inference_mode(), ablated(whole, gone):
        expected = whole(*sides)
    with torch.inference_mode():
        torch.testing.assert_close(small(*sides), expected, atol=1e-5, rtol=0)
        is_real = sides[-1] != PAD
        predicted = for_training(small).predict(*sides, is_real)  # packed rows
        logits = small.output(predicted.hidden)
        torch.testing.assert_close(logits, expected[is_real], atol=1e-4, rtol=0)
    assert small.n_parameters < whole.n_parameters
    assert all(site.layer != 1 or site.kind == "cross" for site in small.sites)


@pytest.mark.parametrize("kind", ["transformer", "gpt"])
@pytest.mark.parametrize("d_head", [16, 5])
def test_word_by_word(kind: str, d_head: int) -> None:
    whole, small, gone = pair(kind, d_head, is_pre_norm=True)
    ids = rows(3, 6)
    lines = [SourceLine(tuple(row[row != PAD].tolist())) for row in ids]

    def found(model: Any) -> list[tuple[tuple[int, ...], float]]:
        search, device = Search(width=3, limits=Limits(most=5)), torch.device("cpu")
        best = search_many([model], lines, search, batch_rows=8, device=device)
        return [(one.tokens, pytest.approx(one.log_probability, abs=1e-3)) for one, *_ in best]

    with torch.inference_mode():
        with ablated(whole, gone):
            expected = found(whole)
        assert found(small) == expected
        assert found(for_decoding(small)) == expected


def test_it_learns() -> None:
    _, small, _ = pair("transformer", 16, is_pre_norm=True)
    small.train()
    ids = rows(3, 7)
    predicted = for_training(small).predict(ids, ids, ids != PAD)
    predicted.hidden.square().sum().backward()
    gradients = [one.grad for one in small.parameters() if one.numel()]
    assert all(one is not None and bool(one.isfinite().all()) for one in gradients)
