"""Labels of texts and tags of words: the obvious composition over BERT's encoder."""

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from regard.config import read_recipe
from regard.engine import for_decoding
from regard.errors import RecipeError, UsageError
from regard.inspection.recording import record
from regard.models import Classifier, Sizes, Tagger
from regard.special import BOS, EOS, PAD
from regard.systems import build

V, D, H, INNER, LAYERS, CONTEXT, C = 13, 32, 2, 24, 2, 9, 5
NONE = {f"{part}dropout": 0.0 for part in ("", "attention_", "feedforward_", "embedding_")}
SIZES = Sizes(D, H, INNER, activation="gelu", **NONE)
IDS = torch.tensor([[BOS, 6, 7, EOS, 9, 4, EOS], [BOS, 11, 12, EOS, PAD, PAD, PAD]])
SEGMENTS = torch.tensor([[0, 0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 1, 1, 1]])


def classifier(**choices: object) -> Classifier:
    torch.manual_seed(2)
    stack = {"n_layers": LAYERS, "context": CONTEXT, "n_types": 2}
    model = Classifier(V, SIZES, n_labels=C, **(stack | choices)).double().eval()
    return _unlike(model)


def _unlike(model: torch.nn.Module) -> torch.nn.Module:
    """Biases begin at zero, and a composition that forgets one would not be found out."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


def by_hand(model: Classifier, pooled: Tensor) -> Tensor:
    inner = torch.tanh(F.linear(pooled, model.pooler.weight, model.pooler.bias))
    return F.linear(inner, model.output.weight, model.output.bias)


def test_the_beginnings_vector_tells_the_label() -> None:
    model = classifier()
    first = model.hidden(IDS, SEGMENTS)[:, 0]
    torch.testing.assert_close(model(IDS), by_hand(model, first))


def test_or_the_mean_of_all() -> None:
    model = classifier(pooling="mean")
    hidden, is_real = model.hidden(IDS, SEGMENTS), (IDS != PAD)[..., None]
    mean = (hidden * is_real).sum(1) / is_real.sum(1)
    torch.testing.assert_close(model(IDS), by_hand(model, mean))


def test_every_word_has_a_tag() -> None:
    torch.manual_seed(2)
    stack = {"n_layers": LAYERS, "context": CONTEXT, "n_types": 2}
    model = _unlike(Tagger(V, SIZES, n_labels=C, **stack).double().eval())
    hidden = model.hidden(IDS, SEGMENTS)
    expected = F.linear(hidden, model.output.weight, model.output.bias)
    torch.testing.assert_close(model(IDS), expected)
    chosen = torch.zeros_like(IDS, dtype=torch.bool)
    chosen[0, [1, 4]] = chosen[1, 2] = True
    torch.testing.assert_close(model.label(IDS, chosen), expected[chosen])


@pytest.mark.parametrize("pooling", ["first", "mean"])
def test_packed_as_watched(pooling: str) -> None:
    model = classifier(pooling=pooling)
    with record(model, "encoder.*.weights"):
        watched = model(IDS)
    torch.testing.assert_close(for_decoding(model)(IDS), watched)


def test_padding_changes_nothing() -> None:
    model = classifier()
    torch.testing.assert_close(model(IDS)[1:], model(IDS[1:, :4]))


@pytest.mark.parametrize(("n_types", "expected"), [(2, SEGMENTS), (1, 0 * SEGMENTS), (0, None)])
def test_the_second_text_is_another_segment(n_types: int, expected: Tensor | None) -> None:
    found = classifier(n_types=n_types).segments(IDS)
    assert found is None if expected is None else torch.equal(found, expected)


def test_what_cannot_be_built_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no pooling 'best': choose first or mean"):
        classifier(pooling="best")
    with pytest.raises(RecipeError, match=r"model\.labels is still empty: labels are found in the"):
        build(read_recipe("bert-tag").model, V, V)
    for labels in ('["a"]', '["a", "a"]'):
        with pytest.raises(RecipeError, match="labels has to name two or more different labels"):
            read_recipe("bert-tag", [f"model.labels={labels}"])
    with pytest.raises(RecipeError, match="context = 7 leaves hardly a word"):
        read_recipe("bert-classify", ["model.context=7"])
