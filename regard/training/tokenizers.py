"""Tokenizers of a run: learned once from what it reads, and then found in its folder."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from regard.checkpoint.replacing import replacing_folder
from regard.recipes import Recipe
from regard.text import Tokenizer, choose_vocabulary_size, learn
from regard.text import load as load_tokenizer

Sentences = Callable[[], Iterator[str]]  # from the beginning, every time it is called


def learned_tokenizers(
    recipe: Recipe,
    folder: Path,
    sides: Mapping[str, Sentences],
    *,
    n_sentences_a_pair: int = 1,
    keeps_layout: bool = False,
) -> list[Tokenizer]:
    """A tokenizer for each side by name, learned from its sentences unless the folder has it."""
    place = folder / "tokenizers"
    if not place.is_dir():
        folder.mkdir(parents=True, exist_ok=True)
        with replacing_folder(place) as filling:
            for name, sentences in sides.items():
                size = _size(recipe, sentences, n_sentences_a_pair)
                _learn(recipe, sentences, size, keeps_layout).save(filling / name)
    return [load_tokenizer(place / name) for name in sides]


def _learn(recipe: Recipe, sentences: Sentences, size: int | None, keeps_layout: bool) -> Tokenizer:
    text = recipe.text
    return learn(
        text.kind,
        sentences(),
        size,
        algorithm=text.algorithm,
        has_byte_fallback=text.has_byte_fallback,
        is_lowercase=text.is_lowercase,
        is_upper_limit=text.size == "auto",
        keeps_layout=keeps_layout,
        has_turns=recipe.training.task == "dialogue",
    )


def _size(recipe: Recipe, sentences: Sentences, n_sentences_a_pair: int) -> int | None:
    """As the recipe says, or what the data can carry; Chinese characters count as words."""
    if recipe.text.size != "auto":
        return recipe.text.size
    if recipe.text.kind != "sentencepiece":
        return None
    n_sentences, n_words, characters = 0, 0, dict[str, int]()
    for sentence in sentences():
        n_sentences += 1
        n_words += _count_words(sentence)
        for character in sentence:
            characters[character] = characters.get(character, 0) + 1
    often = sum(1 for count in characters.values() if count >= 5)
    # A vocabulary of one side is chosen as if the other, which it does not serve, had as many.
    return choose_vocabulary_size(
        n_sentences // n_sentences_a_pair, 2 * n_words / max(1, n_sentences), often
    )


def _count_words(text: str) -> int:
    chinese = sum("\u4e00" <= character <= "\u9fff" for character in text)
    return len(text.split()) + chinese
