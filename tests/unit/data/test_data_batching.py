"""Batches: what is in them, how full they are, and the plan of an epoch."""

import itertools

import numpy as np
import pytest
import torch

from regard.data import Batch, Batches, MemoryCorpus, MixedBatches, Place, collate
from regard.errors import DataError

SMALL = MemoryCorpus([([7, 8, 9], [5]), ([6], [4, 5, 6, 7])])


def corpus_of(n, seed=0):
    random = np.random.default_rng(seed)
    targets = 1 + random.poisson(12, n)
    sources = np.maximum(1, targets + random.integers(-3, 4, n))
    return MemoryCorpus(
        [([4] * s, [5] * t) for s, t in zip(sources.tolist(), targets.tolist(), strict=True)]
    )


def test_rows_are_padded_between_bos_and_eos():
    batch = collate(SMALL, [1, 0])
    assert batch.source.tolist() == [[6, 3, 0, 0], [7, 8, 9, 3]]
    assert batch.target.tolist() == [[2, 4, 5, 6, 7, 3], [2, 5, 3, 0, 0, 0]]
    assert batch.source.dtype == batch.target.dtype == torch.int64
    assert (len(batch), batch.n_source_tokens, batch.n_target_tokens) == (2, 6, 7)


def test_a_batch_moves_and_does_not_change():
    batch = collate(SMALL, [0])
    moved = batch.to("meta")
    assert moved.source.device.type == moved.target.device.type == "meta"
    with pytest.raises(AttributeError):
        batch.source = batch.target
    assert isinstance(moved, Batch)


def test_budgets_bound_padded_targets():
    corpus = corpus_of(997)
    _, target = corpus.lengths()
    for budget in (1, 40, 300, 100_000):
        epoch = Batches(corpus, seed=3, batch_tokens=budget).epoch(0)
        for rows in epoch:
            assert len(rows) == 1 or len(rows) * (1 + target[rows].max()) <= budget


def test_batches_are_nearly_full_and_hold_little_padding():
    corpus = corpus_of(8_000)
    source, target = (side + 1 for side in corpus.lengths())
    epoch = Batches(corpus, seed=3, batch_tokens=1_000).epoch(0)
    positions = {"source": 0, "target": 0}
    for rows in epoch:
        positions["source"] += len(rows) * source[rows].max()
        positions["target"] += len(rows) * target[rows].max()
    assert 1 - target.sum() / positions["target"] < 0.03
    assert 1 - source.sum() / positions["source"] < 0.08
    assert positions["target"] / len(epoch) > 800


def test_long_sources_make_smaller_batches():
    corpus = MemoryCorpus([([4] * 99, [5])] * 50)
    epoch = Batches(corpus, seed=1, batch_tokens=100).epoch(0)
    assert max(len(rows) for rows in epoch) == 2


def test_epochs_and_seeds_differ_and_repeat():
    corpus = corpus_of(300)

    def plan(seed, k):
        return [rows.tolist() for rows in Batches(corpus, seed, 100).epoch(k)]

    assert plan(1, 0) == plan(1, 0)
    assert plan(1, 0) != plan(1, 1)
    assert plan(1, 0) != plan(2, 0)
    assert plan(-1, 0) != plan(1, 0)


def test_batches_do_not_come_in_order_of_length():
    corpus = corpus_of(2_000)
    longest = [corpus.lengths()[1][rows].max() for rows in Batches(corpus, 1, 200).epoch(0)]
    assert longest != sorted(longest)
    assert longest != sorted(longest, reverse=True)


def test_two_processes_see_what_one_with_twice_the_budget_sees():
    corpus = corpus_of(1_503)
    one = Batches(corpus, seed=5, batch_tokens=400).epoch(2)
    two = [Batches(corpus, 5, 200, rank, 2).epoch(2) for rank in range(2)]
    assert len(one) == len(two[0]) == len(two[1])
    for whole, *shares in zip(one, *two, strict=True):
        assert sorted(np.concatenate(shares)) == sorted(whole)
        assert [share.tolist() for share in shares] == [whole[0::2].tolist(), whole[1::2].tolist()]


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
@pytest.mark.parametrize("budget", [1, 40, 300, 100_000])
def test_mixed_batches_hold_about_the_budget_and_every_pair_once(budget: int, n_ranks: int):
    corpus = corpus_of(997)
    _, target = corpus.lengths()
    epoch = MixedBatches(corpus, 3, budget, 0, n_ranks).epoch(0)
    rows = [epoch.order[start:end] for start, end in itertools.pairwise(epoch.cuts)]
    assert np.array_equal(np.sort(np.concatenate(rows)), np.arange(997))
    assert min(map(len, rows)) >= n_ranks
    longest = int(target.max()) + 1
    for of_one in rows:
        n_tokens = int(target[of_one].sum()) + len(of_one)
        assert len(of_one) <= n_ranks + 1 or n_tokens <= 1.2 * n_ranks * budget + longest
    if budget == 300:
        n_tokens = int(target.sum()) + 997
        assert len(rows) == pytest.approx(n_tokens / (n_ranks * budget), abs=1)


def test_mixed_batches_have_all_lengths_and_a_small_one_for_long_sources():
    corpus = corpus_of(4_000)
    _, target = corpus.lengths()
    spread = [target[rows].std() for rows in MixedBatches(corpus, 1, 400).epoch(0)]
    assert min(spread) > 0.5 * target.std()
    assert MixedBatches(corpus, 1, 400).epoch(0)[0].tolist() != (
        MixedBatches(corpus, 1, 400).epoch(1)[0].tolist()
    )
    long = MemoryCorpus([([4] * 99, [5])] * 50)
    assert all(len(rows) <= 2 for rows in MixedBatches(long, 1, 100).epoch(0))


def test_two_processes_see_of_mixed_batches_what_one_with_twice_the_budget_sees():
    corpus = corpus_of(1_503)
    one = MixedBatches(corpus, seed=5, batch_tokens=400).epoch(2)
    two = [MixedBatches(corpus, 5, 200, rank, 2).epoch(2) for rank in range(2)]
    for whole, *shares in zip(one, *two, strict=True):
        assert [share.tolist() for share in shares] == [whole[0::2].tolist(), whole[1::2].tolist()]


def test_large_corpora_are_planned_in_pools():
    class Large:
        def __len__(self):
            return 300_000

        def __getitem__(self, i, /):
            raise AssertionError("planning reads lengths only")

        def lengths(self):
            random = np.random.default_rng(0)
            return tuple(random.integers(1, 40, len(self), dtype=np.int32) for _ in "st")

    epoch = Batches(Large(), seed=1, batch_tokens=2_048).epoch(0)
    assert np.array_equal(np.sort(np.concatenate(epoch)), np.arange(300_000))
    assert epoch[0:2][1].tolist() == epoch[1].tolist()


def test_a_place_continues():
    batches = Batches(corpus_of(50), seed=1, batch_tokens=100)
    n = len(batches.epoch(0))
    run = batches.iterate()
    assert run.place == Place(0, 0)
    for _ in range(n):
        next(run)
    assert run.place == Place(0, n)
    following = next(run)
    assert run.place == Place(1, 1)
    for place in (Place(0, n), Place(1, 0)):
        assert torch.equal(next(batches.iterate(place)).target, following.target)


def test_refusals():
    with pytest.raises(DataError) as refusal:
        Batches(SMALL, 1, 0)
    assert str(refusal.value) == "batch_tokens = 0: a batch needs at least 1 token."
    with pytest.raises(DataError) as refusal:
        Batches(SMALL, 1, 8, rank=2, n_ranks=2)
    assert str(refusal.value) == "rank = 2 is not among the 2 processes 0 to 1."
    with pytest.raises(DataError) as refusal:
        Batches(SMALL, 1, 8, rank=0, n_ranks=3)
    assert str(refusal.value) == (
        "2 pairs cannot be shared by 3 processes: use at most 2, or more data."
    )
    with pytest.raises(DataError) as refusal:
        Batches(SMALL, 1, 8).iterate(Place(4, 9))
    assert str(refusal.value) == (
        "Epoch 4 has 2 batches, so a run cannot continue at batch 9: the data or batch_tokens "
        "changed since it was saved."
    )
