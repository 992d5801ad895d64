"""MarianMT's text files: two sentencepiece models, and a JSON file that gives pieces their ids.

Their special tokens may stand anywhere, and decoding starts from <pad>, where ours starts from <s>.
So each of our ids says which of their rows it takes; <s> takes the row that their decoder starts
from.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from regard.counting import counted
from regard.errors import ModelFolderError, UsageError
from regard.folder.foreign.huggingface import HuggingFaceFolder
from regard.special import BOS, EOS, NAMES, PAD, UNKNOWN
from regard.text import ListedPieces, SentencePieceText, Tokenizer

SOURCE_PIECES, TARGET_PIECES = "source.spm", "target.spm"
TOKENIZER, SPECIAL = "tokenizer_config.json", "special_tokens_map.json"
IDS, TARGET_IDS = "vocab.json", "target_vocab.json"

_LONGEST = 512  # tokens that their tokenizer lets through unless told otherwise
_OWNERS = (EOS, UNKNOWN, BOS, PAD)  # who predicts a row that several of our ids take


@dataclass(frozen=True)
class MarianSide:
    """The vocabulary of one side, in our order."""

    tokenizer: ListedPieces
    rows: tuple[int, ...]  # of their tables, for each of our ids

    @property
    def silent(self) -> tuple[int, ...]:
        """Our ids whose row another id predicts: they have no word of their own to say."""
        taken: set[int] = set()
        repeated = []
        for id_ in _OWNERS:
            if self.rows[id_] in taken:
                repeated.append(id_)
            taken.add(self.rows[id_])
        return tuple(repeated)


def read_sides(
    folder: HuggingFaceFolder, n_source: int, n_target: int
) -> tuple[MarianSide, MarianSide]:
    """The vocabularies of source and target, for tables of so many rows."""
    said = folder.optional_table(TOKENIZER)
    is_apart = bool(said.get("separate_vocabs", False))
    sides = []
    for pieces, name, n_rows in (
        (SOURCE_PIECES, IDS, n_source),
        (TARGET_PIECES, TARGET_IDS if is_apart else IDS, n_target),
    ):
        tokens = _tokens(folder, name, n_rows)
        special = _special(folder, said, name, tokens, is_target=pieces == TARGET_PIECES)
        taken = set(special)
        rows = (*special, *(i for i in range(n_rows) if i not in taken))
        rest = [tokens[i] for i in rows[len(NAMES) :]]
        where = str(folder.path / pieces)
        sides.append(MarianSide(ListedPieces(folder.content(pieces), rest, where=where), rows))
    return sides[0], sides[1]


def _tokens(folder: HuggingFaceFolder, name: str, n_rows: int) -> list[str]:
    """The token of each of their ids."""
    ids = folder.table(name)
    if len(ids) != n_rows or sorted(map(str, ids.values())) != sorted(map(str, range(n_rows))):
        raise ModelFolderError(
            f"{folder.path / name} gives {counted(len(ids), 'token')} an id and the weights have "
            f"{n_rows:,} rows for them: the files are of different models, take all from one"
        )
    by_id = {int(id_): token for token, id_ in ids.items()}
    return [by_id[i] for i in range(n_rows)]


def _special(
    folder: HuggingFaceFolder,
    said: Mapping[str, Any],
    name: str,
    tokens: Sequence[str],
    *,
    is_target: bool,
) -> tuple[int, int, int, int]:
    """Their ids of padding, the unknown token, the start and the end."""
    config = folder.config

    def place(key: str, default: str) -> int:
        given = said.get(key) or default
        token = given.get("content", default) if isinstance(given, dict) else str(given)
        if token not in tokens:
            raise ModelFolderError(
                f"{folder.path / name} has no {token}, which {TOKENIZER} calls the {key}: the "
                "files are of different models, take all from one"
            )
        return tokens.index(token)

    padding, end = place("pad_token", NAMES[PAD]), place("eos_token", NAMES[EOS])
    start = config.get("decoder_start_token_id")
    if start is None or not (is_target or start < len(tokens)):  # nothing starts with a source
        start = padding
    for key, id_, expected in (
        ("eos_token_id", config.get("eos_token_id"), end),
        ("pad_token_id", config.get("pad_token_id"), padding),
    ):
        if is_target and id_ is not None and id_ != expected:
            raise ModelFolderError(
                f"{folder.path} says {key} = {id_} in config.json, and {name} has that token at "
                f"{expected}: the files are of different models, take all from one"
            )
    if not isinstance(start, int) or not 0 <= start < len(tokens):
        raise ModelFolderError(
            f"{folder.path} starts decoding from token {start} and {name} has {len(tokens):,} "
            "tokens: the files are of different models, take all from one"
        )
    return padding, place("unk_token", NAMES[UNKNOWN]), start, end


def text_files(
    where: Path, source: Tokenizer, target: Tokenizer
) -> tuple[dict[str, dict[str, Any]], dict[str, bytes]]:
    """The JSON files and the sentencepiece models that MarianTokenizer opens."""
    tables: dict[str, dict[str, Any]] = {IDS: _ids(where, source)}
    target_ids = _ids(where, target)
    is_apart = target_ids != tables[IDS]
    if is_apart:
        tables[TARGET_IDS] = target_ids
    special = {"unk_token": NAMES[UNKNOWN], "eos_token": NAMES[EOS], "pad_token": NAMES[PAD]}
    tables[SPECIAL] = special
    tables[TOKENIZER] = {
        "tokenizer_class": "MarianTokenizer",
        **special,
        "model_max_length": _LONGEST,
        "separate_vocabs": is_apart,
    }
    return tables, {SOURCE_PIECES: _model(where, source), TARGET_PIECES: _model(where, target)}


def _model(where: Path, tokenizer: Tokenizer) -> bytes:
    if isinstance(tokenizer, SentencePieceText | ListedPieces):
        return tokenizer.model
    raise UsageError(
        f"{where} cuts text into {getattr(tokenizer, 'kind', 'tokens')}, and a Hugging Face folder "
        "of this kind keeps sentencepiece models: export --to ctranslate2, which takes any tokens, "
        "or train with text.kind = sentencepiece"
    )


def _ids(where: Path, tokenizer: Tokenizer) -> dict[str, Any]:
    _model(where, tokenizer)
    ids = {tokenizer.token(i): i for i in range(len(tokenizer))}
    if len(ids) < len(tokenizer):
        raise UsageError(
            f"{where} has two tokens that are written alike, which a file of tokens cannot tell "
            "apart: train with another text.size"
        )
    return ids
