"""Quality by length: every sentence counted once, in the part its source belongs to."""

import pytest

from regard.errors import UsageError
from regard.evaluation import measure_by_length
from regard.evaluation.measures import build_measure

REFERENCES = [f"the cat number {i} sat on the mat today" for i in range(8)]
LENGTHS = [9, 3, 3, 7, 12, 3, 7, 5]


def test_sentences_go_where_their_source_belongs() -> None:
    outputs = [line if LENGTHS[i] < 6 else "no" for i, line in enumerate(REFERENCES)]
    short, long = measure_by_length(outputs, REFERENCES, LENGTHS, n_parts=2)
    assert (short.shortest, short.longest, short.n_sentences) == (3, 5, 4)
    assert (long.shortest, long.longest, long.n_sentences) == (7, 12, 4)
    assert short.score == pytest.approx(100.0)
    assert long.score < 1


def test_a_part_has_the_score_of_its_sentences() -> None:
    outputs = [line.replace("sat", "lay") if i % 2 else line for i, line in enumerate(REFERENCES)]
    (only,) = measure_by_length(outputs, REFERENCES, LENGTHS, n_parts=1, measure="chrf")
    whole = build_measure("chrf", "13a").corpus_score(outputs, [REFERENCES])
    assert only.score == pytest.approx(whole.score)
    assert only.n_sentences == len(outputs)


def test_sentences_of_one_length_stay_together() -> None:
    parts = measure_by_length(REFERENCES, REFERENCES, [4] * 7 + [5], n_parts=4)
    assert [(part.shortest, part.longest, part.n_sentences) for part in parts] == [
        (4, 4, 7),
        (5, 5, 1),
    ]


def test_what_cannot_be_parted_is_refused() -> None:
    with pytest.raises(UsageError, match="8 outputs need as many lengths, not 2"):
        measure_by_length(REFERENCES, REFERENCES, [1, 2])
    with pytest.raises(UsageError, match="parted into 0: give 1 or more"):
        measure_by_length(REFERENCES, REFERENCES, LENGTHS, n_parts=0)
