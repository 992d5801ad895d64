"""What every tokenizer does, and the two ways to get one: learn it or load it."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, SupportsIndex, runtime_checkable

from regard.errors import TextError
from regard.text import vocabulary
from regard.text.byte_pairs import BytePairs
from regard.text.characters import Characters
from regard.text.chinese_words import ChineseWords
from regard.text.listed_pieces import ListedPieces
from regard.text.no_text import NoText
from regard.text.sentencepiece_text import Algorithm, SentencePieceText
from regard.text.tokens import Token
from regard.text.wordpiece import WordPiece
from regard.text.words import Words

Kind = Literal[
    "sentencepiece", "characters", "words", "chinese-words", "wordpiece", "byte-pairs", "none"
]
LISTED: dict[str, type[Characters] | type[Words]] = {
    "characters": Characters,
    "words": Words,
    "chinese-words": ChineseWords,
}
IN_JSON: dict[str, Callable[[dict[str, Any]], "Tokenizer"]] = {
    "characters": Characters.from_saved,
    "words": Words.from_saved,
    "chinese-words": ChineseWords.from_saved,
    # The others are of models made elsewhere.
    "listed-pieces": ListedPieces.from_saved,
    "wordpiece": WordPiece.from_saved,
    "byte-pairs": BytePairs.from_saved,
    # Of models of pictures.
    "none": NoText.from_saved,
}


@runtime_checkable
class Tokenizer(Protocol):
    """Text to ids and back; ids 0 to 3 are PAD, UNKNOWN, BOS and EOS."""

    def encode(self, text: str) -> list[int]:
        """Ids of a sentence, without BOS and EOS."""

    def encode_many(self, texts: Sequence[str], n_threads: int = 1) -> list[list[int]]:
        """Ids of many sentences."""

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The sentence; PAD, BOS and EOS leave nothing."""

    def pieces(self, text: str) -> list[Token]:
        """Ids as ``encode`` gives them, each with its place in the text."""

    def token(self, id_: int) -> str:
        """How an id is printed."""

    def save(self, path_stem: str | Path) -> Path:
        """Write one file, whose name is the stem and the format's ending."""

    @property
    def fingerprint(self) -> str:
        """Changes when the ids of any text may change."""

    def __len__(self) -> int: ...


def learn(
    kind: Kind,
    sentences: Iterable[str],
    size: int | None = None,
    *,
    algorithm: Algorithm = "bpe",
    has_byte_fallback: bool = True,
    is_lowercase: bool = False,
    is_upper_limit: bool = False,
    keeps_layout: bool = False,
    has_turns: bool = False,
) -> Tokenizer:
    """A tokenizer of the named kind; only sentencepiece needs a size and reads the other words."""
    if kind in ("wordpiece", "byte-pairs"):
        raise TextError(
            f"A vocabulary of kind {kind} comes with a model made elsewhere and is not learned: "
            f"set text.kind to sentencepiece, {' or '.join(LISTED)}."
        )
    if kind == "none":
        raise TextError(
            "text.kind = none is for models of pictures, which read no text: set text.kind to "
            f"sentencepiece, {' or '.join(LISTED)}."
        )
    if kind != "sentencepiece":
        return LISTED[kind].train(sentences, size, is_lowercase=is_lowercase)
    if size is None:
        raise TextError("A sentencepiece vocabulary needs a size: set text.size, 8000 for example.")
    return SentencePieceText.train(
        sentences,
        size,
        algorithm=algorithm,
        has_byte_fallback=has_byte_fallback,
        is_lowercase=is_lowercase,
        is_upper_limit=is_upper_limit,
        keeps_layout=keeps_layout,
        has_turns=has_turns,
    )


def load(path: str | Path) -> Tokenizer:
    """The tokenizer of a ``.model`` or ``.json`` file, given with or without that ending."""
    given = Path(path)
    found = next((p for p in _candidates(given) if p.is_file()), None)
    if found is None:
        raise TextError(
            f"There is no tokenizer at {given}: a file ending in .model or .json is expected."
        )
    if found.suffix == ".model":
        return SentencePieceText(found.read_bytes(), where=str(found))
    saved = vocabulary.read(found)
    if saved.get("kind") not in IN_JSON:
        raise TextError(
            f"The tokenizer in {found} is of kind {saved.get('kind')!r}; "
            f"known kinds are {', '.join(sorted(IN_JSON))}."
        )
    return IN_JSON[saved["kind"]](saved)


def _candidates(given: Path) -> list[Path]:
    if given.suffix in (".model", ".json"):
        return [given]
    return [given.with_name(given.name + ending) for ending in (".model", ".json")]
