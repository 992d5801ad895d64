"""Planted heads are found with their direction, and controls are as low as they should be."""

import numpy as np
import pytest
import torch

from regard.inspection.head_study import StudiedAntecedent, StudiedSentence, try_batch, word_weights
from regard.inspection.head_study.findings import Finding, find, halves, tabulate
from regard.inspection.head_study.spread import Spread, spread_of
from regard.inspection.head_study.trials import SPECIAL, BatchTrials
from regard.inspection.heads import Head

N_WORDS = 9
GOVERNOR, DEPENDENT, PREVIOUS, EVEN = range(4)
HEADS = [Head("encoder", 0, head) for head in range(4)]


def sentences(n: int) -> list[StudiedSentence]:
    """Words under governors drawn by lot: ``obj`` anywhere, ``det`` always at the next word."""
    generator = np.random.default_rng(5)
    made = []
    for _ in range(n):
        arcs = []
        for word in range(1, N_WORDS - 1, 2):
            others = [k for k in range(N_WORDS) if abs(k - word) > 1]
            arcs.append((word, int(generator.choice(others)), "obj"))
        arcs += [(word, word + 1, "det") for word in range(0, N_WORDS - 1, 2)]
        nouns = generator.permutation(range(4))[:2]
        made.append(
            StudiedSentence(
                tuple(range(N_WORDS + 1)),
                (SPECIAL, *range(N_WORDS)),
                N_WORDS,
                tuple(arcs),
                rare=(int(generator.integers(N_WORDS)),),
                punctuation=(N_WORDS - 1,),
                antecedents=(
                    StudiedAntecedent(
                        N_WORDS - 1, ((int(nouns[0]),), (int(nouns[1]),)), (True, False)
                    ),
                ),
            )
        )
    return made


def planted(read: list[StudiedSentence]) -> torch.Tensor:
    """One layer: a head per habit; every row has half of its weight on the special token."""
    weights = torch.full((len(read), 4, N_WORDS + 1, N_WORDS + 1), 0.5 / N_WORDS)
    weights[..., 0] = 0.5
    for row, one in enumerate(read):
        for dependent, governor, relation in one.arcs:
            if relation == "obj":
                weights[row, GOVERNOR, dependent + 1, governor + 1] = 0.9
                weights[row, DEPENDENT, governor + 1, dependent + 1] = 0.9
        for word in range(1, N_WORDS):
            weights[row, PREVIOUS, word + 1, word] = 0.9
        (asked,) = one.antecedents
        weights[row, GOVERNOR, N_WORDS, asked.candidates[0][0] + 1] = 0.9
    weights[:, EVEN] += 0.001 * torch.rand(weights[:, EVEN].shape)
    return weights / weights.sum(-1, keepdim=True)


@pytest.fixture(scope="module")
def both() -> tuple[BatchTrials, BatchTrials]:
    torch.manual_seed(0)
    parts = []
    for read in (sentences(120)[:60], sentences(120)[60:]):
        parts.append(try_batch(read, range(len(read)), [planted(read)]))
    return parts[0], parts[1]


@pytest.fixture(scope="module")
def found(both: tuple[BatchTrials, BatchTrials]) -> dict[str, Finding]:
    return find(HEADS, both[0].arcs, both[1].arcs)


def test_words_are_sums_of_columns_and_means_of_rows() -> None:
    weights = torch.arange(16.0).reshape(1, 1, 4, 4)
    found = word_weights(weights, torch.tensor([[SPECIAL, 0, 0, 1]]))
    assert found.shape == (1, 1, 2, 3)
    assert found[0, 0, 0].tolist() == [15.0, 9.0, 6.0]  # rows 1 and 2: means of 5+6, 9+10, ...
    assert found[0, 0, 1].tolist() == [27.0, 15.0, 12.0]


def test_the_head_that_looks_at_governors_is_found(found: dict[str, Finding]) -> None:
    one = found["obj"]
    assert (one.name, one.direction) == ("encoder.0.0", "dependent to governor")
    assert one.score > 0.99
    assert one.offset is not None
    assert one.offset < 0.4
    assert one.low <= one.score <= one.high
    assert one.is_sure


def test_the_other_direction_is_found_where_it_alone_is_there() -> None:
    read = sentences(100)
    weights = planted(read)[:, [DEPENDENT, EVEN]]
    trials = try_batch(read, range(100), [weights]).arcs
    one = find(HEADS[:2], *halves(trials))["obj"]
    assert (one.head, one.direction) == (0, "governor to dependent")
    # A governor of several looks at one of them; the others are still seen in their columns.
    assert one.score > 0.99


def test_a_head_of_a_fixed_offset_has_no_gain(both: tuple[BatchTrials, BatchTrials]) -> None:
    only = [part.arcs for part in both]
    previous = [
        type(one)(**{**vars(one), "right": one.right[..., [PREVIOUS]],
                     "shuffled": one.shuffled[..., [PREVIOUS]]})
        for one in only
    ]  # fmt: skip
    one = find([HEADS[PREVIOUS]], previous[0], previous[1])["det"]
    assert one.direction == "governor to dependent"
    assert one.offset == one.score == 1.0
    assert one.gain == 0
    assert not one.is_sure


def test_shuffled_trees_destroy_the_score(found: dict[str, Finding]) -> None:
    assert found["obj"].shuffled < 0.35
    assert found["det"].shuffled < 0.35


def test_neighbours_rare_words_and_antecedents(both: tuple[BatchTrials, BatchTrials]) -> None:
    near = find(HEADS, both[0].neighbours, both[1].neighbours, has_offset=False)
    assert near["previous word"].head == PREVIOUS
    assert near["previous word"].score > 0.99
    assert near["previous word"].offset is None
    rare = find(HEADS, both[0].rare, both[1].rare)["rarest word"]
    assert not rare.is_sure
    told = find(HEADS, both[0].antecedents, both[1].antecedents)["all"]
    assert (told.head, told.direction) == (GOVERNOR, "mention to antecedent")
    assert told.score == 1.0
    assert told.offset_name == "nearest 1"  # of these, the right one comes first


def test_shares_of_weight(both: tuple[BatchTrials, BatchTrials]) -> None:
    shares = both[1].shares
    special = shares.special.sum(0) / shares.n_words.sum()
    assert special[EVEN] == pytest.approx(0.5, abs=0.02)
    assert (shares.entropy[:, EVEN] > shares.entropy[:, PREVIOUS]).all()
    at_previous = shares.offsets[:, PREVIOUS, 9]  # of 10 before, the nearest
    assert (at_previous > shares.offsets[:, EVEN, 9]).all()


def test_random_weights_stand_beside_by_the_same_choice(
    both: tuple[BatchTrials, BatchTrials],
) -> None:
    torch.manual_seed(1)
    lots = []
    for read in (sentences(120)[:60], sentences(120)[60:]):
        layer = torch.rand(60, 4, N_WORDS + 1, N_WORDS + 1)
        lots.append(try_batch(read, range(60), [layer]).arcs)
    one = find(HEADS, both[0].arcs, both[1].arcs, [(lots[0], lots[1])])["obj"]
    assert one.random is not None
    assert 0 < one.random < 0.35


def spread(both: tuple[BatchTrials, BatchTrials], found: dict[str, Finding]) -> Spread:
    tables = [tabulate(part.arcs, list(found)) for part in both]
    return spread_of(HEADS, tables[0], tables[1], found)


def test_gains_tell_one_head_from_many(
    both: tuple[BatchTrials, BatchTrials], found: dict[str, Finding]
) -> None:
    told = spread(both, found)
    gain = np.array(told.gain)
    column = told.relations.index("obj")
    assert gain[GOVERNOR, column] > 0.6
    assert gain[EVEN, column] < 0.1
    of_obj = told.of_relation[column]
    assert 1 <= of_obj.n_effective <= 2.5  # two heads were planted
    assert set(of_obj.heads) == {"encoder.0.0", "encoder.0.1"}
    assert told.covered[-1] == pytest.approx(1, abs=0.01)
    assert told.few[0] in of_obj.heads


def test_a_causal_head_is_never_right_about_what_it_cannot_see() -> None:
    read = [StudiedSentence((0, 1, 2), (0, 1, 2), 3, ((0, 2, "obj"),))]
    weights = torch.tensor([[[[1.0, 0, 0], [0.5, 0.5, 0], [0.2, 0.2, 0.6]]]])
    trials = try_batch(read, [0], [weights]).arcs
    assert trials.right[:, 0].tolist() == [[False]]  # word 0 sees nothing but itself
    assert trials.right[:, 1].tolist() == [[False]]  # word 1 looks at it more than word 2 does
