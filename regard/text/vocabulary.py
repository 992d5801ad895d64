"""What word and character vocabularies share: choosing tokens, JSON files, reading ids back."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, SupportsIndex

from regard.errors import TextError, WriteError
from regard.files import write_bytes
from regard.special import BOS, EOS, NAMES, PAD, UNKNOWN, UNKNOWN_SURFACE

FORMAT = 1


class ListedVocabulary:
    """A tokenizer whose tokens are a list, the most frequent first; ``kind`` names it in files."""

    kind: ClassVar[str]

    def __init__(self, tokens: Sequence[str], *, is_lowercase: bool = False) -> None:
        self.is_lowercase = is_lowercase
        self._tokens = (*NAMES, *tokens)
        self._ids = {token: i for i, token in enumerate(self._tokens) if i >= len(NAMES)}

    def encode(self, text: str) -> list[int]:
        """Ids of a sentence; a token never seen is UNKNOWN."""
        text = text.lower() if self.is_lowercase else text
        return [self._ids.get(token, UNKNOWN) for token in self._cut(text)]

    @staticmethod
    def _cut(text: str) -> Iterable[str]:
        """The tokens of a text."""
        raise NotImplementedError

    def encode_many(self, texts: Sequence[str], n_threads: int = 1) -> list[list[int]]:
        """Ids of many sentences (one thread: the work is Python's)."""
        return [self.encode(text) for text in texts]

    def token(self, id_: int) -> str:
        """How an id is printed."""
        return self._tokens[checked(id_, len(self))]

    def save(self, path_stem: str | Path) -> Path:
        """Write ``<path_stem>.json`` whole or not at all."""
        return write(path_stem, ".json", self._to_json().encode())

    @property
    def fingerprint(self) -> str:
        """Changes when the ids of any text may change."""
        return hashlib.sha256(self._to_json().encode()).hexdigest()

    def __len__(self) -> int:
        return len(self._tokens)

    def _saved(self) -> dict[str, Any]:
        """What the JSON file holds."""
        return {
            "format": FORMAT,
            "kind": self.kind,
            "is_lowercase": self.is_lowercase,
            "tokens": list(self._tokens),
        }

    def _to_json(self) -> str:
        return json.dumps(self._saved(), ensure_ascii=False, indent=0) + "\n"


def most_frequent(counts: Mapping[str, int], size: int | None, *, of: str) -> list[str]:
    """The tokens a vocabulary of ``size`` keeps, ties in the order of the code points."""
    if not counts:
        raise TextError(
            f"There is no text to take {of} from: every sentence given is empty. "
            "Check that the training files hold text."
        )
    if size is not None and size <= len(NAMES):
        raise TextError(
            f"A vocabulary of {size} holds no {of}: {len(NAMES)} ids are special. "
            f"Ask for more than {len(NAMES)}, or for no limit."
        )
    ranked = sorted(counts, key=lambda token: (-counts[token], token))
    return ranked if size is None else ranked[: size - len(NAMES)]


def checked(id_: int, size: int) -> int:
    """The id itself, if the vocabulary has it."""
    if not 0 <= id_ < size:
        raise TextError(
            f"Id {id_} is not in the vocabulary, whose ids run from 0 to {size - 1}. "
            "Was the text encoded by another tokenizer?"
        )
    return id_


def surfaces(tokens: Sequence[str], ids: Iterable[SupportsIndex]) -> Iterator[str]:
    """What each id puts into a text: nothing for PAD, BOS and EOS."""
    for id_ in map(int, ids):
        token = tokens[checked(id_, len(tokens))]
        if id_ == UNKNOWN:
            yield UNKNOWN_SURFACE
        elif id_ not in (PAD, BOS, EOS):
            yield token


def write(path_stem: str | Path, suffix: str, content: bytes) -> Path:
    """Write the file of a tokenizer whole or not at all."""
    stem = Path(path_stem)
    path = stem.with_name(stem.name + suffix)
    try:
        write_bytes(path, content, is_shared=True)
    except WriteError as error:
        raise TextError(
            f"The tokenizer cannot be written to {path}: {error.reason}. "
            "Check that the folder exists and may be written to."
        ) from error
    return path


def read(path: Path) -> dict[str, Any]:
    """The content of a saved vocabulary, checked field by field."""
    try:
        saved = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise _damaged(path, "is not JSON") from error
    if not isinstance(saved, dict) or not isinstance(saved.get("tokens"), list):
        raise _damaged(path, "has no list of tokens")
    if saved.get("format") != FORMAT:
        raise TextError(
            f"The tokenizer in {path} has format {saved.get('format')!r}; this version of Regard "
            f"reads format {FORMAT}. Use the version that wrote it, or train it anew."
        )
    tokens = saved["tokens"]
    if not all(isinstance(token, str) for token in tokens):
        raise _damaged(path, "has a token that is not text")
    if tokens[: len(NAMES)] != list(NAMES):
        raise _damaged(path, f"does not begin with {', '.join(NAMES)}")
    if len(set(tokens[len(NAMES) :])) != len(tokens) - len(NAMES):
        raise _damaged(path, "has a token twice")
    if not isinstance(saved.get("is_lowercase"), bool):
        raise _damaged(path, "does not say is_lowercase")
    return saved


def _damaged(path: Path, what: str) -> TextError:
    return TextError(
        f"The tokenizer in {path} is damaged: it {what}. Take it from a copy, or train it anew."
    )
