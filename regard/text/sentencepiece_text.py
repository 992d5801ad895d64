"""Subwords by sentencepiece: byte-pair encoding (Sennrich et al. 2016) or unigram (Kudo 2018).

Characters too rare for the vocabulary are spelled in bytes, so no text is unknown.
"""

import hashlib
import io
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import ClassVar, Literal, SupportsIndex

import sentencepiece

from regard.errors import TextError
from regard.special import BOS, EOS, NAMES, PAD, TURN, UNKNOWN, UNKNOWN_SURFACE
from regard.text import normalisation, vocabulary, words
from regard.text.size import choose_coverage
from regard.text.tokens import Token, without_spaces, word_at

Algorithm = Literal["bpe", "unigram"]

SPACE = "▁"
_SILENT = 5  # above sentencepiece's highest log level
_LONGEST_SENTENCE = 2_000  # characters; sentencepiece would skip longer ones, here they are cut
_MOST_SENTENCES = 1_000_000  # more do not change the pieces, and memory has to end somewhere


class SentencePieceText:
    """A sentencepiece model with the project's special ids."""

    kind: ClassVar[str] = "sentencepiece"

    def __init__(self, model: bytes, *, where: str = "the given bytes") -> None:
        self.model = model
        self._processor = opened(model, where)
        self._size = self._processor.get_piece_size()
        found = tuple(getattr(self._processor, f"{n}_id")() for n in ("pad", "unk", "bos", "eos"))
        if found != (PAD, UNKNOWN, BOS, EOS):
            raise TextError(
                f"The sentencepiece model in {where} has pad, unk, bos, eos = {found}; Regard "
                "needs (0, 1, 2, 3). Train it with pad_id=0, unk_id=1, bos_id=2 and eos_id=3."
            )

    @classmethod
    def train(
        cls,
        sentences: Iterable[str],
        size: int,
        *,
        algorithm: Algorithm = "bpe",
        has_byte_fallback: bool = True,
        is_lowercase: bool = False,
        is_upper_limit: bool = False,
        keeps_layout: bool = False,
        has_turns: bool = False,
        n_sentences: int = _MOST_SENTENCES,
    ) -> "SentencePieceText":
        """Learn ``size`` pieces; the same sentences always give the same model.

        Args:
            sentences: read once; at most ``n_sentences`` of them, drawn evenly, are kept.
            size: ids in all, the four special ones and 256 bytes included.
            algorithm: "bpe" or "unigram".
            has_byte_fallback: spell rare characters in bytes instead of losing them.
            is_lowercase: lower-case every text; kept in the saved file.
            is_upper_limit: take the largest size that works where the data cannot carry ``size``,
                and the smallest where its characters need more.
            keeps_layout: keep every space and end of line: then pieces put together are the text,
                also where it is cut, as for a model that writes on and on.
            has_turns: the mark between turns of a conversation is a piece of its own.
            n_sentences: how many sentences are kept in memory for training.
        """
        sample = _sample(sentences, n_sentences, strips=not keeps_layout)
        choices = (algorithm, has_byte_fallback, is_lowercase, keeps_layout, has_turns)
        if not any(sample):
            raise TextError(
                "There is no text to learn pieces from: every sentence given is empty. "
                "Check that the training files hold text."
            )
        try:
            return cls(_train(sample, size, *choices))
        except _TooLargeError as error:
            if not is_upper_limit:
                raise TextError(
                    f"A vocabulary of {size} is more than these {len(sample)} sentences can carry: "
                    f"the largest that works is {error.largest}. "
                    f"Set text.size = {error.largest} or less, or give more text."
                ) from error
            return cls(_train(sample, error.largest, *choices))
        except _TooSmallError as error:
            if not is_upper_limit:
                raise TextError(str(error)) from error
            return cls(_train(sample, error.smallest, *choices))

    def encode(self, text: str) -> list[int]:
        """Ids of the pieces."""
        try:
            # Of a list it makes a thread, which takes ten times as long as the sentence.
            ids: list[int] = self._processor.encode(text, out_type=int)
        except (RuntimeError, TypeError) as error:
            raise not_unicode([text]) from error
        return ids

    def encode_many(self, texts: Sequence[str], n_threads: int = 1) -> list[list[int]]:
        """Ids of many sentences, by several threads."""
        try:
            ids: list[list[int]] = self._processor.encode(
                list(texts), out_type=int, num_threads=n_threads
            )
        except (RuntimeError, TypeError) as error:
            raise not_unicode(texts) from error
        return ids

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The sentence; PAD, BOS and EOS leave nothing."""
        checked = [vocabulary.checked(int(id_), self._size) for id_ in ids]
        text: str = self._processor.decode(checked)
        return text

    def pieces(self, text: str) -> list[Token]:
        """Each piece, its id and the characters of the original string it covers."""
        return placed(self._processor, text)

    def token(self, id_: int) -> str:
        """How an id is printed: "▁" stands for a space."""
        token: str = self._processor.id_to_piece(vocabulary.checked(id_, self._size))
        return token

    def save(self, path_stem: str | Path) -> Path:
        """Write ``<path_stem>.model``."""
        return vocabulary.write(path_stem, ".model", self.model)

    @property
    def fingerprint(self) -> str:
        """Changes when the ids of any text may change."""
        return hashlib.sha256(self.model).hexdigest()

    def __len__(self) -> int:
        return self._size


def opened(model: bytes, where: str) -> sentencepiece.SentencePieceProcessor:
    """A sentencepiece model, ready for use."""
    try:
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        if processor.get_piece_size():
            return processor
    except (RuntimeError, OSError, ValueError) as error:
        raise _unreadable(where) from error
    raise _unreadable(where)


def _unreadable(where: str) -> TextError:
    return TextError(
        f"The sentencepiece model in {where} cannot be read: it is damaged or of another kind. "
        "Take it from a copy, or train it anew."
    )


def placed(processor: sentencepiece.SentencePieceProcessor, text: str) -> list[Token]:
    """Each piece, its id in the model and the characters of the original string it covers."""
    try:
        mapping = processor.encode(text, return_type="offset_mapping")
    except (RuntimeError, TypeError) as error:
        raise not_unicode([text]) from error
    found = words.split(text)
    starts = [word.start for word in found]
    pieces: list[Token] = []
    end_of_next = 0
    next_is_byte = False
    # From the end: where one character gave several pieces, sentencepiece lets the last of them
    # cover it and the others nothing; the others look there for what they share.
    for id_, token, (start, end) in reversed(
        list(zip(mapping["ids"], mapping["pieces"], mapping["offsets"], strict=True))
    ):
        is_byte = processor.is_byte(id_)
        if not text[start:end].strip() and token != SPACE and pieces:
            start, end = end, end_of_next if is_byte and next_is_byte else end + 1
        end_of_next, next_is_byte = end, is_byte
        start, end = without_spaces(text, start, end)
        pieces.append(Token(id_, token, start, end, word_at(found, starts, start)))
    return pieces[::-1]


class _TooLargeError(Exception):
    def __init__(self, largest: int) -> None:
        self.largest = largest


class _TooSmallError(Exception):
    def __init__(self, message: str, smallest: int) -> None:
        super().__init__(message)
        self.smallest = smallest


def _sample(sentences: Iterable[str], n: int, *, strips: bool = True) -> list[str]:
    """Up to ``n`` sentences, each with the same chance (Vitter's algorithm R), cut to length."""
    draw = random.Random(1).randrange  # noqa: S311 - a fair sample, not a secret
    kept: list[str] = []

    def ready(sentence: str) -> str:
        stripped = sentence.strip() if strips else sentence.rstrip("\n")
        return stripped[:_LONGEST_SENTENCE].replace("\0", "")

    for i, sentence in enumerate(sentences):
        if i < n:
            kept.append(ready(sentence))
        elif (j := draw(i + 1)) < n:
            kept[j] = ready(sentence)
    return kept


def _counted(sample: Iterable[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for sentence in sample:
        counts.update(sentence)
    return counts


def _train(
    sample: list[str],
    size: int,
    algorithm: Algorithm,
    has_byte_fallback: bool,
    is_lowercase: bool,
    keeps_layout: bool,
    has_turns: bool,
) -> bytes:
    """Run sentencepiece's trainer and turn its refusals into sentences."""
    model = io.BytesIO()
    sentencepiece.set_min_log_level(_SILENT)
    try:
        normaliser = sentencepiece.SentencePieceNormalizer(
            norm_map=list(normalisation.rules(is_lowercase)),
            # A word is the same piece wherever it stands; where layout counts, text is what it is.
            add_dummy_prefix=not keeps_layout,
            escape_whitespaces=True,
            remove_extra_whitespaces=not keeps_layout,
        )
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sample),
            model_writer=model,
            normalizer=normaliser,
            vocab_size=size,
            model_type=algorithm,
            byte_fallback=has_byte_fallback,
            # Chinese text has thousands of characters seen once or twice; bytes carry them.
            character_coverage=choose_coverage(_counted(sample), size) if has_byte_fallback else 1,
            split_digits=True,
            user_defined_symbols=["\n"] * keeps_layout + [f"{SPACE}{TURN}"] * has_turns,
            allow_whitespace_only_pieces=keeps_layout,
            pad_id=PAD,
            unk_id=UNKNOWN,
            bos_id=BOS,
            eos_id=EOS,
            pad_piece=NAMES[PAD],
            unk_piece=NAMES[UNKNOWN],
            bos_piece=NAMES[BOS],
            eos_piece=NAMES[EOS],
            unk_surface=UNKNOWN_SURFACE,
            max_sentence_length=4 * _LONGEST_SENTENCE + 16,
            # Sums of floats depend on how they are divided among threads.
            num_threads=2,
            minloglevel=_SILENT,
        )
    except (RuntimeError, OSError, ValueError, UnicodeError) as error:
        raise _explained(str(error), sample, size, has_byte_fallback) from error
    return model.getvalue()


def _explained(reason: str, sample: list[str], size: int, has_byte_fallback: bool) -> Exception:
    if size < 1:
        return TextError(f"A vocabulary of {size} is impossible: set text.size to 300 or more.")
    if found := re.search(r"too high .* <= (\d+)", reason):
        return _TooLargeError(int(found[1]))
    if found := re.search(r"smaller than required_chars\. \d+ vs (\d+)", reason):
        bytes_ = " and 256 bytes" if has_byte_fallback else ""
        return _TooSmallError(
            f"A vocabulary of {size} cannot hold the characters of the text: with 4 special ids"
            f"{bytes_} it needs {found[1]}. Set text.size = {found[1]} or more.",
            int(found[1]),
        )
    if "Unable to cast" in reason or "surrogates" in reason:
        return not_unicode(sample)
    return TextError(f"sentencepiece could not learn a vocabulary of {size}: {reason.strip()}")


def not_unicode(texts: Sequence[str]) -> TextError:
    """What to say of texts that sentencepiece refused."""
    for text in texts:
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return TextError(
                f"The text {text[:40]!r} cannot become ids: its character {error.start} is half of "
                "a surrogate pair, which is not Unicode text. Decode the file again as UTF-8."
            )
    return TextError("A text cannot become ids: sentencepiece refused it without a reason.")
