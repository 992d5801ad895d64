"""Traces made by hand, whose every number is known."""

from collections.abc import Callable

import numpy as np
import pytest

from regard.inspection.trace import (
    Alternative,
    Kind,
    Provenance,
    Sentence,
    Token,
    Trace,
    TracedPicture,
    TracedSite,
    TracedStep,
    Word,
)

MakeTrace = Callable[..., Trace]


def sentence(words: list[str]) -> Sentence:
    """One token a word, a space between words."""
    text, places, at = " ".join(words), [], 0
    for word in words:
        places.append(Word(word, at, at + len(word)))
        at += len(word) + 1
    tokens = [Token(10 + i, w.text, w.start, w.end, i) for i, w in enumerate(places)]
    end = Token(3, "</s>", len(text), len(text), None)
    return Sentence(text, tuple(places), (*tokens, end))


def softmax(scores: np.ndarray) -> np.ndarray:
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return (shares / shares.sum(-1, keepdims=True)).astype(np.float32)


@pytest.fixture
def make_trace() -> MakeTrace:
    """A trace of these words, with so many layers and heads of random weights."""

    def make(
        source: list[str] | None = None,
        target: list[str] | None = None,
        *,
        n_layers: int = 3,
        n_heads: int = 2,
        kinds: tuple[Kind, ...] = ("encoder", "decoder", "cross"),
        has_positions: bool = True,
    ) -> Trace:
        generator = np.random.default_rng(4)
        read = sentence(source or ["the", "动物", "was", "tired", "."])
        written = sentence(target or ["das", "Tier", "war", "müde"])
        sizes = {"encoder": (read, read), "decoder": (written, written), "cross": (written, read)}
        sites = []
        for kind in kinds:
            n_rows, n_columns = (len(side.tokens) for side in sizes[kind])
            for layer in range(n_layers):
                scores = 2 * generator.normal(size=(n_heads, n_rows, n_columns))
                if kind == "decoder":
                    scores = np.where(np.tri(n_rows, dtype=bool), scores, -np.inf)
                sites.append(TracedSite(kind, layer, softmax(scores), (False,) * n_heads))
        steps = tuple(
            TracedStep(
                -0.1 * (t + 1), tuple(Alternative(10 + k, f"w{k}", -0.5 - k) for k in range(5))
            )
            for t in range(len(written.tokens))
        )
        positions = generator.normal(size=(11, 6)).astype(np.float32) if has_positions else None
        origin = Provenance("tiny", "transformer", "tiny", 7, "0.0", is_forced=False)
        aligning = max(0, n_layers - 2) if "cross" in kinds else None
        return Trace(read, written, tuple(sites), steps, origin, aligning, {}, positions)

    return make


@pytest.fixture
def make_caption() -> MakeTrace:
    """A trace of words about a picture of 12 × 20 pixels in 3 × 5 cells: word k looks at cell k."""

    def make(words: list[str] | None = None, *, n_heads: int = 1, name: str = "dog.png") -> Trace:
        written = sentence(words or ["a", "红色", "dog"])
        pixels = np.random.default_rng(5).integers(90, 256, (12, 20, 3), dtype=np.uint8)
        n = len(written.tokens)
        weights = np.full((n_heads, n, 15), 0.02, np.float32)
        weights[:, range(n), range(n)] = 0.72
        steps = tuple(
            TracedStep(-0.1, (Alternative(token.id, token.text, -0.1),)) for token in written.tokens
        )
        return Trace(
            TracedPicture(pixels, (3, 5), name),
            written,
            (TracedSite("cross", 0, weights, (False,) * n_heads),),
            steps,
            Provenance("shapes", "captioner", "captions", 7, "0.0", is_forced=False),
            aligning=0,
        )

    return make
