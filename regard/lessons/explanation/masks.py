"""Masks: who may look where, before and after the softmax."""

import math
from collections.abc import Sequence

import torch

from regard.attention import Attended, Attention, ScaledDot, masks
from regard.errors import SizeError
from regard.inspection.recording import record
from regard.lessons.explanation.steps import ExplainedStep, Explanation, NumberTable
from regard.shapes import Bool, Float, Tensor

STORY = (
    "As", "aliens", "entered", "our", "planet", "and", "began", "to", "colonize", "earth",
    "a", "certain", "group", "of", "extraterrestrials",
)  # fmt: skip
MAX_LENGTH = 64
WIDTH = 8


def explain_masks(length: int = 6, reach: int = 1, seed: int = 0) -> Explanation:
    """Show every mask on the scores of one small sentence of random vectors."""
    if not 2 <= length <= MAX_LENGTH:
        raise SizeError(f"a sentence to mask has 2 to {MAX_LENGTH} words, not {length}")
    if reach > MAX_LENGTH:
        raise SizeError(f"a window to look at reaches 0 to {MAX_LENGTH} places, not {reach}")
    sentence = MaskedSentence.random(length, seed)
    words = sentence.words
    padded, n_real = padded_words(words)
    causal = masks.causal(length)[0]
    padding = masks.padding(torch.tensor([n_real]), length)[0]
    window = masks.window(length, reach=reach)[0]
    one_blind = torch.ones(length, length, dtype=torch.bool)
    one_blind[length // 2] = False
    show = _Shown(sentence)
    places = "place" if reach == 1 else "places"
    return Explanation(
        topic="masks",
        title="Who may look where",
        lead=(
            "A mask is a table of yes and no: 1 = may attend. Where it says no, the score becomes "
            f"-∞ before the softmax, and the weight 0 after it. Queries and keys are random "
            f"(seed {seed})."
        ),
        steps=(
            ExplainedStep(
                "No mask",
                "α = softmax( e )",
                "Every word sees every word. Row: the word that asks.",
                (show.scores(None, "scores"), show.weights(None, "weights")),
            ),
            ExplainedStep(
                "Causal: the upper triangle",
                "e(i, j) = -∞  where  j > i",
                "A decoder writes from left to right: no word may see a later one.",
                show.all_three(causal, "causal"),
            ),
            ExplainedStep(
                "Padding",
                f"e(i, j) = -∞  where  j ≥ {n_real}",
                "Sentences of one batch are filled up to the same length; "
                f"here only the first {n_real} words are real.",
                show.all_three(padding.expand(1, length, length), "padding", padded),
            ),
            ExplainedStep(
                "Window",
                f"e(i, j) = -∞  where  |i - j| > {reach}",
                f"Local attention sees at most {reach} {places} to each side: "
                '"set the unwanted α to 0".',
                show.all_three(window, "window"),
            ),
            ExplainedStep(
                "All together",
                "causal & padding & window",
                "Masks are combined with &: a word sees what all of them allow.",
                show.all_three(causal & padding & window, "combined", padded),
            ),
            ExplainedStep(
                "A word that may see nothing",
                "α(i) = 0",
                "A softmax over nothing but -∞ is 0 / 0, and one NaN spoils every layer above. "
                f"Here {words[length // 2]!r} may see nothing: Regard gives it zeros.",
                (
                    show.naive(one_blind[None], "softmax alone"),
                    show.weights(one_blind[None], "weights with an empty row"),
                ),
            ),
        ),
    )


def padded_words(words: Sequence[str]) -> tuple[list[str], int]:
    """A sentence that is shorter than its batch, and how many of its words are real."""
    n_real = len(words) - max(1, len(words) // 3)
    return [*words[:n_real], *["<pad>"] * (len(words) - n_real)], n_real


class MaskedSentence:
    """Words with random queries and keys; their weights under any mask."""

    def __init__(
        self, query: Float[Tensor, "1 L E"], key: Float[Tensor, "1 L E"], words: list[str]
    ) -> None:
        self.query, self.key, self.words = query, key, words
        self.attention = Attention(ScaledDot(WIDTH, WIDTH))

    @classmethod
    def random(cls, length: int, seed: int) -> "MaskedSentence":
        """So many words of a story, with vectors of the seed."""
        words = [STORY[i] if i < len(STORY) else f"word {i}" for i in range(length)]
        generator = torch.Generator().manual_seed(seed)
        query, key = (torch.randn(1, length, WIDTH, generator=generator) for _ in range(2))
        return cls(query, key, words)

    def weights(self, mask: Bool[Tensor, "1 L L"] | None) -> Float[Tensor, "L L"]:
        """What attention makes of the scores."""
        attended: Attended = self.attention(self.query, self.key, self.key, mask)
        return attended.weights[0]


class _Shown:
    """One sentence's scores and weights as tables, under any mask."""

    def __init__(self, sentence: MaskedSentence) -> None:
        self.sentence, self.words = sentence, sentence.words
        with record(sentence.attention, "scores") as heard:
            sentence.weights(None)
        self.unmasked = heard["scores"][0]

    def all_three(
        self, mask: Bool[Tensor, "1 L L"], name: str, words: list[str] | None = None
    ) -> tuple[NumberTable, ...]:
        """The mask itself, the scores under it, the weights that come of them."""
        shown = words or self.words
        return (
            NumberTable.of(f"{name} mask", mask[0].long(), shown, shown, look="share"),
            self.scores(mask, f"{name} scores", shown),
            self.weights(mask, f"{name} weights", shown),
        )

    def scores(
        self, mask: Bool[Tensor, "1 L L"] | None, name: str, words: list[str] | None = None
    ) -> NumberTable:
        """The scores, -∞ where nobody may look."""
        hidden = self.unmasked if mask is None else self.unmasked.masked_fill(~mask[0], -math.inf)
        return NumberTable.of(name, hidden, words or self.words, words or self.words)

    def weights(
        self, mask: Bool[Tensor, "1 L L"] | None, name: str, words: list[str] | None = None
    ) -> NumberTable:
        """What attention makes of the scores."""
        weights = self.sentence.weights(mask)
        return NumberTable.of(name, weights, words or self.words, words or self.words, look="share")

    def naive(self, mask: Bool[Tensor, "1 L L"], name: str) -> NumberTable:
        """What a softmax without precaution makes of them."""
        weights = self.unmasked.masked_fill(~mask[0], -math.inf).softmax(-1)
        return NumberTable.of(name, weights, self.words, self.words, look="share")
