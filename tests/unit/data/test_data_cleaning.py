"""What is dropped, and the account of it."""

import tracemalloc

import numpy as np
import pytest

from regard.data import Account, Cleaner, Pair
from regard.data.cleaning import Seen, hash_stripped


def lengths(*values):
    return np.asarray(values, dtype=np.int64)


def test_text_is_stripped_and_empty_or_repeated_pairs_go():
    cleaner = Cleaner(max_length=2)
    pairs = [(" a ", "b\n"), ("", "c"), ("d", " "), ("a", "b"), ("x" * 33, "y"), ("a", "c")]
    assert cleaner.clean_text(pairs) == [Pair("a", "b"), Pair("a", "c")]
    assert cleaner.clean_text([("a", "b"), ("e", "f")]) == [Pair("e", "f")]
    account = cleaner.account()
    assert account.n_read == 8
    assert account.dropped == {"empty": 2, "too long": 1, "duplicate": 2}
    assert account.examples["duplicate"] == (("a", "b"), ("a", "b"))


def test_lengths_in_tokens():
    cleaner = Cleaner(max_length=10, max_ratio=3.0)
    pairs = [Pair(str(i), str(i)) for i in range(6)]
    keep = cleaner.keep_lengths(pairs, lengths(5, 11, 9, 9, 0, 1), lengths(5, 9, 3, 2, 4, 3))
    assert keep.tolist() == [True, False, True, False, False, True]
    assert cleaner.account().dropped == {"empty": 1, "too long": 1, "ratio": 1}
    assert cleaner.account().n_kept == 3


def test_no_ratio_and_no_duplicates_test():
    cleaner = Cleaner(max_ratio=None, drops_duplicates=False)
    assert len(cleaner.clean_text([("a", "b")] * 3)) == 3
    assert cleaner.keep_lengths([Pair("a", "b")], lengths(1), lengths(200)).tolist() == [True]


def test_the_account_prints_itself():
    account = Account(
        n_read=12_000,
        n_kept=11_000,
        dropped={"empty": 600, "ratio": 400},
        examples={"empty": (("", "b"),), "ratio": (("a", "b c d"), ("e", "f"))},
        n_held_out=200,
        n_overlap=7,
    )
    assert account.line() == (
        "12,000 pairs read, 11,000 kept; dropped: 600 empty, 400 ratio; "
        "7 validation pairs are also in the training data"
    )
    assert account.rows() == [
        ("empty", 600, "one side is empty", " ||| b"),
        ("ratio", 400, "one side longer than max_ratio times the other", "a ||| b c d"),
    ]
    assert account.warning() == (
        "7 of 200 validation pairs (3.5%) are also in the training data: validation will look "
        "better than it is. Take them out of one."
    )
    assert Account.from_json(account.to_json()) == account
    assert Account(3, 3).line() == "3 pairs read, 3 kept"
    assert Account(3, 3).warning() is None
    assert Account(3, 1, {"ratio": 2}).rows()[0][3] == ""


@pytest.mark.parametrize("drops_duplicates", [True, False])
def test_overlap_counts_each_validation_pair_once(drops_duplicates):
    held_out = hash_stripped([("a ", "b"), ("c", "d"), ("e", "f")])
    cleaner = Cleaner(drops_duplicates=drops_duplicates, held_out=held_out)
    cleaner.clean_text([("a", "b"), ("a", "b"), ("c", "x")])
    cleaner.clean_text([("a", " b"), ("e", "f")])
    assert (cleaner.account().n_overlap, cleaner.account().n_held_out) == (2, 3)


def test_seen_remembers_in_eight_bytes_each():
    random = np.random.default_rng(1)
    seen = Seen()
    everything = random.integers(0, 2**63, 200_000, dtype=np.uint64)
    tracemalloc.start()
    for chunk in np.array_split(everything, 25):
        assert seen.add(chunk).all()
    held = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert len(seen) == 200_000
    assert held < 9 * 200_000
    assert not seen.add(everything[::7]).any()


def test_boundaries_between_source_and_target_matter():
    first, second = hash_stripped([("ab", "c"), ("a", "bc")])
    assert first != second
