"""Measures of pictures are those of torch-fidelity."""

import numpy as np
import pytest
import torch

from regard.evaluation.pictures import frechet_distance, precision_recall

fidelity = pytest.importorskip("torch_fidelity", reason="torch-fidelity is not installed")


def test_frechet_distance_precision_and_recall() -> None:
    from torch_fidelity.metric_fid import fid_features_to_statistics, fid_statistics_to_metric
    from torch_fidelity.metric_prc import prc_features_to_metric

    random = np.random.default_rng(0)
    real = (random.normal(size=(300, 8)) @ random.normal(size=(8, 8))).astype(np.float32)
    drawn = (random.normal(0.3, 1, size=(250, 8)) @ random.normal(size=(8, 8))).astype(np.float32)
    statistics = [fid_features_to_statistics(torch.from_numpy(one)) for one in (real, drawn)]
    (theirs,) = fid_statistics_to_metric(*statistics, False).values()
    assert frechet_distance(real, drawn) == pytest.approx(theirs, rel=1e-4)
    found = prc_features_to_metric(
        torch.from_numpy(drawn),  # theirs has the generated ones first
        torch.from_numpy(real),
        prc_neighborhood=3,
        prc_batch_size=100,
        save_cpu_ram=False,
        verbose=False,
    )
    precision, recall = precision_recall(real, drawn)
    assert precision == pytest.approx(found["precision"])
    assert recall == pytest.approx(found["recall"])
