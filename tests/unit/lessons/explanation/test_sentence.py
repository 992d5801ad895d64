"""A sentence is explained with what the model's own probes let through."""

from typing import Any

import pytest
import torch

from regard.config import TransformerSection
from regard.errors import UsageError
from regard.inspection import Recording, record
from regard.lessons.explanation import Explanation, explain_sentence
from regard.systems import build

TOKENS = ("这", "只", "动", "物", "</s>")
N_LAYERS, N_HEADS, WIDTH = 2, 3, 12


@pytest.fixture(scope="module", params=["post", "pre"])
def heard(request: pytest.FixtureRequest) -> Recording:
    torch.manual_seed(7)
    section = TransformerSection(
        d_model=WIDTH, n_heads=N_HEADS, n_layers=N_LAYERS, d_feedforward=20, norm=request.param
    )
    model = build(section, 9, 9).eval()
    with torch.no_grad(), record(model, "encoder.*") as recording:
        model.start(torch.tensor([[4, 5, 6, 7, 3]]))
    return recording


def numbers(explanation: Explanation, name: str) -> torch.Tensor:
    return torch.tensor(explanation.table(name).cells)


@pytest.mark.parametrize("layer", range(N_LAYERS))
@pytest.mark.parametrize("head", range(N_HEADS))
def test_every_number_was_heard(heard: Recording, layer: int, head: int) -> None:
    explanation = explain_sentence(heard, TOKENS, layer=layer, head=head, place=2)
    at = f"encoder.layers.{layer}"
    for name, expected in {
        "q": heard[f"{at}.attention.queries"][0, head],
        "weights": heard[f"{at}.attention.weights"][0, head],
        "weights of the word": heard[f"{at}.attention.weights"][0, head, 2][:, None],
        "z of each head": heard[f"{at}.attention.contexts"][0, :, 2],
        "MultiHead": heard[f"{at}.around_attention.change"][0, 2][None],
        "y": heard[f"{at}.around_attention.result"][0],
        "output of the layer": heard[f"{at}.around_feedforward.result"][0],
    }.items():
        assert torch.equal(numbers(explanation, name), expected), name
    for step in explanation.steps:
        assert all(table.probe is None or table.probe in heard for table in step.tables)


def test_the_parts_belong_together(heard: Recording) -> None:
    explanation = explain_sentence(heard, TOKENS, layer=1, head=2, place=3)
    raw, scaled = numbers(explanation, "scores of the word")
    torch.testing.assert_close(raw / (WIDTH // N_HEADS) ** 0.5, scaled)
    torch.testing.assert_close(numbers(explanation, "scores")[3], scaled)
    parts = numbers(explanation, "α · v")
    torch.testing.assert_close(parts[:-1].sum(0), parts[-1])
    assert explanation.table("looks most at").columns == ("head 0", "head 1", "head 2")


def _listened(**sizes: Any) -> Recording:
    section = TransformerSection(d_model=6, n_heads=3, n_layers=2, d_feedforward=10, **sizes)
    with torch.no_grad(), record(model := build(section, 9, 9).eval(), "encoder.*") as recording:
        model.start(torch.tensor([[4, 5, 6, 7, 3]]))
    return recording


@pytest.mark.parametrize(
    ("is_pre_norm", "layer", "of_feedforward", "goes"),
    [
        (False, 0, "F( y )", "The result goes to layer 1."),
        (False, 1, "F( y )", "This is the last layer: the result goes to the decoder."),
        (
            True,
            1,
            "F( norm( y ) )",
            "This is the last layer: the result goes through one more norm to the decoder.",
        ),
    ],
)
def test_the_words_fit_the_model(
    is_pre_norm: bool, layer: int, of_feedforward: str, goes: str
) -> None:
    heard = _listened(norm="pre" if is_pre_norm else "post")
    explanation = explain_sentence(heard, TOKENS, layer=layer, is_pre_norm=is_pre_norm)
    feedforward = explanation.steps[-2]
    assert feedforward.tables[1].name == of_feedforward
    assert of_feedforward in feedforward.formula
    assert feedforward.prose.endswith(goes)
    # In pre-norm nothing is normalised after the sum.
    assert ("norm" in feedforward.title) is not is_pre_norm


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "none"])
def test_a_model_without_places_is_not_said_to_have_them(positions: str) -> None:
    embedding = explain_sentence(_listened(positions=positions), TOKENS).steps[0]
    has_places = positions != "none"
    assert ("PE( place )" in embedding.formula) is has_places
    assert (len(embedding.tables) == 2) is has_places


@pytest.mark.parametrize(
    ("choice", "sentence"),
    [
        ({"layer": 2}, "there is no layer 2: this model has 2, counted 0 to 1"),
        ({"layer": -1}, "there is no layer -1: this model has 2, counted 0 to 1"),
        ({"head": 3}, "there is no head 3: this model has 3, counted 0 to 2"),
    ],
)
def test_layers_and_heads_that_are_not_there(
    heard: Recording, choice: dict[str, int], sentence: str
) -> None:
    with pytest.raises(UsageError) as error:
        explain_sentence(heard, TOKENS, **choice)
    assert str(error.value) == sentence


def test_a_model_without_an_encoder() -> None:
    with pytest.raises(UsageError, match="this model has no encoder to step through"):
        explain_sentence(Recording([]), TOKENS)
