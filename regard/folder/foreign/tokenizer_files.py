"""The text files of BERT and GPT-2, both ways: word pieces or byte pairs, and special tokens.

What counts is what the library tokenizers would do: tokenizer.json where it is there, else the
files that older versions wrote. Which of the two a model reads is its own affair: Chinese GPT-2s
read word pieces.

A tokenizer that came from elsewhere goes back as it came. Of our own, a sentencepiece model is one
there too, and single characters are words of one letter; ids stay as they are, and the mask comes
after them. Whole words are cut by rules that only we have: their file is put beside the model.
"""

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.counting import counted
from regard.errors import ModelFolderError
from regard.folder.foreign.given import stated_in
from regard.folder.foreign.huggingface import HuggingFaceFolder
from regard.special import BOS, EOS, NAMES, PAD, TURN, UNKNOWN
from regard.text import (
    BytePairs,
    Characters,
    Elsewhere,
    Placed,
    SentencePieceText,
    Tokenizer,
    WordPiece,
)
from regard.text.wordpiece import GOES_ON, LONGEST

_TOKENIZER, _CONFIG, _SPECIAL = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
)
_WORDS, _PAIRS, _MERGES = "vocab.txt", "vocab.json", "merges.txt"
_PIECES, _BESIDE = "spiece.model", "regard-tokenizer"  # beside models that were trained here
_OURS = {"padding": PAD, "unknown": UNKNOWN, "begin": BOS, "end": EOS}
_MASK = "[MASK]"

# What each special token is called there: the first key that says one, and what it is unless said.
# The first is written.
Keys = Mapping[str, tuple[tuple[str, ...], str | None]]
_OF_WORDS: Keys = {
    "padding": (("pad_token",), "[PAD]"),
    "unknown": (("unk_token",), "[UNK]"),
    "begin": (("cls_token", "bos_token"), "[CLS]"),
    "end": (("sep_token", "eos_token"), "[SEP]"),
    "mask": (("mask_token",), _MASK),
}
_OF_PAIRS: Keys = {
    "padding": (("pad_token",), None),
    "unknown": (("unk_token",), "<|endoftext|>"),
    "begin": (("bos_token", "cls_token"), "<|endoftext|>"),
    "end": (("eos_token", "sep_token"), "<|endoftext|>"),
    "mask": (("mask_token",), None),
}
# How words are made alike: what WordPiece calls it, tokenizer_config.json, and tokenizer.json.
_ALIKE = (
    ("is_lowercase", "do_lower_case", "lowercase", True),
    ("strips_accents", "strip_accents", "strip_accents", None),
    ("splits_chinese", "tokenize_chinese_chars", "handle_chinese_chars", True),
)
# What a tokenizer.json of each kind says, and has to say.
_WORD_PIECES: dict[str, dict[str, Any]] = {
    "pre_tokenizer": {"type": "BertPreTokenizer"},
    "normalizer": {"type": "BertNormalizer", "clean_text": True},
    "model": {
        "type": "WordPiece",
        "continuing_subword_prefix": GOES_ON,
        "max_input_chars_per_word": LONGEST,
    },
}
_BYTE_PAIRS: dict[str, dict[str, Any]] = {
    "pre_tokenizer": {"type": "ByteLevel", "use_regex": True},
    "model": {"type": "BPE"},
}


def read_tokenizer(folder: HuggingFaceFolder, n_rows: int, *, has_mask: bool) -> Elsewhere:
    """The tokenizer of a model whose table has so many rows; ``has_mask`` if it finds words."""
    has = {name: (folder.path / name).is_file() for name in (_TOKENIZER, _WORDS, _PAIRS, _MERGES)}
    if has[_TOKENIZER]:
        with stated_in(folder, _TOKENIZER):
            return _from_json(folder, n_rows, has_mask)
    if has[_WORDS]:
        content = folder.content(_WORDS).decode("utf-8", errors="replace").replace("\r\n", "\n")
        tokens = content.removesuffix("\n").split("\n")
        _require_fit(folder, _WORDS, len(tokens), n_rows)
        said = folder.optional_table(_CONFIG)
        alike = {ours: said.get(theirs, default) for ours, theirs, _, default in _ALIKE}
        return _words(folder, tokens, alike, has_mask)
    if has[_PAIRS] and has[_MERGES]:
        tokens = _listed(folder, _PAIRS, folder.table(_PAIRS), n_rows)
        lines = folder.content(_MERGES).decode("utf-8", errors="replace").splitlines()
        merges = [line for line in lines if line and not line.startswith("#version")]
        said = folder.optional_table(_CONFIG)
        starts = bool(said.get("add_prefix_space", False))
        return _pairs(folder, _MERGES, tokens, merges, has_mask, begins_with_space=starts)
    if ours := [name for name in (_PIECES, f"{_BESIDE}.json") if (folder.path / name).is_file()]:
        raise ModelFolderError(
            f"{folder.path} has its tokenizer in {ours[0]}, which is read of a MarianMT alone: if "
            "Regard exported it, use the model folder that it was exported from"
        )
    raise ModelFolderError(
        f"{folder.path} has no {_TOKENIZER}, no {_WORDS} and no {_PAIRS} with {_MERGES}: copy the "
        "files of its tokenizer from where the model came from"
    )


def _from_json(folder: HuggingFaceFolder, n_rows: int, has_mask: bool) -> Elsewhere:
    table = folder.table(_TOKENIZER)
    model = table.get("model") or {}
    added = {one["content"]: one["id"] for one in table.get("added_tokens") or []}
    ids = dict(model["vocab"]) if isinstance(model.get("vocab"), dict) else {}
    tokens = _listed(folder, _TOKENIZER, ids | added, n_rows)
    plain = [one["content"] for one in table.get("added_tokens") or [] if not one.get("special")]
    if new := [one for one in plain if one not in ids]:
        raise _unlike(folder, f"takes {new[0]!r} out of a text before it is cut")
    before, cutter = table.get("normalizer"), table.get("pre_tokenizer") or {}
    if model.get("type") == _WORD_PIECES["model"]["type"]:
        _expect(folder, table, _WORD_PIECES)
        before = before or {}
        alike = {ours: before.get(theirs, default) for ours, _, theirs, default in _ALIKE}
        return _words(folder, tokens, alike, has_mask)
    if model.get("type") == _BYTE_PAIRS["model"]["type"]:
        _expect(folder, table, _BYTE_PAIRS)
        if before is not None:
            raise _unlike(folder, f"has a normalizer {before.get('type')!r}")
        merges = model.get("merges") or []
        starts = bool(cutter.get("add_prefix_space", False))
        return _pairs(folder, _TOKENIZER, tokens, merges, has_mask, begins_with_space=starts)
    raise _unlike(folder, f"is of type {model.get('type')!r}")


def _expect(
    folder: HuggingFaceFolder, table: Mapping[str, Any], wanted: dict[str, dict[str, Any]]
) -> None:
    for name, values in wanted.items():
        part = table.get(name) or {}
        for key, value in values.items():
            if part.get(key, value if key != "type" else None) != value:
                raise _unlike(folder, f"has a {name} with {key} = {part.get(key)!r}, not {value!r}")


def _unlike(folder: HuggingFaceFolder, what: str) -> ModelFolderError:
    return ModelFolderError(
        f"{folder.path / _TOKENIZER} {what}, and Regard reads the word pieces of BERT and the byte "
        "pairs of GPT-2: such a model cannot be read"
    )


def _words(
    folder: HuggingFaceFolder, tokens: list[str], alike: Mapping[str, Any], has_mask: bool
) -> WordPiece:
    special = _special(folder, tokens, _OF_WORDS, has_mask)
    return WordPiece(
        _ordinary(folder, tokens, special),
        special,
        is_lowercase=bool(alike["is_lowercase"]),
        strips_accents=alike["strips_accents"],
        splits_chinese=bool(alike["splits_chinese"]),
    )


def _pairs(
    folder: HuggingFaceFolder,
    name: str,
    tokens: list[str],
    merges: Sequence[Any],
    has_mask: bool,
    *,
    begins_with_space: bool,
) -> BytePairs:
    special = _special(folder, tokens, _OF_PAIRS, has_mask)
    pairs = [tuple(one.split(" ") if isinstance(one, str) else one) for one in merges]
    if any(len(pair) != 2 for pair in pairs):
        raise ModelFolderError(
            f"{folder.path / name} has a merge that is not of two pieces: it is damaged, copy it "
            "again from where it came from"
        )
    ordinary = _ordinary(folder, tokens, special)
    merged = [(str(first), str(second)) for first, second in pairs]
    _require_known(folder, name, merged, frozenset(tokens))
    return BytePairs(ordinary, merged, special, begins_with_space=begins_with_space)


def _require_known(
    folder: HuggingFaceFolder, name: str, merges: list[tuple[str, str]], tokens: frozenset[str]
) -> None:
    """Refuse a merge that needs or makes a piece without an id: texts would lose it."""
    for first, second in merges:
        for piece in (first, second, first + second):
            if piece not in tokens:
                raise ModelFolderError(
                    f"{folder.path / name} merges {first!r} and {second!r}, and the vocabulary has "
                    f"no {piece!r}: merges and vocabulary are of different models, take both from "
                    "one"
                )


def _special(
    folder: HuggingFaceFolder, tokens: list[str], keys: Keys, has_mask: bool
) -> dict[str, Placed]:
    """The special tokens that there are; a model that finds words needs them all."""
    said = {**folder.optional_table(_SPECIAL), **folder.optional_table(_CONFIG)}
    found = {}
    for role, (names, default) in keys.items():
        if role == "mask" and not has_mask:
            continue
        given = next((said[name] for name in names if said.get(name)), default)
        token = given.get("content") if isinstance(given, dict) else given
        if token in tokens:
            found[role] = Placed(str(token), tokens.index(str(token)))
        elif has_mask:
            raise ModelFolderError(
                f"the vocabulary in {folder.path} has no {token or names[0]}, the {names[0]} that "
                "a BERT needs: the files are of different models, take all from one"
            )
    return found


def _ordinary(
    folder: HuggingFaceFolder, tokens: list[str], special: Mapping[str, Placed]
) -> list[str]:
    taken = {one.id for one in special.values()}
    rest = [token for i, token in enumerate(tokens) if i not in taken]
    if twice := [token for token, n in Counter(rest).items() if n > 1]:
        raise ModelFolderError(
            f"the vocabulary in {folder.path} has {twice[0]!r} twice: it is damaged, copy it again "
            "from where it came from"
        )
    return rest


def _listed(folder: HuggingFaceFolder, name: str, ids: Mapping[str, Any], n_rows: int) -> list[str]:
    """The token of each id, for a table of so many rows."""
    _require_fit(folder, name, len(ids), n_rows)
    by_id = {id_: token for token, id_ in ids.items()}
    if missing := [i for i in range(n_rows) if i not in by_id]:
        raise ModelFolderError(
            f"{folder.path / name} gives no token the id {missing[0]}: it is damaged, copy it "
            "again from where it came from"
        )
    return [by_id[i] for i in range(n_rows)]


def _require_fit(folder: HuggingFaceFolder, name: str, n_tokens: int, n_rows: int) -> None:
    if n_tokens != n_rows:
        raise ModelFolderError(
            f"{folder.path / name} gives {counted(n_tokens, 'token')} an id and the weights "
            f"have {n_rows:,} rows for them: the files are of different models, take all from one; "
            "if rows were added to fill up, let transformers cut them with resize_token_embeddings"
        )


@dataclass(frozen=True)
class TextFiles:
    """What is written, and for each row of their tables the row of ours."""

    order: tuple[int, ...]
    ids: Mapping[str, int]  # theirs, of the special tokens
    tables: dict[str, Any] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)


def text_files(
    tokenizer: Tokenizer, *, has_mask: bool, longest: int, has_segments: bool = False
) -> TextFiles:
    """The files of a tokenizer; ``has_mask`` if the model finds words.

    With ``has_segments`` it also says which of two texts a token is of, as those of BERT do anyway.
    """
    if isinstance(tokenizer, WordPiece | BytePairs):
        return _as_it_came(tokenizer, longest)
    n_tokens = len(tokenizer)
    said, ids = _ours(n_tokens, has_mask, longest)
    order = tuple(range(n_tokens + has_mask))
    if isinstance(tokenizer, SentencePieceText):
        said |= {"tokenizer_class": "BertGenerationTokenizer", "add_prefix_space": False}
        if has_segments:
            said["model_input_names"] = ["input_ids", "token_type_ids", "attention_mask"]
        return TextFiles(order, ids, {_CONFIG: said}, {_PIECES: tokenizer.model})
    if isinstance(tokenizer, Characters):
        said["tokenizer_class"] = "PreTrainedTokenizerFast"
        tables = {_CONFIG: said, _TOKENIZER: _characters(tokenizer, ids)}
        return TextFiles(order, ids, tables)
    with tempfile.TemporaryDirectory() as folder:
        saved = tokenizer.save(Path(folder) / _BESIDE)
        return TextFiles(order, ids, {}, {saved.name: saved.read_bytes()})


def _as_it_came(tokenizer: WordPiece | BytePairs, longest: int) -> TextFiles:
    places = {row: ours for ours, row in enumerate(tokenizer.rows) if row is not None}
    for ours in tokenizer.silent:  # what several of our ids are is predicted by one of them
        row = tokenizer.rows[ours]
        if row is not None:
            others = (i for i, one in enumerate(tokenizer.rows) if one == row)
            places[row] = next(i for i in others if i not in tokenizer.silent)
    order = tuple(places[row] for row in sorted(places))
    keys = _OF_WORDS if isinstance(tokenizer, WordPiece) else _OF_PAIRS
    said: dict[str, Any] = {keys[role][0][0]: one.token for role, one in tokenizer.special.items()}
    said["model_max_length"] = longest
    ids = {token: i for i, token in enumerate(tokenizer.names)}
    placed = {role: one.id for role, one in tokenizer.special.items()}
    if isinstance(tokenizer, WordPiece):
        said |= {theirs: getattr(tokenizer, ours) for ours, theirs, _, _ in _ALIKE}
        said["tokenizer_class"] = "BertTokenizer"
        lines = "".join(f"{token}\n" for token in tokenizer.names)
        tables = {_CONFIG: said, _TOKENIZER: _word_pieces(tokenizer, ids)}
        return TextFiles(order, placed, tables, {_WORDS: lines.encode()})
    said |= {
        "tokenizer_class": "GPT2Tokenizer",
        "add_prefix_space": tokenizer.begins_with_space,
        "errors": "replace",
    }
    merges = "".join(f"{first} {second}\n" for first, second in tokenizer.merges)
    tables = {_CONFIG: said, _PAIRS: ids, _TOKENIZER: _byte_pairs(tokenizer, ids)}
    return TextFiles(order, placed, tables, {_MERGES: f"#version: 0.2\n{merges}".encode()})


def _ours(n_tokens: int, has_mask: bool, longest: int) -> tuple[dict[str, Any], dict[str, int]]:
    """What is said of our own special tokens, and their ids."""
    keys = _OF_WORDS if has_mask else _OF_PAIRS
    said: dict[str, Any] = {keys[role][0][0]: NAMES[id_] for role, id_ in _OURS.items()}
    said["model_max_length"] = longest
    if not has_mask:
        return said, _OURS
    added = {"content": _MASK, "special": True, "normalized": False}
    said |= {"mask_token": _MASK, "added_tokens_decoder": {str(n_tokens): added}}
    return said, _OURS | {"mask": n_tokens}


def _json(special: Mapping[str, int], around: tuple[str, str] | None) -> dict[str, Any]:
    """What every tokenizer.json has; ``around`` is what it puts before and after a text."""
    fixed = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [
        {"id": id_, "content": token, **fixed, "special": True}
        for token, id_ in sorted(special.items(), key=lambda pair: pair[1])
    ]
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": None,
        "pre_tokenizer": None,
        "post_processor": None if around is None else _template(*around, special),
    }


def _template(begin: str, end: str, ids: Mapping[str, int]) -> dict[str, Any]:
    def one(token: str, part: int) -> dict[str, Any]:
        return {"SpecialToken": {"id": token, "type_id": part}}

    def text(name: str, part: int) -> dict[str, Any]:
        return {"Sequence": {"id": name, "type_id": part}}

    single = [one(begin, 0), text("A", 0), one(end, 0)]
    return {
        "type": "TemplateProcessing",
        "single": single,
        "pair": [*single, text("B", 1), one(end, 1)],
        "special_tokens": {
            token: {"id": token, "ids": [ids[token]], "tokens": [token]} for token in (begin, end)
        },
    }


def _characters(tokenizer: Characters, ids: Mapping[str, int]) -> dict[str, Any]:
    """Every character a word, the mark between turns too."""
    special = {NAMES[id_]: id_ for id_ in _OURS.values()}
    special |= {_MASK: ids["mask"]} if "mask" in ids else {}
    apart = {"behavior": "Isolated", "invert": False}
    pattern = {"Regex": rf" ?{TURN} ?|[\s\S]"}
    return _json(special, (NAMES[BOS], NAMES[EOS]) if "mask" in ids else None) | {
        "normalizer": {"type": "Lowercase"} if tokenizer.is_lowercase else None,
        "pre_tokenizer": {"type": "Split", "pattern": pattern} | apart,
        "decoder": {"type": "Fuse"},
        "model": {
            "type": "WordLevel",
            "vocab": {tokenizer.token(i): i for i in range(len(tokenizer))},
            "unk_token": NAMES[UNKNOWN],
        },
    }


def _word_pieces(tokenizer: WordPiece, ids: Mapping[str, int]) -> dict[str, Any]:
    special = tokenizer.special
    has_both = "begin" in special and "end" in special
    around = (special["begin"].token, special["end"].token) if has_both else None
    alike = {theirs: getattr(tokenizer, ours) for ours, _, theirs, _ in _ALIKE}
    unknown = special["unknown"].token if "unknown" in special else "[UNK]"
    return _json({one.token: one.id for one in special.values()}, around) | {
        "normalizer": _WORD_PIECES["normalizer"] | alike,
        "pre_tokenizer": _WORD_PIECES["pre_tokenizer"],
        "decoder": {"type": "WordPiece", "prefix": GOES_ON, "cleanup": True},
        "model": _WORD_PIECES["model"] | {"unk_token": unknown, "vocab": ids},
    }


def _byte_pairs(tokenizer: BytePairs, ids: Mapping[str, int]) -> dict[str, Any]:
    by_bytes = _BYTE_PAIRS["pre_tokenizer"] | {"trim_offsets": True}
    unused: dict[str, Any] = dict.fromkeys(("dropout", "unk_token"))
    unused |= dict.fromkeys(("continuing_subword_prefix", "end_of_word_suffix"), "")
    unused |= dict.fromkeys(("fuse_unk", "byte_fallback", "ignore_merges"), False)
    merges = {"vocab": ids, "merges": [list(pair) for pair in tokenizer.merges]}
    return _json({one.token: one.id for one in tokenizer.special.values()}, None) | {
        "pre_tokenizer": by_bytes | {"add_prefix_space": tokenizer.begins_with_space},
        "decoder": by_bytes | {"add_prefix_space": True},
        "model": _BYTE_PAIRS["model"] | unused | merges,
    }
