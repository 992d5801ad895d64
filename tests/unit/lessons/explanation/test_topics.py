"""The numbers of `regard explain` are the library's own, and true."""

import json
import math

import pytest
import torch
from torch.nn import functional as F

from regard.attention import SCORES, layer_normalise
from regard.errors import SizeError
from regard.inspection import record
from regard.lessons.explanation import (
    Explanation,
    NumberTable,
    explain_lecture,
    explain_masks,
    explain_normalisation,
    explain_positions,
    explain_scores,
    worked_attention,
    worked_embeddings,
)


def numbers(explanation: Explanation, name: str) -> torch.Tensor:
    return torch.tensor(explanation.table(name).cells, dtype=torch.float64)


@pytest.fixture(scope="module")
def lecture() -> Explanation:
    return explain_lecture()


def test_the_lecture_prints_these_numbers(lecture: Explanation) -> None:
    assert numbers(lecture, "Q Kᵀ").tolist() == [[112, 96], [88, 120]]
    assert numbers(lecture, "Q Kᵀ / √64").tolist() == [[14, 12], [11, 15]]
    rounded = numbers(lecture, "softmax").mul(100).round().div(100)
    assert rounded.tolist() == [[0.88, 0.12], [0.02, 0.98]]


def test_the_lecture_is_torchs_attention(lecture: Explanation) -> None:
    query, key, value = (numbers(lecture, name)[None] for name in "QKV")
    assert query.shape == (1, 2, 64)
    expected = F.scaled_dot_product_attention(query, key, value)[0]
    torch.testing.assert_close(numbers(lecture, "Z"), expected)


def test_the_lectures_heads_are_the_modules_own(lecture: Explanation) -> None:
    words, attention = worked_embeddings(), worked_attention()
    with torch.no_grad():
        output = attention(words, words, words)[0]
        with record(attention) as heard:
            attention(words, words, words)
    torch.testing.assert_close(numbers(lecture, "MultiHead"), output)
    torch.testing.assert_close(numbers(lecture, "Z, head 1"), heard["contexts"][0, 1])
    torch.testing.assert_close(numbers(lecture, "X + MultiHead"), output + words[0])
    torch.testing.assert_close(numbers(lecture, "LayerNorm"), layer_normalise(output + words[0]))
    torch.testing.assert_close(
        numbers(lecture, "Concat"),
        torch.cat([numbers(lecture, "Z, head 0"), numbers(lecture, "Z, head 1")], dim=-1),
    )


def test_the_sum_is_the_sum_of_its_parts(lecture: Explanation) -> None:
    parts = numbers(lecture, "the sum for Thinking")
    torch.testing.assert_close(parts[:2].sum(0), parts[2])


@pytest.mark.parametrize(("width", "seed"), [(4, 0), (1, 3), (7, 11)])
def test_scores_say_what_they_do_not_see(width: int, seed: int) -> None:
    explanation = explain_scores(width, seed)
    table = explanation.table("largest change")
    changes = dict(zip(table.rows, table.cells, strict=True))
    assert changes["concatenating"][0] == pytest.approx(0, abs=1e-6)
    assert changes["location"][1] == 0
    assert list(table.rows) == list(SCORES)
    weights, keys = numbers(explanation, "weights"), numbers(explanation, "keys")
    torch.testing.assert_close(weights.sum(-1), torch.ones(8, dtype=torch.float64))
    torch.testing.assert_close(weights @ keys, numbers(explanation, "result"), atol=1e-5, rtol=0)


def test_additive_is_a_perceptron_cut_in_two() -> None:
    for name in ("scores", "weights", "result"):
        table = explain_scores(5, 2).table(name)
        cells = dict(zip(table.rows, table.cells, strict=True))
        assert cells["additive"] == pytest.approx(cells["perceptron"], abs=1e-6)


def test_scores_repeat_with_the_seed() -> None:
    assert explain_scores(3, 5) == explain_scores(3, 5)
    assert explain_scores(3, 5) != explain_scores(3, 6)


@pytest.mark.parametrize("length", [2, 5, 20])
def test_masks_put_no_weight_on_hidden_places(length: int) -> None:
    explanation = explain_masks(length, reach=2)
    for name in ("causal", "padding", "window", "combined"):
        allowed = numbers(explanation, f"{name} mask").bool()
        scores, weights = (numbers(explanation, f"{name} {what}") for what in ("scores", "weights"))
        assert torch.equal(scores == -math.inf, ~allowed)
        assert (weights[~allowed] == 0).all()
        torch.testing.assert_close(weights.sum(-1), allowed.any(-1).double())
    causal = numbers(explanation, "causal mask")
    assert torch.equal(causal, torch.ones_like(causal).tril())


def test_an_empty_row_is_zeros_where_softmax_alone_gives_nan() -> None:
    explanation = explain_masks(5)
    assert torch.isnan(numbers(explanation, "softmax alone")[2]).all()
    assert (numbers(explanation, "weights with an empty row")[2] == 0).all()


@pytest.mark.parametrize(("length", "width"), [(50, 64), (1, 2), (2, 6), (9, 4), (100, 10)])
def test_positions_shift_by_a_matrix(length: int, width: int) -> None:
    explanation = explain_positions(length, width)
    assert numbers(explanation, "PE").shape == (length, width)
    assert numbers(explanation, "largest error").max() < 1e-5
    torch.testing.assert_close(
        numbers(explanation, "W [x; p]"), numbers(explanation, "W_x x + W_p p")
    )


@pytest.mark.parametrize("length", [3, 49, 50, 60])
def test_near_places_are_compared_from_more_than_one_place(length: int) -> None:
    rows = numbers(explain_positions(length, 16), "product")
    assert len(rows) > 1
    torch.testing.assert_close(rows, rows[:1].expand_as(rows))


def test_positions_turn_once_in_two_pi_places() -> None:
    turns = numbers(explain_positions(3, 4), "places in one turn of each pair")
    expected = torch.tensor([[2 * math.pi, 200 * math.pi]], dtype=torch.float64)
    torch.testing.assert_close(turns, expected)


def test_normalisation_tells_the_lectures_two_misprints() -> None:
    explanation = explain_normalisation()
    told = [step.prose for step in explanation.steps if "misprint" in step.prose]
    assert "There is a misprint: the mean of the row 0 1 5 is 2.00, not 3." in told[0]
    assert "There is a misprint: the mean of the column 3 2 1 6 2 0 is 2.33, not 3." in told[1]
    table = numbers(explanation, "x")
    torch.testing.assert_close(numbers(explanation, "batch statistics")[:, 0], table.mean(1))
    torch.testing.assert_close(numbers(explanation, "layer statistics")[:, 0], table.mean(0))


def test_normalised_means_zero_and_spread_one() -> None:
    explanation = explain_normalisation()
    layer = numbers(explanation, "layer norm, each column")
    torch.testing.assert_close(layer[:, 0], torch.zeros(3).double(), atol=1e-12, rtol=0)
    torch.testing.assert_close(layer[:, 1], torch.ones(3).double(), atol=1e-4, rtol=0)
    batch = numbers(explanation, "batch norm, each row")
    # Feature 1 is 2 2 2: it has no spread, and becomes zeros.
    expected = torch.tensor([1, 0, 1, 1, 1, 1]).double()
    torch.testing.assert_close(batch[:, 1], expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: explain_scores(0), "a width is 1 to 512 numbers, not 0"),
        (lambda: explain_masks(1), "a sentence to mask has 2 to 64 words, not 1"),
        (lambda: explain_masks(65), "a sentence to mask has 2 to 64 words, not 65"),
        (lambda: explain_masks(5, -1), "a window's reach is 0 or more places, not -1"),
        (
            lambda: explain_masks(5, 10**20),
            f"a window to look at reaches 0 to 64 places, not {10**20}",
        ),
        (lambda: explain_positions(0), "a length is 1 to 4096 positions, not 0"),
        (
            lambda: explain_positions(5, 7),
            "a width is an even number from 2 to 2048 (each sine has its cosine), not 7",
        ),
    ],
)
def test_impossible_sizes(call: object, sentence: str) -> None:
    with pytest.raises(SizeError) as error:
        call()  # type: ignore[operator]
    assert str(error.value) == sentence


def test_a_table_checks_its_labels() -> None:
    with pytest.raises(SizeError, match="table 'odd' has 1 row labels and 2 column labels"):
        NumberTable("odd", ("a",), ("b", "c"), ((1.0,),))


def test_json_keeps_every_digit_and_names_what_it_lacks(lecture: Explanation) -> None:
    written = json.loads(json.dumps(lecture.to_json(), allow_nan=False))
    tables = {t["name"]: t for step in written["steps"] for t in step["tables"]}
    assert tables["softmax"]["cells"] == numbers(lecture, "softmax").tolist()
    assert len(tables["Q"]["columns"]) == 64
    masked = json.dumps(explain_masks(3).to_json(), allow_nan=False)
    assert '"-Infinity"' in masked
    assert '"NaN"' in masked


def test_asking_for_a_missing_table_lists_those_there() -> None:
    with pytest.raises(KeyError, match="normalisation has no table 'y'; it has x, batch"):
        explain_normalisation().table("y")
