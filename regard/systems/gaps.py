"""A text with gaps: the tokens around them, and the words that fill them."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

from regard.errors import UsageError
from regard.inspection.trace import MASK, Sentence
from regard.shapes import Float, Tensor
from regard.special import UNKNOWN
from regard.text import sentences
from regard.text.sentences import Placed

if TYPE_CHECKING:
    from regard.systems.filling import TextEncoder


def with_gaps(finder: "TextEncoder", text: str) -> Sentence:
    """The text as the model reads it."""
    source = sentences.gapped(finder.tokenizer, text, finder.model.mask)
    if len(source.tokens) == 2:
        raise UsageError("there is nothing to look at: the sentence is empty")
    finder.check(len(source.tokens))
    return source


def read(finder: "TextEncoder", source: Sentence) -> Float[Tensor, "1 L V"]:
    """The logits at every place."""
    ids = torch.tensor([[token.id for token in source.tokens]], device=finder.device)
    logits: Tensor = finder.model(ids)
    return logits


def at_gaps(
    finder: "TextEncoder", source: Sentence, logits: Float[Tensor, "L V"]
) -> Float[Tensor, "N V"]:
    """Those at the gaps, where words alone can stand."""
    return finder.words_alone(logits[list(source.gaps)])


def given_words(finder: "TextEncoder", source: Sentence, target: str) -> list[int]:
    """The tokens that stand in the target where the source has gaps."""
    other = sentences.gapped(finder.tokenizer, target, finder.model.mask)
    gaps = set(source.gaps)
    pairs = enumerate(zip(source.tokens, other.tokens, strict=False))
    is_same = len(source.tokens) == len(other.tokens) and not other.gaps
    if is_same and all(a.id == b.id for place, (a, b) in pairs if place not in gaps):
        found = [other.tokens[place].id for place in source.gaps]
    else:
        found = _between(finder, source.text.split(MASK), target)
    if UNKNOWN in found:
        raise UsageError(f"the model does not know a word that the target has for {MASK}")
    return found


def _between(finder: "TextEncoder", parts: list[str], target: str) -> list[int]:
    """The same by what is written: a piece of the whole target may span a gap and its neighbour."""
    match = re.fullmatch("(.+?)".join(map(re.escape, parts)), target, re.DOTALL)
    words = match.groups() if match else ()
    found = []
    for before, word in zip(parts, words, strict=False):
        is_apart = not before or before[-1].isspace()
        placed = [*sentences.given(finder.tokenizer, word, goes_on=not is_apart)]
        found += [placed[0][0]] if len(placed) == 1 else []
    if match is None or len(found) < len(words):
        raise UsageError(
            f"the target is not the sentence with one token in place of each {MASK}: give all its "
            "other words as they are"
        )
    return found


def filled(finder: "TextEncoder", source: Sentence, found: Sequence[int]) -> Sentence:
    """The text with words in its gaps; its tokens are those that were found."""
    placed: list[Placed] = []
    first, *parts = source.text.split(MASK)
    text = first
    for id_, part in zip(found, parts, strict=True):
        word = finder.tokenizer.decode([id_]).strip()
        placed.append((id_, finder.tokenizer.token(id_), len(text), len(text) + len(word)))
        text += word + part
    return sentences.whole(text, placed)
