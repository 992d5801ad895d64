"""What the blocks show when no model is served: answers to a few questions, and the lectures' cell.

    $ python studio/canned_blocks.py

The encoding of 64 places is also that of fewer; a slider of a query has nine places.
"""

import itertools
import json
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel
from recorded import (
    RecordedBlocks,
    RecordedLecture,
    RecordedMasks,
    RecordedNorms,
    RecordedPositions,
    RecordedScores,
    RecordedVectors,
    recorded_vectors,
)

from regard.lessons.explanation import LECTURE_TABLE, worked_numbers
from regard.lessons.explanation.blocks import (
    MaskName,
    mask_numbers,
    norm_numbers,
    position_numbers,
    score_numbers,
)
from regard.lessons.explanation.lecture import WORDS
from regard.serving.application import RECORDED
from regard.serving.routes.explain import (
    MasksQuestion,
    NormsQuestion,
    PositionsQuestion,
    ScoresQuestion,
)

PLACE = RECORDED / "canned.blocks.json"
LECTURE = Path(__file__).with_name("src") / "lecture.json"
SHARED = ("may_see", "divisor")  # by all heads
LENGTH, WIDTHS = 64, (8, 16, 32, 64)
SEEDS = (1, 2, 3, 4)
TABLES = (
    LECTURE_TABLE,
    ((2, 2, 2), (4, 4, 4), (6, 6, 6), (1, 1, 1), (3, 3, 3), (8, 8, 8)),
    ((1, 10, 100), (2, 20, 200), (3, 30, 300), (4, 40, 400), (5, 50, 500), (6, 60, 600)),
)
TRIED = [n / 2 for n in range(-4, 5)]  # of one number of a query
DIGITS = 4


def blocks() -> RecordedBlocks:
    """Every question that the page offers without a service, and its answer."""
    return RecordedBlocks(
        positions=[
            RecordedPositions(
                question=PositionsQuestion(length=LENGTH, width=width),
                answer=position_numbers(LENGTH, width),
            )
            for width in WIDTHS
        ],
        masks=[
            RecordedMasks(
                question=MasksQuestion(masks=list(chosen), seed=seed),
                answer=mask_numbers(chosen, seed),
            )
            for seed in SEEDS
            for n in range(4)
            for chosen in itertools.combinations(get_args(MaskName), n)
        ],
        norms=[
            RecordedNorms(question=NormsQuestion(table=table), answer=norm_numbers(table))
            for table in ([list(map(float, row)) for row in one] for one in TABLES)
        ],
        scores=[
            RecordedScores(question=question, answer=score_numbers(question.seed, question.query))
            for seed in SEEDS
            for question in tried(seed)
        ],
    )


def tried(seed: int) -> list[ScoresQuestion]:
    """The seed's own query, and those that differ from it in one number."""
    own = [round(one, 1) for one in score_numbers(seed).query]
    others = [[*own[:i], value, *own[i + 1 :]] for i in range(len(own)) for value in TRIED]
    return [ScoresQuestion(seed=seed), *(ScoresQuestion(seed=seed, query=one) for one in others)]


def lecture() -> RecordedLecture:
    """The worked example's first head."""
    numbers = worked_numbers()
    one = {name: array if name in SHARED else array[:1] for name, array in numbers.items()}
    vectors = RecordedVectors(**recorded_vectors("encoder", 0, one))
    return RecordedLecture(words=list(WORDS), vectors=vectors, weights=one["weights"].tolist())


def written(recorded: BaseModel) -> str:
    """The content of a file."""
    plain = _short(recorded.model_dump(mode="json"))
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":")) + "\n"


def _short(value: Any) -> Any:
    if isinstance(value, float):
        short = round(value, DIGITS)
        return int(short) if short == int(short) else short
    if isinstance(value, list):
        return [_short(one) for one in value]
    return {key: _short(one) for key, one in value.items()} if isinstance(value, dict) else value


if __name__ == "__main__":
    PLACE.write_text(written(blocks()), "utf-8")
    LECTURE.write_text(written(lecture()), "utf-8")
