"""The numbers behind one weight are those of the model, and they add up."""

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import nn

from regard.attention import Additive, MultiHeadAttention, Site
from regard.errors import UsageError
from regard.inspection.arithmetic import Arithmetic, arithmetic, head_vectors
from regard.models import EncoderDecoder
from regard.systems import Translator, trace

SOURCE, TARGET = "ein Hund sieht eine Katze", "im Haus ."


def found(place: Path, kind: str, layer: int, **cell: int) -> tuple[Arithmetic, Translator]:
    translator = Translator.open(place)
    model: EncoderDecoder = translator.models[0]
    words = translator.source_tokenizer
    site = next(one for one in model.sites if (one.kind, one.layer) == (kind, layer))
    source = torch.tensor([[*words.encode(SOURCE), 3]])
    target = torch.tensor([[2, *words.encode(TARGET)]])
    return arithmetic(model, (source, target), site, **cell), translator


@pytest.mark.parametrize(("kind", "layer"), [("encoder", 1), ("decoder", 0), ("cross", 2)])
def test_it_adds_up_and_is_what_the_trace_shows(
    folder: Callable[..., Path], kind: str, layer: int
) -> None:
    cell, translator = found(folder(), kind, layer, head=2, row=3, column=1)
    assert len(cell.query) == len(cell.key) == 4
    assert cell.products == pytest.approx(
        [q * k for q, k in zip(cell.query, cell.key, strict=True)]
    )
    assert cell.sum == pytest.approx(math.fsum(cell.products or ()), abs=1e-6)
    assert cell.divisor == 2.0
    assert cell.score == pytest.approx(cell.sum / cell.divisor, abs=1e-5)
    assert cell.scores[1] == cell.score
    seen = [math.exp(s) if ok else 0.0 for s, ok in zip(cell.scores, cell.may_see, strict=True)]
    assert cell.weights == pytest.approx([one / sum(seen) for one in seen], abs=1e-5)
    context = [
        math.fsum(w * v[i] for w, v in zip(cell.weights, cell.values, strict=True))
        for i in range(4)
    ]
    assert cell.context == pytest.approx(context, abs=1e-5)
    shown = trace(translator, SOURCE, TARGET).site(kind, layer).weights[2, 3]
    assert cell.weights == pytest.approx(shown.tolist(), abs=1e-6)


def test_a_decoder_sees_nothing_that_comes_later(folder: Callable[..., Path]) -> None:
    cell, _ = found(folder(), "decoder", 0, head=0, row=1, column=3)
    assert cell.may_see == (True, True, False, False)
    assert cell.weights[3] == 0


def test_the_numbers_behind_every_weight_are_those_of_each_cell(
    folder: Callable[..., Path],
) -> None:
    cell, translator = found(folder(), "decoder", 1, head=2, row=3, column=1)
    model, seen = translator.models[0], trace(translator, SOURCE, TARGET)
    arrays = head_vectors(model, model.sites, seen, translator.device)
    assert {name.rpartition(".")[0] for name in arrays} == {site.name for site in seen.sites}
    of = {name: arrays[f"decoder.1.{name}"] for name in ("queries", "keys", "values", "sums")}
    assert of["queries"][2, 3].tolist() == pytest.approx(cell.query, abs=1e-6)
    assert of["keys"][2, 1].tolist() == pytest.approx(cell.key, abs=1e-6)
    assert of["sums"][2, 3, 1] == pytest.approx(cell.sum, abs=1e-5)
    assert arrays["decoder.1.scores"][2, 3].tolist() == pytest.approx(cell.scores, abs=1e-5)
    assert arrays["decoder.1.contexts"][2, 3].tolist() == pytest.approx(cell.context, abs=1e-5)
    assert arrays["decoder.1.may_see"][3].tolist() == list(cell.may_see)
    assert arrays["decoder.1.divisor"].tolist() == [cell.divisor]


class Looker(nn.Module):
    """One attention with another score, from vectors that words are given by chance."""

    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(20, 12)
        self.attention = MultiHeadAttention(12, 3, score=Additive(4, 4, 3))

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        memory = self.words(source)
        looked: torch.Tensor = self.attention(self.words(target), memory, memory)
        return looked


def test_other_scores_have_no_products() -> None:
    site = Site("cross", 0, "attention.weights")
    ids = torch.tensor([[5, 6, 7, 3]]), torch.tensor([[2, 8]])
    cell = arithmetic(Looker(), ids, site, head=1, row=0, column=2)
    assert (cell.products, cell.sum, cell.divisor) == (None, None, None)
    assert cell.formula == "vᵀ tanh(W [q; k])"
    assert sum(cell.weights) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ({"head": 3, "row": 0, "column": 0}, "cross.0 has no head 3: choose 0 to 2"),
        ({"head": 0, "row": 4, "column": 0}, "cross.0 has no row 4: choose 0 to 3"),
        ({"head": 0, "row": 0, "column": 6}, "cross.0 has no column 6: choose 0 to 5"),
    ],
)
def test_what_is_not_there(
    folder: Callable[..., Path], cell: dict[str, int], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        found(folder(), "cross", 0, **cell)
