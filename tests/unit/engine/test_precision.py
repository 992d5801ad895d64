"""Models that decode by products of 8-bit integers: close to float32, or refused."""

from dataclasses import replace

import pytest
import torch

from regard.decoding import Search, beam_search
from regard.engine import checked_precision, for_decoding, is_native, without_native
from regard.errors import UsageError
from regard.models import Gpt, Sizes, Transformer

SOURCE = torch.tensor([[4, 5, 6, 7, 3], [8, 9, 3, 0, 0], [5, 3, 0, 0, 0]])
needs_kernels = pytest.mark.skipif(
    not is_native(), reason="no C++ kernels: install g++ on Linux, for example with apt-get"
)


def transformer(norm: str = "pre", activation: str = "relu") -> Transformer:
    torch.manual_seed(4)
    sizes = replace(Sizes(64, 2, 96), is_pre_norm=norm == "pre", activation=activation)
    model = Transformer(23, 23, sizes, n_layers=2)
    return model.eval().requires_grad_(False)


@needs_kernels
@pytest.mark.parametrize(("norm", "activation"), [("pre", "relu"), ("post", "gelu")])
def test_a_transformer_is_close_to_float32(norm: str, activation: str) -> None:
    model = transformer(norm, activation)
    given = torch.tensor([4, 6, 5])
    logits = []
    for precision in ("float32", "int8"):
        engine = for_decoding(model, checked_precision(precision))
        _, state = engine.step(engine.start(SOURCE), torch.ones(3, dtype=torch.long))
        logits.append(engine.step(state, given)[0])
    exact, found = logits
    assert not torch.equal(exact, found)
    assert (found - exact).norm() / exact.norm() < 0.03


@needs_kernels
def test_a_gpt_is_close_to_float32() -> None:
    torch.manual_seed(4)
    model = Gpt(23, Sizes(64, 2, 96), n_layers=2, context=16).eval().requires_grad_(False)
    logits = []
    for precision in ("float32", "int8"):
        engine = for_decoding(model, checked_precision(precision))
        _, state = engine.step(engine.start(SOURCE[:, :4]), torch.ones(3, dtype=torch.long))
        logits.append(engine.step(state, torch.tensor([4, 6, 5]))[0])
    exact, found = logits
    assert (found - exact).norm() / exact.norm() < 0.03


@needs_kernels
def test_a_beam_finds_the_same_alone_and_in_a_batch() -> None:
    engine = for_decoding(transformer(), "int8")
    search = Search(width=4)
    together = beam_search(engine, SOURCE, search)
    for row, found in zip(SOURCE, together, strict=True):
        (alone,) = beam_search(engine, row[row != 0][None], search)
        assert [one.tokens for one in alone] == [one.tokens for one in found]
        assert [one.score for one in alone] == [one.score for one in found]


def test_where_no_kernels_serve_it_is_refused() -> None:
    with without_native(), pytest.raises(UsageError, match="int8 is computed by the C"):
        for_decoding(transformer(), "int8")
    with without_native():
        for_decoding(transformer(), "float32")


def test_another_precision_is_refused() -> None:
    with pytest.raises(UsageError, match="no precision 'int4': choose one of float32, int8"):
        checked_precision("int4")
