"""From text and ids to the sentences of a trace: every token in its place, and in its word."""

from collections.abc import Iterable, Iterator, Sequence

from regard.inspection.trace import BEGINNING, MASK, Sentence, Token, Word
from regard.special import BOS, EOS, NAMES
from regard.text import Tokenizer
from regard.text.going_on import going_on
from regard.text.placing import spans
from regard.text.words import split

Placed = tuple[int, str, int, int]  # id, how it is printed, and where it begins and ends


def whole(text: str, placed: Iterable[Placed], words: Sequence[Word] | None = None) -> Sentence:
    """A text and its tokens, each in the word at its first character, or the next one."""
    found = tuple(_words(text) if words is None else words)
    return Sentence(text, found, tuple(_in_words(placed, found)))


def ending(sentence: Sentence) -> Sentence:
    """The same with <EOS> after its tokens."""
    end = Token(EOS, NAMES[EOS], len(sentence.text), len(sentence.text), None)
    return Sentence(sentence.text, sentence.words, (*sentence.tokens, end), sentence.first)


def cut(tokenizer: Tokenizer, text: str, limit: int) -> tuple[Sentence, int]:
    """As many tokens of a text as are read, and how many are left out."""
    placed = list(given(tokenizer, text)) if split(text) else []
    return whole(text, placed[:limit]), max(0, len(placed) - limit)


def given(
    tokenizer: Tokenizer, text: str, offset: int = 0, *, goes_on: bool = False
) -> Iterator[Placed]:
    """The tokens of a text that somebody wrote, which begins so far in, or goes on from a gap."""
    for one in going_on(tokenizer, text) if goes_on else tokenizer.pieces(text):
        yield one.id, one.text, one.start + offset, one.end + offset


def written(
    tokenizer: Tokenizer, ids: Sequence[int], begun: Sequence[int] = (), before: str = ""
) -> tuple[str, list[Placed]]:
    """What a model wrote after a text ``before``, of those ids: the text, and its tokens."""
    text = tokenizer.decode([*begun, *ids])[len(tokenizer.decode(begun)) :]
    places = spans(tokenizer, ids, text, begun)
    n = len(before)
    return text, [
        (id_, tokenizer.token(id_), n + start, n + end)
        for id_, (start, end) in zip(ids, places, strict=True)
    ]


def gapped(tokenizer: Tokenizer, text: str, mask: int) -> Sentence:
    """A text between <BOS> and <EOS>, with [MASK] where words are missing."""
    words: list[Word] = []
    placed: list[Placed] = []
    start = 0
    for n, part in enumerate(text.split(MASK)):
        if n:
            words.append(Word(MASK, start, start + len(MASK)))
            placed.append((mask, MASK, start, start + len(MASK)))
            start += len(MASK)
        words += (Word(one.text, one.start + start, one.end + start) for one in split(part))
        placed += given(tokenizer, part, start, goes_on=n > 0)
        start += len(part)
    sentence = ending(whole(text, placed, words))
    return Sentence(text, sentence.words, (BEGINNING, *sentence.tokens))


def _words(text: str) -> Iterator[Word]:
    return (Word(one.text, one.start, one.end) for one in split(text))


def _in_words(placed: Iterable[Placed], words: Sequence[Word]) -> Iterator[Token]:
    at, place = 0, 0
    for id_, text, start, end in placed:
        # Tokens come in order, so the word is this one or a later one; the last has no next.
        place = max(place, start)
        while at + 1 < len(words) and place >= words[at].end:
            at += 1
        is_word = words and id_ not in (BOS, EOS)
        yield Token(id_, text, start, end, at if is_word else None)
