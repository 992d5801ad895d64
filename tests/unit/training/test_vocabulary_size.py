"""The automatic vocabulary has pieces longer than a character, however small the data."""

import random
from collections.abc import Callable, Iterator
from itertools import accumulate
from pathlib import Path

import pytest

from regard.config import read_recipe
from regard.text import Tokenizer
from regard.training.tokenizers import learned_tokenizers

HAN = [chr(0x4E00 + 5 * i) for i in range(4_000)]
KANA = [chr(c) for c in range(0x3042, 0x3092)]
ENGLISH_SYLLABLES = [a + b for a in "bcdfghlmnprstw" for b in ("a", "e", "in", "on", "ar", "ed")]
GERMAN_SYLLABLES = [a + b for a in "bdfghklmnrstwz" for b in ("en", "er", "ei", "ä", "ung", "a")]

Language = Callable[[int], list[str]]


def zipf(words: list[str], n_sentences: int, length: int, space: str, seed: int) -> list[str]:
    """Sentences of words whose frequency falls with their rank, as in any language."""
    weights = list(accumulate((rank + 3) ** -1.05 for rank in range(len(words))))
    drawn = random.Random(seed).choices(words, cum_weights=weights, k=n_sentences * length)
    return [space.join(drawn[i : i + length]) for i in range(0, len(drawn), length)]


def lexicon(characters: list[str], n: int, most: int, seed: int) -> list[str]:
    """Words that are the shorter the more frequent they are; each character has its own rank."""
    draw = random.Random(seed)
    weights = list(accumulate((rank + 5) ** -0.9 for rank in range(len(characters))))
    lengths = [min(most, 1 + draw.randrange(1 + rank.bit_length() // 4)) for rank in range(n)]
    return ["".join(draw.choices(characters, cum_weights=weights, k=k)) for k in lengths]


def chinese(n: int) -> list[str]:
    return zipf(lexicon(HAN, 15_000, 3, 1), n, 6, "", 2)


def japanese(n: int) -> list[str]:
    words = lexicon(HAN, 10_000, 2, 3)
    endings = lexicon(KANA, 400, 3, 4)
    pairs = zip(zipf(words, n, 4, " ", 5), zipf(endings, n, 4, " ", 6), strict=True)
    return ["".join(a + b for a, b in zip(x.split(), y.split(), strict=True)) for x, y in pairs]


def english(n: int) -> list[str]:
    return zipf(lexicon(ENGLISH_SYLLABLES, 12_000, 4, 7), n, 8, " ", 8)


def german(n: int) -> list[str]:
    return zipf(lexicon(GERMAN_SYLLABLES, 25_000, 5, 9), n, 8, " ", 10)


def tokenizer(sides: tuple[list[str], ...], folder: Path, *changes: str) -> Tokenizer:
    def sentences() -> Iterator[str]:
        return (sentence for pair in zip(*sides, strict=True) for sentence in pair)

    recipe = read_recipe("transformer-tiny", list(changes))
    (learned,) = learned_tokenizers(recipe, folder, {"joint": sentences}, n_sentences_a_pair=2)
    return learned


def tokens_for(learned: Tokenizer, sentences: list[str], units: Callable[[str], int]) -> float:
    some = sentences[:500]
    return sum(map(len, learned.encode_many(some))) / sum(map(units, some))


def words(sentence: str) -> int:
    return len(sentence.split())


@pytest.mark.parametrize(
    ("n_pairs", "source", "units", "most"),
    [
        (n, language, units, most)
        for language, units, most, sizes in (
            (chinese, len, 1.25, (500, 2_000, 3_000, 5_000, 10_000, 50_000)),
            (japanese, len, 1.25, (500, 3_000)),
            (german, words, 2.6, (500, 3_000, 20_000)),
        )
        for n in sizes
    ],
)
def test_words_are_not_spelt(n_pairs, source, units, most, tmp_path):
    sides = source(n_pairs), english(n_pairs)
    learned = tokenizer(sides, tmp_path)
    assert tokens_for(learned, sides[0], units) < most
    assert tokens_for(learned, sides[1], words) < (2.4 if n_pairs < 2_000 else 2.1)
    assert len(learned) < 2_500 + n_pairs  # and no more ids than so little text can teach


def test_a_size_that_is_given_is_kept_and_has_merges_too(tmp_path):
    """It was refused before: the characters that cover 99.95 % of the text need more."""
    sides = chinese(3_000), english(3_000)
    learned = tokenizer(sides, tmp_path, "text.size=2000")
    assert len(learned) == 2_000
    assert tokens_for(learned, sides[1], words) < 2.6


def test_without_bytes_every_character_has_an_id_and_there_are_merges(tmp_path):
    sides = chinese(2_000), english(2_000)
    learned = tokenizer(sides, tmp_path, "text.has_byte_fallback=false")
    assert all(1 not in ids for ids in learned.encode_many(sides[0]))
    assert tokens_for(learned, sides[1], words) < 2.1
