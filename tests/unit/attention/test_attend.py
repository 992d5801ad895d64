"""Any score with any normaliser, with and without a mask, with and without heads."""

import jaxtyping
import pytest
import torch

from regard.attention import (
    NORMALISERS,
    SCORES,
    Attention,
    Hard,
    LocalMonotonic,
    LocalPredictive,
    Normaliser,
    Soft,
    build_score,
)

BATCH, HEADS, QUERIES, KEYS, WIDTH, VALUE_WIDTH = 2, 3, 4, 5, 6, 7


def build_normaliser(name: str, n_heads: int) -> Normaliser:
    match name:
        case "soft":
            return Soft()
        case "hard":
            return Hard(torch.Generator().manual_seed(5))
        case "local-m":
            return LocalMonotonic(reach=1)
    return LocalPredictive(WIDTH, reach=2, n_heads=n_heads)


def build_mask(n_heads: int | None) -> torch.Tensor:
    """Different for each example; query 1 of example 0 and all of the last query see nothing."""
    mask = torch.rand(BATCH, 1, QUERIES, KEYS) > 0.4
    mask[..., 2] = True
    mask[0, :, 1] = False
    mask[:, :, -1] = False
    return mask if n_heads else mask[:, 0]


@pytest.mark.parametrize("n_heads", [None, HEADS], ids=["no heads", "heads"])
@pytest.mark.parametrize("is_masked", [False, True], ids=["all seen", "masked"])
@pytest.mark.parametrize("is_training", [False, True], ids=["evaluating", "training"])
@pytest.mark.parametrize("normaliser", NORMALISERS)
@pytest.mark.parametrize("score", SCORES)
def test_every_combination(
    score: str, normaliser: str, is_training: bool, is_masked: bool, n_heads: int | None
) -> None:
    heads = () if n_heads is None else (n_heads,)
    attention = Attention(
        build_score(score, WIDTH, WIDTH, n_heads or 1), build_normaliser(normaliser, n_heads or 1)
    ).train(is_training)
    query = torch.randn(BATCH, *heads, QUERIES, WIDTH, requires_grad=True)
    key = torch.randn(BATCH, *heads, KEYS, WIDTH, requires_grad=True)
    value = torch.randn(BATCH, *heads, KEYS, VALUE_WIDTH, requires_grad=True)
    mask = build_mask(n_heads) if is_masked else None

    context, weights, choice = attention(query, key, value, mask)
    log_probability = None if choice is None else choice.log_probability

    assert context.shape == (BATCH, *heads, QUERIES, VALUE_WIDTH)
    assert weights.shape == (BATCH, *heads, QUERIES, KEYS)
    assert torch.isfinite(context).all()
    assert (weights >= 0).all()
    torch.testing.assert_close(context, weights @ value)

    visible = torch.ones_like(weights, dtype=torch.bool)
    if mask is not None:
        visible = mask.expand_as(weights)
    if normaliser == "local-m":
        offset = torch.arange(KEYS) - torch.arange(QUERIES)[:, None]
        visible = visible & (offset.abs() <= 1)
    assert (weights[~visible] == 0).all()
    total, sees = weights.sum(-1), visible.any(-1)
    assert (total[~sees] == 0).all()
    assert (context[~sees] == 0).all()
    if normaliser == "local-p":
        assert (total <= 1 + 1e-6).all()
    else:
        torch.testing.assert_close(total[sees], torch.ones_like(total[sees]))
    if normaliser == "hard":
        assert set(weights.unique().tolist()) <= {0.0, 1.0}
        assert log_probability is not None
        assert log_probability.shape == (BATCH, *heads, QUERIES)
        assert (log_probability <= 0).all()
        assert (log_probability[~sees] == 0).all()
    else:
        assert log_probability is None

    loss = (context * torch.randn_like(context)).sum()
    if log_probability is not None:
        loss = loss + (log_probability * torch.randn_like(log_probability)).sum()
    parameters = list(attention.parameters())
    gradients = torch.autograd.grad(loss, [query, key, value, *parameters], allow_unused=True)
    assert all(torch.isfinite(g).all() for g in gradients if g is not None)
    assert gradients[2] is not None
    assert gradients[2].abs().sum() > 0
    if score != "location":  # its weights owe nothing to the key
        assert gradients[1] is not None
        assert gradients[1].abs().sum() > 0
    assert all(g is not None for g in gradients[3:]), "a parameter is out of reach"
    if gradients[0] is not None:
        assert (gradients[0][~sees] == 0).all()


@pytest.mark.parametrize("normaliser", NORMALISERS)
@pytest.mark.parametrize("score", SCORES)
def test_one_query_is_a_row_of_many(score: str, normaliser: str) -> None:
    attention = Attention(
        build_score(score, WIDTH, WIDTH), build_normaliser(normaliser, 1)
    ).double()
    attention.eval()
    query, key = torch.randn(BATCH, QUERIES, WIDTH).double(), torch.randn(BATCH, KEYS, WIDTH)
    key = key.double()
    many = attention(query, key, key)
    for t in range(QUERIES):
        one = attention(query[:, t : t + 1], key, key, first=t)
        torch.testing.assert_close(one.context, many.context[:, t : t + 1])
        torch.testing.assert_close(one.weights, many.weights[:, t : t + 1])


def test_soft_is_the_normaliser_unless_told() -> None:
    query, key = torch.randn(BATCH, QUERIES, WIDTH), torch.randn(BATCH, KEYS, WIDTH)
    score = build_score("dot", WIDTH, WIDTH)
    torch.testing.assert_close(
        Attention(score)(query, key, key).weights, (query @ key.transpose(1, 2)).softmax(-1)
    )


def test_dropout_falls_on_the_sum_and_not_on_the_weights_given_back() -> None:
    attention = Attention(build_score("dot", WIDTH, WIDTH), dropout=0.5)
    query, key = torch.randn(BATCH, QUERIES, WIDTH), torch.randn(BATCH, KEYS, WIDTH)
    context, weights, _ = attention.train()(query, key, key)
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, QUERIES))
    assert not torch.allclose(context, weights @ key)
    context, weights, _ = attention.eval()(query, key, key)
    torch.testing.assert_close(context, weights @ key)


def test_shapes_are_checked_while_tests_run() -> None:
    attention = Attention(build_score("dot", WIDTH, WIDTH))
    query, key = torch.randn(BATCH, QUERIES, WIDTH), torch.randn(BATCH, KEYS, WIDTH)
    with pytest.raises(jaxtyping.TypeCheckError):
        attention(query, key, torch.randn(BATCH, KEYS + 1, WIDTH))
