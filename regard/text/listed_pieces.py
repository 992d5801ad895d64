"""Pieces cut by a sentencepiece model, with ids from a list: as MarianMT keeps its vocabulary.

There two sentencepiece models, of the source and of the target, share one list. A piece that the
list does not have is unknown; a code of a language, ">>fra<<", may stand before a text.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, SupportsIndex

from regard.errors import TextError
from regard.special import BOS, EOS, NAMES, PAD, UNKNOWN
from regard.text import vocabulary
from regard.text.sentencepiece_text import SPACE, not_unicode, opened, placed
from regard.text.tokens import Token


class ListedPieces:
    """A sentencepiece model of any ids, and the tokens in the order of ours."""

    kind: ClassVar[str] = "listed-pieces"

    def __init__(
        self, model: bytes, tokens: Sequence[str], *, where: str = "the given bytes"
    ) -> None:
        self.model = model
        self._processor = opened(model, where)
        self._tokens = (*NAMES, *tokens)
        self._ids = {token: i for i, token in enumerate(self._tokens) if i >= len(NAMES)}

    def encode(self, text: str) -> list[int]:
        """Ids of the pieces, after that of the language's code if there is one."""
        return self.encode_many([text])[0]

    def encode_many(self, texts: Sequence[str], n_threads: int = 1) -> list[list[int]]:
        """Ids of many sentences, by several threads."""
        codes = [_code(text) for text in texts]
        rest = [text[len(code) :] for text, code in zip(texts, codes, strict=True)]
        try:
            cut = self._processor.encode(rest, out_type=str, num_threads=n_threads)
        except (RuntimeError, TypeError) as error:
            raise not_unicode(texts) from error
        return [
            [self._id(token) for token in ((code, *pieces) if code else pieces)]
            for code, pieces in zip(codes, cut, strict=True)
        ]

    def decode(self, ids: Iterable[SupportsIndex]) -> str:
        """The sentence; PAD, BOS and EOS leave nothing."""
        unknown = self._processor.id_to_piece(self._processor.unk_id())
        tokens = [
            unknown if id_ == UNKNOWN else self.token(id_)
            for id_ in map(int, ids)
            if id_ not in (PAD, BOS, EOS)
        ]
        # A piece that the other side's model alone has is written as it is, with its space.
        text: str = self._processor.decode(tokens) if tokens else ""
        return text.replace(SPACE, " ").strip()

    def pieces(self, text: str) -> list[Token]:
        """Each piece, its id and the characters of the original string it covers."""
        code = _code(text)
        # Blanks in place of the code leave all else where it stands.
        found = placed(self._processor, " " * len(code) + text[len(code) :])
        known = [replace(piece, id=self._id(piece.text)) for piece in found]
        return [Token(self._id(code), code, 0, len(code), 0), *known] if code else known

    def token(self, id_: int) -> str:
        """How an id is printed: "▁" stands for a space."""
        return self._tokens[vocabulary.checked(id_, len(self))]

    def save(self, path_stem: str | Path) -> Path:
        """Write ``<path_stem>.json``."""
        return vocabulary.write(path_stem, ".json", self._to_json().encode())

    @classmethod
    def from_saved(cls, saved: dict[str, Any]) -> "ListedPieces":
        """The tokenizer a JSON file holds."""
        try:
            model = base64.b64decode(saved["model"], validate=True)
        except (KeyError, TypeError, binascii.Error) as error:
            raise TextError(
                "A tokenizer of listed pieces has no sentencepiece model in it: take it from a "
                "copy, or import the model again."
            ) from error
        return cls(model, saved["tokens"][len(NAMES) :], where="a tokenizer of listed pieces")

    @property
    def fingerprint(self) -> str:
        """Changes when the ids of any text may change."""
        return hashlib.sha256(self._to_json().encode()).hexdigest()

    def __len__(self) -> int:
        return len(self._tokens)

    def _id(self, token: str) -> int:
        return self._ids.get(token, UNKNOWN)

    def _to_json(self) -> str:
        saved = {
            "format": vocabulary.FORMAT,
            "kind": self.kind,
            "is_lowercase": False,
            "tokens": list(self._tokens),
            "model": base64.b64encode(self.model).decode("ascii"),
        }
        return json.dumps(saved, ensure_ascii=False, indent=0) + "\n"


def _code(text: str) -> str:
    """The code of a language that a text begins with, or nothing."""
    end = text.find("<<") if text.startswith(">>") else -1
    return text[: end + 2] if end >= 0 else ""
