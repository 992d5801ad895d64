"""Our own API for learners: the blocks of a model in numbers, for whatever one tries."""

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from regard.lessons.explanation.blocks import (
    MaskName,
    MaskNumbers,
    NormNumbers,
    PositionNumbers,
    ScoreNumbers,
    mask_numbers,
    norm_numbers,
    position_numbers,
    score_numbers,
)
from regard.serving.routes.schemas import PROBLEMS, Question

Real = Annotated[float, Field(ge=-1e6, le=1e6)]
Seed = Annotated[int, Field(ge=0, lt=2**63)]


class PositionsQuestion(Question):
    """How many places, and how many numbers (an even count) for each."""

    length: int = Field(32, ge=1, le=128)
    width: int = Field(64, ge=2, le=256)


class MasksQuestion(Question):
    """Which masks together; queries and keys are random."""

    masks: list[MaskName] = Field(default_factory=list, max_length=3)
    seed: Seed = 0


class NormsQuestion(Question):
    """Features (rows) of examples (columns); without a table, the lecture's."""

    table: (
        Annotated[
            list[Annotated[list[Real], Field(min_length=1, max_length=16)]],
            Field(min_length=1, max_length=16),
        ]
        | None
    ) = None


class ScoresQuestion(Question):
    """Keys and parameters are random; without a query, so is that."""

    seed: Seed = 0
    query: Annotated[list[Real], Field(min_length=4, max_length=4)] | None = None


def explain_routes() -> APIRouter:
    """The routes under /api/v1/explain; they need no model."""
    router = APIRouter(prefix="/api/v1/explain", tags=["explain"], responses=PROBLEMS)

    @router.post("/positions")
    def positions(question: PositionsQuestion) -> PositionNumbers:
        """The encoding of places as sines and cosines, and how alike places are."""
        return position_numbers(question.length, question.width)

    @router.post("/masks")
    def masks(question: MasksQuestion) -> MaskNumbers:
        """Who may look where, and what the softmax makes of it."""
        return mask_numbers(question.masks, question.seed)

    @router.post("/norms")
    def norms(question: NormsQuestion) -> NormNumbers:
        """Batch norm, layer norm and a residual on one table."""
        return norm_numbers(question.table)

    @router.post("/scores")
    def scores(question: ScoresQuestion) -> ScoreNumbers:
        """Eight ways to score the same keys."""
        return score_numbers(question.seed, question.query)

    return router
