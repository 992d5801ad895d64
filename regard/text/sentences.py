"""From text or ids to tokens in their places: texts that are read, written, gapped or cut in words.

Cutting a text again would not always give the ids that wrote it, so what a model wrote is placed by
decoding one more id at a time.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from regard.special import BOS, EOS, NAMES, UNKNOWN
from regard.text.sentencepiece_text import SentencePieceText
from regard.text.tokenizer import Tokenizer
from regard.text.tokens import BEGINNING, MASK, Sentence, Token, Word, without_spaces, word_at
from regard.text.words import join, split

_BEFORE = "\ue000"  # for private use: no piece that is learned joins it with what follows

Placed = tuple[int, str, int, int]  # id, how it is printed, and where it begins and ends


def whole(text: str, placed: Iterable[Placed], words: Sequence[Word] | None = None) -> Sentence:
    """A text and its tokens, each in the word at its first character, or the next one."""
    found = tuple(split(text) if words is None else words)
    return Sentence(text, found, tuple(_in_words(placed, found)))


def ending(sentence: Sentence) -> Sentence:
    """The sentence with <EOS> after its tokens."""
    end = Token(EOS, NAMES[EOS], len(sentence.text), len(sentence.text))
    return replace(sentence, tokens=(*sentence.tokens, end))


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


def going_on(tokenizer: Tokenizer, text: str) -> list[Token]:
    """The tokens of a text before which something stands, as after a gap in a sentence.

    Sentencepiece puts a space before every text, so that a word is the same piece wherever it
    stands. What follows a gap without a space, as in Chinese always, must not get one.
    """
    if not isinstance(tokenizer, SentencePieceText) or not text.strip():
        return tokenizer.pieces(text)
    n, words = len(_BEFORE), split(text)
    starts = [word.start for word in words]
    found = []
    for one in tokenizer.pieces(_BEFORE + text):
        if one.end > n:
            start, end = without_spaces(text, max(0, one.start - n), one.end - n)
            found.append(Token(one.id, one.text, start, end, word_at(words, starts, start)))
    return found


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


def spans(
    tokenizer: Tokenizer, ids: Sequence[int], text: str, begun: Sequence[int] = ()
) -> Iterator[tuple[int, int]]:
    """The characters each id stands for, without spaces before them.

    ``text`` is what the ids decode to, as far as it goes beyond those ``begun`` with.
    """
    n_before, end = len(tokenizer.decode(begun)), 0
    for n in range(1, len(ids) + 1):
        so_far = tokenizer.decode([*begun, *ids[:n]])[n_before:]
        start, end = end, max(end, _shared(so_far, text))
        covered = text[start:end]
        yield start + len(covered) - len(covered.lstrip()), end


def _shared(a: str, b: str) -> int:
    """How many characters two texts begin with in common: bytes may be no character yet."""
    n = min(len(a), len(b))
    return next((i for i in range(n) if a[i] != b[i]), n)


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
    return replace(sentence, tokens=(BEGINNING, *sentence.tokens))


def _in_words(placed: Iterable[Placed], words: Sequence[Word]) -> Iterator[Token]:
    at, place = 0, 0
    for id_, text, start, end in placed:
        # Tokens come in order, so the word is this one or a later one; the last has no next.
        place = max(place, start)
        while at + 1 < len(words) and place >= words[at].end:
            at += 1
        is_word = words and id_ not in (BOS, EOS)
        yield Token(id_, text, start, end, at if is_word else None)


def joined(words: Sequence[str]) -> tuple[str, list[Word]]:
    """The sentence that words make, and where each stands in it."""
    text = join(words)
    found = _found(text, words)
    assert found is not None  # it is made of them
    return text, found


def _found(text: str, words: Sequence[str]) -> list[Word] | None:
    """Where words stand in a text, one after the other; None if they do not."""
    placed, end = list[Word](), 0
    for word in words:
        start = text.find(word, end)
        if start < 0:
            return None
        end = start + len(word)
        placed.append(Word(word, start, end))
    return placed


@dataclass(frozen=True)
class WordIds:
    """Ids of a text, and the place among them of each word's first."""

    ids: list[int]
    firsts: list[int]


def cut_at_words(tokenizer: Tokenizer, text: str, words: Sequence[Word]) -> WordIds:
    """Encode a text so that each of its words, which come in order, has a first id of its own.

    The text is encoded as it is written, as a model has read it in other texts. Pieces of Chinese
    text may span words, which stand there without spaces: such a piece is cut where they part.
    """
    ids, firsts = list[int](), list[int]()
    starts, ends = [word.start for word in words], [word.end for word in words]

    def begin(k: int) -> None:
        """Word k begins here; of those before it that no piece stands for, nothing is known."""
        while len(firsts) < k:
            firsts.append(len(ids))
            ids.append(UNKNOWN)
        if len(firsts) == k:
            firsts.append(len(ids))

    for piece in tokenizer.pieces(text):
        covered = range(bisect_right(ends, piece.start), bisect_left(starts, piece.end))
        if len(covered) < 2:
            for k in covered:
                begin(k)
            ids.append(piece.id)
            continue
        for k in covered:
            begin(k)
            part = text[max(starts[k], piece.start) : min(ends[k], piece.end)]
            ids += _alone(tokenizer, part, goes_on=k > covered.start)
    while len(firsts) < len(words):
        firsts.append(len(ids))
        ids.append(UNKNOWN)
    return WordIds(ids, firsts)


def _alone(tokenizer: Tokenizer, part: str, *, goes_on: bool) -> list[int]:
    """The ids of a part of a piece; only the first may have the space that stands before it."""
    pieces = going_on(tokenizer, part) if goes_on else tokenizer.pieces(part)
    return [piece.id for piece in pieces if piece.end > piece.start] or [UNKNOWN]


@dataclass(frozen=True)
class Units:
    """A sentence as a model reads it: words, and the tokens of each that are not beyond the limit.

    ``places[i]`` is the unit of word i of the corpus, or there are none to speak of.
    """

    words: tuple[str, ...]
    tokens: tuple[Token, ...]
    places: tuple[int, ...] = ()

    @property
    def ids(self) -> list[int]:
        """The ids of the tokens."""
        return [token.id for token in self.tokens]

    @property
    def of_tokens(self) -> list[int]:
        """The word of each token."""
        return [token.word or 0 for token in self.tokens]


def read_units(
    tokenizer: Tokenizer, text: str, words: Sequence[str] = (), *, limit: int | None = None
) -> Units:
    """Cut a text into its words; words that share a token are one unit, as the model sees them.

    Without words, or if they are not those of the text, it is cut at spaces and signs. Tokens
    beyond the limit are not read.
    """
    known = _found(text, words)
    units = place_units(tokenizer, text, known or split(text), limit=limit)
    return units if known else replace(units, places=())


def place_units(
    tokenizer: Tokenizer, text: str, words: Sequence[Word], *, limit: int | None = None
) -> Units:
    """The tokens of a text among words whose places are known; ``places`` has the unit of each.

    Words may share characters, as "in dem" does of "im": then they are one unit, too.
    """
    pieces = tokenizer.pieces(text)[:limit] if words else []
    starts = [word.start for word in words]
    ends = list(accumulate((word.end for word in words), max))
    touched = [_touched(piece, starts, ends) for piece in pieces]
    is_joined = {k for first, last in touched for k in range(first, last)}
    places = [0] * len(words)
    for k in range(1, len(words)):
        places[k] = places[k - 1] + (k - 1 not in is_joined)
    texts: list[str] = []
    for k, place in enumerate(places):
        if k == 0 or place > places[k - 1]:
            texts.append(words[k].text)
        else:
            texts[-1] = text[words[places.index(place)].start : ends[k]]
    named = [
        replace(piece, word=places[first])
        for piece, (first, _) in zip(pieces, touched, strict=True)
    ]
    return Units(tuple(texts), tuple(named), tuple(places))


def _touched(piece: Token, starts: Sequence[int], ends: Sequence[int]) -> tuple[int, int]:
    """The first and the last word a token covers; a token of no letter stands with the next."""
    first, beyond = bisect_right(ends, piece.start), bisect_left(starts, piece.end)
    if first < beyond:
        return first, beyond - 1
    nearest = min(bisect_left(starts, piece.start), len(starts) - 1)
    return nearest, nearest
