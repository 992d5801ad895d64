"""Captions are measured as COCO's own tools measure them."""

import random

import pytest

from regard.evaluation import judge_captions

bleu = pytest.importorskip("pycocoevalcap.bleu.bleu", reason="pycocoevalcap is not installed")
cider = pytest.importorskip("pycocoevalcap.cider.cider", reason="pycocoevalcap is not installed")
rouge = pytest.importorskip("pycocoevalcap.rouge.rouge", reason="pycocoevalcap is not installed")

WORDS = [
    "a",
    "dog",
    "runs",
    "on",
    "the",
    "grass",
    "with",
    "two",
    "people",
    "in",
    "red",
    "and",
    "jumps",
    "over",
    "water",
]


def _captions(n: int, seed: int) -> tuple[list[list[str]], list[list[list[str]]]]:
    """Captions that share some of their references' words, in part of their order."""
    chance = random.Random(seed)
    references = [
        [chance.choices(WORDS, k=chance.randint(1, 14)) for _ in range(chance.randint(1, 5))]
        for _ in range(n)
    ]
    captions = [
        [word if chance.random() < 0.7 else chance.choice(WORDS) for word in others[0]][
            : chance.randint(1, 12)
        ]
        for others in references
    ]
    return captions, references


@pytest.mark.parametrize(("n", "seed"), [(1, 0), (2, 1), (40, 2), (150, 3)])
def test_numbers_are_those_of_pycocoevalcap(n: int, seed: int) -> None:
    captions, references = _captions(n, seed)
    mine = judge_captions(captions, references)
    written = {i: [" ".join(one)] for i, one in enumerate(captions)}
    gold = {i: [" ".join(one) for one in others] for i, others in enumerate(references)}
    theirs, _ = bleu.Bleu(4).compute_score(gold, written, verbose=0)
    assert mine.bleu == pytest.approx([100 * one for one in theirs], abs=1e-4)
    assert mine.rouge_l == pytest.approx(100 * rouge.Rouge().compute_score(gold, written)[0])
    assert mine.cider_d == pytest.approx(100 * cider.Cider().compute_score(gold, written)[0])
