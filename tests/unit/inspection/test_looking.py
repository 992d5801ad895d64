"""From tokens to words, and the row that is spoken of."""

import pytest
import torch

from regard.errors import SizeError
from regard.inspection.looking import Looking, by_words


def test_a_words_row_is_a_mean_and_its_column_a_sum() -> None:
    weights = torch.tensor([[0.1, 0.2, 0.7], [0.5, 0.3, 0.2]], dtype=torch.float64)
    found = by_words(weights.expand(2, 4, 2, 3), [0, 0], [0, 1, 1])
    assert found.shape == (2, 4, 1, 2)
    torch.testing.assert_close(found[1, 3], torch.tensor([[0.3, 0.7]], dtype=torch.float64))


def test_rows_still_sum_to_one() -> None:
    weights = torch.rand(3, 5, 7, dtype=torch.float64).softmax(-1)
    found = by_words(weights, [0, 0, 1, 1, 2], [0, 1, 1, 2, 3, 3, 3])
    torch.testing.assert_close(found.sum(-1), torch.ones(3, 3, dtype=torch.float64))


def test_weights_that_do_not_fit_the_words() -> None:
    with pytest.raises(SizeError) as error:
        by_words(torch.rand(2, 3), [0, 1], [0, 1])
    assert str(error.value) == "weights of (2, 3) tokens do not fit the words of 2 and 2 tokens"
    with pytest.raises(SizeError) as error:
        Looking(("a", "b"), ("c",), ((1.0,),))
    assert str(error.value) == (
        "2 words that look at 1 need as many rows and columns of weights; there are 1 rows of [1]"
    )


def test_the_row_in_focus() -> None:
    looking = Looking(("a", "b"), ("c",), ((0.25,), (1.0,)), focus=1)
    assert looking.row == (1.0,)
