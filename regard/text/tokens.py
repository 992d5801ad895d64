"""A text as a model sees it: its characters, its words, and its tokens, each in its place."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from regard.special import BOS, EOS, NAMES, PAD

MASK = "[MASK]"  # where a word was taken out
_SPACE = "▁"  # how sentencepiece writes a space
_CONTINUES = "·"  # before a token that goes on with a word
_NOTHING, _NEW_LINE = "␣", "↵"  # for a token that covers spaces alone, or ends a line


@dataclass(frozen=True, slots=True)
class Word:
    """A word, a Chinese character or a sign, and where it stands in the string."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Token:
    """One token, with the characters of the original string it stands for.

    ``text[start:end]`` is what the token covers, without the spaces around it. Tokens that share a
    character (its bytes, or the letters of a ligature) all cover that whole character. ``word`` is
    an index into ``words.split(text)``, or None if the token is special.
    """

    id: int
    text: str  # as the tokenizer prints it
    start: int
    end: int
    word: int | None = None

    @property
    def is_special(self) -> bool:
        """Whether it marks a place and stands for no text; an unknown word is a word."""
        return self.id in (PAD, BOS, EOS)


BEGINNING = Token(BOS, NAMES[BOS], 0, 0)


@dataclass(frozen=True)
class Label:
    """What a row or column is called, and the places of the tokens that it stands for."""

    text: str
    places: tuple[int, ...]
    is_special: bool = False


@dataclass(frozen=True)
class Sentence:
    """A text with its words, and its tokens in the order in which the model reads or writes them.

    What a decoder reads before it writes the first of them is not among them: ``first``, which is
    <BOS> unless it is said.
    """

    text: str
    words: tuple[Word, ...]
    tokens: tuple[Token, ...]
    first: Token | None = None

    @property
    def read(self) -> tuple[Token, ...]:
        """What a decoder reads while it writes these tokens: the first, then all but the last."""
        return (self.first or BEGINNING, *self.tokens[:-1])

    @property
    def gaps(self) -> tuple[int, ...]:
        """The places of tokens that stand for words taken out."""
        return tuple(place for place, token in enumerate(self.tokens) if token.text == MASK)

    def labels(self, tokens: Sequence[Token], *, merges: bool) -> tuple[Label, ...]:
        """A label for every token, or for every word that they spell."""
        return self._words(tokens) if merges else self._tokens(tokens)

    def _tokens(self, tokens: Sequence[Token]) -> tuple[Label, ...]:
        marks = any(token.text.startswith(_SPACE) for token in tokens)
        labels, before = [], None
        for place, token in enumerate(tokens):
            text = printed(token.text)
            if marks and token.word is not None and token.word == before:
                text = f"{_CONTINUES}{text}"
            labels.append(Label(text, (place,), token.is_special))
            before = token.word
        return tuple(labels)

    def _words(self, tokens: Sequence[Token]) -> tuple[Label, ...]:
        """Tokens of one word go together; so do words that share a token ("动物" as one piece)."""
        labels: list[Label] = []
        start = end = -1
        for place, token in enumerate(tokens):
            word = None if token.word is None else self.words[token.word]
            if word is None:
                labels.append(Label(token.text, (place,), is_special=True))
                start = end = -1
            elif start >= 0 and word.start < end:
                end = max(end, word.end, token.end)
                labels[-1] = Label(self.text[start:end], (*labels[-1].places, place))
            else:
                start, end = word.start, max(word.end, token.end)
                labels.append(Label(self.text[start:end], (place,)))
        return tuple(labels)


def printed(token: str) -> str:
    """A token as it is shown: without its space, but never as nothing."""
    return token.replace(_SPACE, " ").strip() or (_NEW_LINE if "\n" in token else _NOTHING)


def in_one_line(text: str) -> str:
    """A text as it is shown where there is one line: ends of lines are a sign."""
    return text.strip().replace("\n", _NEW_LINE)


def word_at(words: Sequence[Word], starts: Sequence[int], position: int) -> int:
    """The index of the word at a character, or of the next one where the character is a space."""
    i = bisect_right(starts, position) - 1
    if i < 0 or position >= words[i].end:
        i += 1
    return max(0, min(i, len(words) - 1))


def without_spaces(text: str, start: int, end: int) -> tuple[int, int]:
    """Leave out the spaces around what is covered, unless there is nothing else."""
    covered = text[start:end]
    if not (kept := covered.strip()):
        return start, end
    return start + covered.index(kept), start + covered.index(kept) + len(kept)
