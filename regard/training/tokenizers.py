"""Tokenizers of a run: learned once from what it reads, and then found in its folder."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from regard.config import Recipe
from regard.errors import ModelFolderError
from regard.files import CHECKSUMS, first_damaged, whole_folder, write_checksums
from regard.text import Tokenizer, choose_vocabulary_size, learn, needed_characters
from regard.text import load as load_tokenizer
from regard.text.words import count_words

Sentences = Callable[[], Iterator[str]]  # from the beginning, every time it is called


def learned_tokenizers(
    recipe: Recipe,
    folder: Path,
    sides: Mapping[str, Sentences],
    *,
    n_sentences_a_pair: int = 1,
    keeps_layout: bool = False,
    has_turns: bool = False,
) -> list[Tokenizer]:
    """A tokenizer for each side by name, learned from its sentences unless the folder has it."""
    place = folder / "tokenizers"
    if not place.is_dir():
        with whole_folder(place) as filling:
            for name, sentences in sides.items():
                size = _size(recipe, sentences, n_sentences_a_pair)
                _learn(recipe, sentences, size, keeps_layout, has_turns).save(filling / name)
            write_checksums(filling)
    if (damaged := first_damaged(place)) is not None:
        raise ModelFolderError(
            f"{damaged} is damaged: its checksum is not the one in {CHECKSUMS} beside it; copy "
            f"{place} again from where it came from, or choose another --out"
        )
    return [load_tokenizer(place / name) for name in sides]


def _learn(
    recipe: Recipe, sentences: Sentences, size: int | None, keeps_layout: bool, has_turns: bool
) -> Tokenizer:
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
        has_turns=has_turns,
    )


def _size(recipe: Recipe, sentences: Sentences, n_sentences_a_pair: int) -> int | None:
    """As the recipe says, or what the data can carry; Chinese characters count as words."""
    if recipe.text.size != "auto":
        return recipe.text.size
    if not recipe.text.has_pieces:
        return None
    n_sentences, n_words, characters = 0, 0, Counter[str]()
    for sentence in sentences():
        n_sentences += 1
        n_words += count_words(sentence)
        characters.update(sentence)
    has_bytes = recipe.text.has_byte_fallback
    # A vocabulary of one side is chosen as if the other, which it does not serve, had as many.
    return choose_vocabulary_size(
        n_sentences // n_sentences_a_pair,
        2 * n_words / max(1, n_sentences),
        needed_characters(characters) if has_bytes else len(characters),
    )
