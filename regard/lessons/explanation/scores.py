"""The eight scores of the lectures' table on one query and the same keys, side by side."""

from dataclasses import dataclass, replace

import torch
from torch import nn

from regard.attention import SCORES, Additive, Attended, Attention, Perceptron, build_score
from regard.errors import SizeError
from regard.lessons.explanation.steps import ExplainedStep, Explanation, NumberTable
from regard.shapes import Float, Tensor

N_KEYS = 4
MAX_WIDTH = 512

NOTES = {
    "dot": "no parameters; the longer a key, the stronger its yes or no",
    "scaled-dot": "dot with its spread held at 1 for any width; the Transformer's score",
    "additive": "a small network; query and key may have different widths",
    "general": "dot with a learned matrix between; bridges different widths",
    "concatenating": "linear, so the query adds the same to every score and the softmax drops it",
    "perceptron": "additive with W cut into W and U: given the same numbers, the same scores",
    "content": "the angle alone; the length of query and key does not count",
    "location": "the query alone chooses the place; the key is never looked at",
}


def explain_scores(width: int = 4, seed: int = 0) -> Explanation:
    """Compare the eight scores; inputs and parameters come from the seed."""
    scored = scored_keys(width, seed)
    query, keys, attentions = scored.query, scored.keys, scored.attentions
    places = [f"h{_below(i + 1)}" for i in range(N_KEYS)]
    # Turned around, every place gets another key: only a score that never looks will not notice.
    asked, by_other = scored.answers(query), scored.answers(scored.other)
    turned = replace(scored, keys=keys.flip(0)).answers(query)
    scores = torch.stack([a.score(query[None], keys[None])[0, 0] for a in attentions.values()])
    weights = torch.stack([answer.weights[0, 0] for answer in asked])
    changes = torch.stack(
        [_largest_change(asked, by_other), _largest_change(asked, turned)], dim=-1
    )
    names = list(SCORES)
    formulas = [(attention.score.formula, NOTES[name]) for name, attention in attentions.items()]
    return Explanation(
        topic="scores",
        title="Eight ways to score a key",
        lead=(
            "One query sₜ and the same keys h₁ … h₄ through every score of the lectures' table. "
            f"Inputs and parameters are random (seed {seed}), as in a model before training."
        ),
        steps=(
            ExplainedStep(
                "The query and the keys",
                "sₜ    h₁ … h₄",
                "As in Bahdanau's model the values are the keys themselves.",
                (
                    NumberTable.of("query", query, ["sₜ"], decimals=1),
                    NumberTable.of("keys", keys, places, decimals=1),
                ),
            ),
            ExplainedStep(
                "Score",
                "eᵢ = align( sₜ, hᵢ )",
                "How well does each key answer the query? "
                "In the formulas q is the query sₜ, k a key hᵢ.",
                (
                    NumberTable(
                        "formulas", tuple(names), ("formula", "note"), tuple(formulas), "text"
                    ),
                    NumberTable.of("scores", scores, names, places),
                ),
            ),
            ExplainedStep(
                "Normalise",
                "αᵢ = exp( eᵢ ) / Σⱼ exp( eⱼ )",
                "The same softmax for all; each row sums to 1.",
                (NumberTable.of("weights", weights, names, places, look="share"),),
            ),
            ExplainedStep(
                "Weighted sum",
                "cₜ = Σᵢ αᵢ hᵢ",
                "What the query brings back.",
                (NumberTable.of("result", torch.stack([a.context[0, 0] for a in asked]), names),),
            ),
            ExplainedStep(
                "What a score does not see",
                "max |Δα|",
                "The largest change of a weight when another query asks, and when the keys trade "
                "places (h₄ first). Zero means: this score does not look.",
                (
                    NumberTable.of(
                        "largest change",
                        changes,
                        names,
                        ["another query", "other keys"],
                        look="share",
                    ),
                ),
            ),
        ),
    )


@dataclass(frozen=True, eq=False)
class ScoredKeys:
    """A query, another one, the keys that both ask, and attention with each of the scores."""

    query: Float[Tensor, "1 E"]
    other: Float[Tensor, "1 E"]
    keys: Float[Tensor, "K E"]
    attentions: dict[str, Attention]

    def answers(self, query: Float[Tensor, "1 E"]) -> list[Attended]:
        """What a query finds among the keys by each score; the values are the keys."""
        keys = self.keys[None]
        return [attention(query[None], keys, keys) for attention in self.attentions.values()]


def scored_keys(width: int, seed: int) -> ScoredKeys:
    """Inputs and parameters of a seed."""
    if not 1 <= width <= MAX_WIDTH:
        raise SizeError(f"a width is 1 to {MAX_WIDTH} numbers, not {width}")
    generator = torch.Generator().manual_seed(seed)
    query, other = (_tenths(1, width, generator) for _ in range(2))
    keys = _tenths(N_KEYS, width, generator)
    return ScoredKeys(query, other, keys, _attentions(width, generator))


def _attentions(width: int, generator: torch.Generator) -> dict[str, Attention]:
    """Attention with each score; the perceptron gets the additive score's matrix, cut in two."""
    built = {name: Attention(build_score(name, width, width)) for name in SCORES}
    with torch.no_grad():
        for attention in built.values():
            for parameter in attention.parameters():
                parameter.uniform_(-1, 1, generator=generator)
    additive, perceptron = built["additive"].score, built["perceptron"].score
    assert isinstance(additive, Additive)
    assert isinstance(perceptron, Perceptron)
    perceptron.weight_query = nn.Parameter(additive.weight[..., :width])
    perceptron.weight_key = nn.Parameter(additive.weight[..., width:])
    perceptron.v = additive.v
    return {name: attention.requires_grad_(False) for name, attention in built.items()}


def _largest_change(before: list[Attended], after: list[Attended]) -> Float[Tensor, "8"]:
    pairs = zip(before, after, strict=True)
    return torch.stack([(b.weights - a.weights).abs().max() for b, a in pairs])


def _tenths(n: int, width: int, generator: torch.Generator) -> Float[Tensor, "n width"]:
    """Random numbers with one decimal, so that they can be checked by hand."""
    return (torch.randn(n, width, generator=generator) * 10).round() / 10


def _below(number: int) -> str:
    return "".join(chr(ord("₀") + int(digit)) for digit in str(number))
