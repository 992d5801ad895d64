"""Into how many tokens a tokenizer cuts a word: its fertility (Rust et al. 2021)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from regard.text.tokenizer import Tokenizer
from regard.text.words import count_written_together

_SENTENCES = 2_000  # are measured: enough for two digits
_SPELT = {"word": 3.5, "character": 1.7}  # tokens; above this, little but letters or bytes is left

# Thai and Lao, Burmese, Khmer: like Chinese and Japanese, they have no spaces between words.
_NO_SPACES = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")


@dataclass(frozen=True)
class Fertility:
    """Tokens a word; of languages without spaces between words, tokens a character."""

    tokens: float
    unit: Literal["word", "character"]

    @property
    def is_spelt(self) -> bool:
        """Whether next to no token is longer than a letter, or than a byte of a character."""
        return self.tokens > _SPELT[self.unit]

    def __str__(self) -> str:
        return f"{self.tokens:.2f} tokens a {self.unit}"


def measure_fertility(tokenizer: Tokenizer, sentences: Iterable[str]) -> Fertility:
    """The fertility of a tokenizer, over the first sentences of a text."""
    some = list(islice(sentences, _SENTENCES))
    n_tokens = sum(map(len, tokenizer.encode_many(some)))
    n_characters = sum(len("".join(one.split())) for one in some)
    n_together = sum(count_written_together(one) + len(_NO_SPACES.findall(one)) for one in some)
    if 2 * n_together > n_characters:
        return Fertility(n_tokens / n_characters, "character")
    return Fertility(n_tokens / max(1, sum(len(one.split()) for one in some)), "word")
