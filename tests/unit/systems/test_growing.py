"""Text that grows token by token is the text of all its tokens."""

import random

import pytest

from regard.systems.growing import Growing
from regard.text import BytePairs, Placed, SentencePieceText, Tokenizer, Words, learn
from regard.text.byte_pairs import _LETTERS

LINES = ["the cat sat on the mat\n", "Élan 你好世界 😀, naïve café\n"] * 5
END = dict.fromkeys(("unknown", "begin", "end"), Placed("<|endoftext|>", 256))
TOKENIZERS: dict[str, Tokenizer] = {
    "byte-pairs": BytePairs(_LETTERS, [], END),
    "characters": learn("characters", LINES),
    "sentencepiece": SentencePieceText.train(LINES, 320, is_upper_limit=True, keeps_layout=True),
    "words": Words.train(LINES),
}


@pytest.mark.parametrize("kind", TOKENIZERS)
@pytest.mark.parametrize("opening", ["", "the cat"])
def test_a_long_text(kind: str, opening: str) -> None:
    tokenizer, draw = TOKENIZERS[kind], random.Random(1)
    begun = tokenizer.encode(opening)
    ids = [i for _ in range(6) for i in tokenizer.encode(draw.choice(LINES))]
    text = Growing(tokenizer, begun)
    before = len(tokenizer.decode(begun))
    for n, token in enumerate(ids, start=1):
        said = text.add(token)
        assert said == tokenizer.decode([*begun, *ids[:n]])[before:]
    assert "😀" in said or kind == "words"
