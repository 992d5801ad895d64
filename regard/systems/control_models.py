"""What a model is held against: n-gram models of its own training text, and itself untrained."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import torch

from regard.counting import counted
from regard.data import documents, parse_text, read_corpus
from regard.errors import DataError, RegardError
from regard.evaluation.ngrams import CountedText, NgramModel
from regard.systems.opened import OpenedModel
from regard.systems.system import build
from regard.text.prose import sentences_of
from regard.text.words import cut

Held = TypeVar("Held", bound=OpenedModel)
ORDER = 5
MOST_WORDS = 20_000_000  # that are counted: about 1.5 GB
_SEED = 1  # of the model that has learned nothing


def ngram_models(text: CountedText) -> dict[str, NgramModel]:
    """A 5-gram and a unigram model, by name."""
    return {f"{ORDER}-gram": NgramModel(text, ORDER), "unigram": NgramModel(text, 1)}


def count_text(
    opened: OpenedModel, text: str | Path | None, most: int = MOST_WORDS
) -> tuple[CountedText | None, str]:
    """The words of a file, or of what the model itself learned from; and what to say of them."""
    name = "" if text is None else str(text)
    try:
        sentences = _learned(opened) if text is None else _sentences([name])
        counted_text = CountedText.of(map(cut, sentences), most=most)
    except RegardError as error:
        if text is not None:
            raise
        return None, f"No n-gram models: {_without_stop(error)}. --text FILE names the text."
    said = (
        f"n-grams: {counted(int((counted_text.at > 0).sum()), 'word')} of {name or 'its own data'}"
    )
    left_out = counted_text.n_left_out
    return counted_text, f"{said}, {left_out:,} more left out." if left_out else f"{said}."


def untrained(opened: Held) -> Held:
    """The same model as it was before it learned anything."""
    loaded = opened.loaded
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)
        sizes = len(loaded.source_tokenizer), len(loaded.target_tokenizer)
        model = build(loaded.recipe.model, *sizes).to(opened.device)
    model.eval().requires_grad_(False)
    return replace(opened, loaded=replace(loaded, model=model))


def _learned(opened: OpenedModel) -> Iterator[str]:
    """What a model that writes learned to write."""
    data, kinds = opened.loaded.recipe.data, opened.system.data
    if not data.train:
        raise DataError(f"{opened.loaded.path} does not say what it was trained on.")
    if "text" in kinds:
        return _sentences(data.train)
    return (pair.target for pair in read_corpus(data.train))


def _sentences(names: Sequence[str]) -> Iterator[str]:
    for lines in documents([parse_text(name) for name in names]):
        yield from sentences_of(lines)


def _without_stop(error: Exception) -> str:
    return str(error).rstrip(".")
