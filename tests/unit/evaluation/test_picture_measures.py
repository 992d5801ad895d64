"""Distances between sets of pictures: against closed forms, and against counting."""

import numpy as np
import pytest
import torch

from regard.errors import UsageError
from regard.evaluation.extractors import ConvolutionalClassifier, Extractor, fit_classifier
from regard.evaluation.pictures import Features, closeness, frechet_distance, precision_recall


def cloud(mean: list[float], deviations: list[float], n: int = 500, seed: int = 0) -> Features:
    """Features whose mean and covariance are exactly these, the latter diagonal."""
    draws = np.random.default_rng(seed).normal(size=(n, len(mean)))
    draws -= draws.mean(0)
    values, vectors = np.linalg.eigh(np.cov(draws, rowvar=False))
    white = draws @ (vectors / np.sqrt(values)) @ vectors.T
    return (white * deviations + mean).astype(np.float32)


def test_the_frechet_distance_of_two_gaussians() -> None:
    """``|μ₁ - μ₂|² + Σ (σ₁ - σ₂)²`` where both covariances are diagonal."""
    one, other = cloud([0, 1, 2], [1, 2, 3]), cloud([1, 1, 0], [2, 2, 0.5], n=300, seed=1)
    assert frechet_distance(one, other) == pytest.approx(5 + 1 + 6.25, rel=1e-4)
    assert frechet_distance(other, one) == pytest.approx(frechet_distance(one, other))


def test_covariances_that_do_not_commute() -> None:
    """Against ``tr (Σ₁ Σ₂)^½`` by the eigenvalues of the product itself."""
    random = np.random.default_rng(3)
    one = (random.normal(size=(200, 4)) @ random.normal(size=(4, 4))).astype(np.float32)
    other = (random.normal(size=(150, 4)) @ random.normal(size=(4, 4)) + 1).astype(np.float32)
    first, second = (np.cov(side.astype(np.float64), rowvar=False) for side in (one, other))
    apart = one.astype(np.float64).mean(0) - other.astype(np.float64).mean(0)
    shared = np.sqrt(np.linalg.eigvals(first @ second).real).sum()
    expected = apart @ apart + np.trace(first) + np.trace(second) - 2 * shared
    assert frechet_distance(one, other) == pytest.approx(expected, rel=1e-6)


def test_the_same_pictures_are_at_no_distance_and_cover_each_other() -> None:
    one = cloud([0, 0], [1, 1])
    found = closeness(one, one)
    assert found.frechet == pytest.approx(0, abs=1e-6)
    assert (found.precision, found.recall) == (1.0, 1.0)


def test_precision_and_recall_are_counted() -> None:
    random = np.random.default_rng(4)
    real = random.normal(size=(40, 2)).astype(np.float32)
    drawn = random.normal(0.7, 1, size=(30, 2)).astype(np.float32)

    def covered(reference: np.ndarray, asked: np.ndarray) -> float:
        reach = [sorted(np.linalg.norm(reference - one, axis=1))[3] for one in reference]
        inside = [(np.linalg.norm(reference - one, axis=1) <= reach).any() for one in asked]
        return float(np.mean(inside))

    found = precision_recall(real, drawn, 3)
    assert found == (pytest.approx(covered(real, drawn)), pytest.approx(covered(drawn, real)))
    assert 0 < found[0] < 1


def test_a_generator_that_draws_one_thing_is_precise_and_covers_little() -> None:
    real = cloud([0, 0], [1, 1])
    drawn = (real[:1] + 0.01 * np.random.default_rng(0).normal(size=(200, 2))).astype(np.float32)
    precision, recall = precision_recall(real, drawn)
    assert precision > 0.9
    assert recall < 0.1


@pytest.mark.parametrize(("one", "other"), [((5, 2), (5, 3)), ((3, 2), (9, 2)), ((5,), (5, 2))])
def test_what_cannot_be_compared_is_refused(one: tuple[int, ...], other: tuple[int, ...]) -> None:
    with pytest.raises(UsageError, match="compared"):
        precision_recall(np.zeros(one, np.float32), np.zeros(other, np.float32))


def test_a_classifier_learns_to_tell_bright_from_dark_and_comes_back() -> None:
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, 200)
    pixels = (labels[:, None, None, None] * 120 + random.integers(0, 90, (200, 12, 12, 1))).astype(
        np.uint8
    )
    torch.manual_seed(9)
    made = fit_classifier(pixels, labels, 2, updates=20)
    after = torch.rand(1)
    torch.manual_seed(9)
    assert torch.equal(after, torch.rand(1)), "the caller's random numbers are not touched"
    assert (made.classes(pixels) == labels).mean() > 0.95
    assert isinstance(made, Extractor)
    assert made.features(pixels).shape == (200, 128)
    again = fit_classifier(pixels, labels, 2, updates=20)
    assert np.array_equal(again.features(pixels), made.features(pixels))
    loaded = ConvolutionalClassifier.from_weights(made.state_dict())
    assert np.array_equal(loaded.features(pixels), made.features(pixels))
