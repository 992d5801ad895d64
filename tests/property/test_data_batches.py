"""Any corpus, any number of processes: every pair once, the same every time, wherever resumed."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regard.data import Batches, MemoryCorpus, Place
from regard.data.cleaning import Seen

SIDES = st.integers(1, 30)
SIZES = st.lists(st.tuples(SIDES, SIDES), min_size=1, max_size=60)


def corpus_of(sizes):
    return MemoryCorpus([([4] * s, [5] * t) for s, t in sizes])


@st.composite
def settings_of_batches(draw):
    sizes = draw(SIZES)
    n_ranks = draw(st.integers(1, min(5, len(sizes))))
    return sizes, draw(st.integers(-5, 2**70)), draw(st.integers(1, 120)), n_ranks


@given(settings_of_batches(), st.integers(0, 3))
def test_every_pair_once_and_every_rank_at_work(given_, k):
    sizes, seed, budget, n_ranks = given_
    corpus = corpus_of(sizes)
    epochs = [Batches(corpus, seed, budget, rank, n_ranks).epoch(k) for rank in range(n_ranks)]
    assert len({len(epoch) for epoch in epochs}) == 1
    assert all(len(rows) for epoch in epochs for rows in epoch)
    taken = np.concatenate([rows for epoch in epochs for rows in epoch])
    assert sorted(taken.tolist()) == list(range(len(corpus)))


@given(settings_of_batches(), st.integers(0, 3))
def test_the_budget_holds_for_all_processes_together(given_, k):
    sizes, seed, budget, n_ranks = given_
    corpus = corpus_of(sizes)
    _, target = corpus.lengths()
    epochs = [Batches(corpus, seed, budget, rank, n_ranks).epoch(k) for rank in range(n_ranks)]
    for shares in zip(*epochs, strict=True):
        rows = np.concatenate(shares)
        # Every process needs a row, so a batch may grow by a few rows of the rest of its pool.
        n_rows = len(rows) - (n_ranks - 1)
        assert n_rows <= n_ranks or n_rows * (1 + target[rows].max()) <= n_ranks * budget


@given(settings_of_batches(), st.integers(0, 40))
def test_resuming_anywhere_is_not_noticed(given_, n_before):
    sizes, seed, budget, n_ranks = given_
    corpus = corpus_of(sizes)
    batches = Batches(corpus, seed, budget, n_ranks - 1, n_ranks)
    run = batches.iterate()
    for _ in range(n_before):
        next(run)
    place = Place(run.place.epoch, run.place.batch)
    resumed = Batches(corpus, seed, budget, n_ranks - 1, n_ranks).iterate(place)
    for _ in range(5):
        a, b = next(run), next(resumed)
        assert a.source.tolist() == b.source.tolist()
        assert a.target.tolist() == b.target.tolist()
        assert run.place == resumed.place


@given(st.lists(st.lists(st.integers(0, 50), max_size=20), max_size=12))
def test_seen_is_a_set(chunks):
    seen, known = Seen(), set()
    for chunk in chunks:
        expected = []
        for value in chunk:
            expected.append(value not in known)
            known.add(value)
        assert seen.add(np.asarray(chunk, dtype=np.uint64)).tolist() == expected
    assert len(seen) == len(known)
