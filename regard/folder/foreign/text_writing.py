"""The text files that transformers opens for a BERT or GPT-2 of ours, and the order of its ids.

A tokenizer that came from elsewhere goes back as it came. Of our own, a sentencepiece model is one
there too, and single characters are words of one letter; ids stay as they are, and the mask comes
after them. Whole words are cut by rules that only we have: their file is put beside the model.
"""

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from regard.folder.foreign.text_reading import (
    CONFIG,
    MERGES,
    PAIRS,
    TOKENIZER,
    WORDS,
)
from regard.special import BOS, EOS, NAMES, PAD, TURN, UNKNOWN
from regard.text import BytePairs, Characters, SentencePieceText, Tokenizer, WordPiece
from regard.text.wordpiece import GOES_ON, LONGEST

BESIDE = "regard-tokenizer"
_PIECES = "spiece.model"
_OURS = {"padding": PAD, "unknown": UNKNOWN, "begin": BOS, "end": EOS}
_MASK = "[MASK]"
_KEYS = {"padding": "pad_token", "unknown": "unk_token", "mask": "mask_token"}
_AROUND = {"begin": "cls_token", "end": "sep_token"}  # of an encoder
_INPUTS = ["input_ids", "token_type_ids", "attention_mask"]
_STREAM = {"begin": "bos_token", "end": "eos_token"}  # of a decoder


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
        said |= {"model_input_names": _INPUTS} if has_segments else {}
        return TextFiles(order, ids, {CONFIG: said}, {_PIECES: tokenizer.model})
    if isinstance(tokenizer, Characters):
        said["tokenizer_class"] = "PreTrainedTokenizerFast"
        tables = {CONFIG: said, TOKENIZER: _characters(tokenizer, ids)}
        return TextFiles(order, ids, tables)
    with tempfile.TemporaryDirectory() as folder:
        saved = tokenizer.save(Path(folder) / BESIDE)
        return TextFiles(order, ids, {}, {saved.name: saved.read_bytes()})


def _as_it_came(tokenizer: WordPiece | BytePairs, longest: int) -> TextFiles:
    places = {row: ours for ours, row in enumerate(tokenizer.rows) if row is not None}
    for ours in tokenizer.silent:  # what several of our ids are is predicted by one of them
        row = tokenizer.rows[ours]
        if row is not None:
            others = (i for i, one in enumerate(tokenizer.rows) if one == row)
            places[row] = next(i for i in others if i not in tokenizer.silent)
    order = tuple(places[row] for row in sorted(places))
    special = {role: one.token for role, one in tokenizer.special.items()}
    keys = _KEYS | (_AROUND if isinstance(tokenizer, WordPiece) else _STREAM)
    said: dict[str, Any] = {keys[role]: token for role, token in special.items()}
    said |= {"model_max_length": longest}
    ids = {token: i for i, token in enumerate(tokenizer.names)}
    named = {role: one.id for role, one in tokenizer.special.items()}
    if isinstance(tokenizer, WordPiece):
        said |= {
            "tokenizer_class": "BertTokenizer",
            "do_lower_case": tokenizer.is_lowercase,
            "strip_accents": tokenizer.strips_accents,
            "tokenize_chinese_chars": tokenizer.splits_chinese,
        }
        lines = "".join(f"{token}\n" for token in tokenizer.names)
        tables = {CONFIG: said, TOKENIZER: _word_pieces(tokenizer, ids)}
        return TextFiles(order, named, tables, {WORDS: lines.encode()})
    said |= {
        "tokenizer_class": "GPT2Tokenizer",
        "add_prefix_space": tokenizer.begins_with_space,
        "errors": "replace",
    }
    merges = "".join(f"{first} {second}\n" for first, second in tokenizer.merges)
    tables = {CONFIG: said, PAIRS: ids, TOKENIZER: _byte_pairs(tokenizer, ids)}
    return TextFiles(order, named, tables, {MERGES: f"#version: 0.2\n{merges}".encode()})


def _ours(n_tokens: int, has_mask: bool, longest: int) -> tuple[dict[str, Any], dict[str, int]]:
    """What is said of our own special tokens, and their ids."""
    keys = _KEYS | (_AROUND if has_mask else _STREAM)
    said: dict[str, Any] = {keys[role]: NAMES[id_] for role, id_ in _OURS.items()}
    said["model_max_length"] = longest
    if not has_mask:
        return said, _OURS
    added = {"content": _MASK, "special": True, "normalized": False}
    said |= {keys["mask"]: _MASK, "added_tokens_decoder": {str(n_tokens): added}}
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
    pattern = {"Regex": rf" ?{TURN} ?|[\s\S]"}
    return _json(special, (NAMES[BOS], NAMES[EOS]) if "mask" in ids else None) | {
        "normalizer": {"type": "Lowercase"} if tokenizer.is_lowercase else None,
        "pre_tokenizer": {
            "type": "Split",
            "pattern": pattern,
            "behavior": "Isolated",
            "invert": False,
        },
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
    return _json({one.token: one.id for one in special.values()}, around) | {
        "normalizer": {
            "type": "BertNormalizer",
            "clean_text": True,
            "handle_chinese_chars": tokenizer.splits_chinese,
            "strip_accents": tokenizer.strips_accents,
            "lowercase": tokenizer.is_lowercase,
        },
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "decoder": {"type": "WordPiece", "prefix": GOES_ON, "cleanup": True},
        "model": {
            "type": "WordPiece",
            "unk_token": special["unknown"].token if "unknown" in special else "[UNK]",
            "continuing_subword_prefix": GOES_ON,
            "max_input_chars_per_word": LONGEST,
            "vocab": ids,
        },
    }


def _byte_pairs(tokenizer: BytePairs, ids: Mapping[str, int]) -> dict[str, Any]:
    by_bytes = {"type": "ByteLevel", "trim_offsets": True, "use_regex": True}
    starts = {"add_prefix_space": tokenizer.begins_with_space}
    return _json({one.token: one.id for one in tokenizer.special.values()}, None) | {
        "pre_tokenizer": by_bytes | starts,
        "decoder": by_bytes | {"add_prefix_space": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": "",
            "end_of_word_suffix": "",
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": False,
            "vocab": ids,
            "merges": [list(pair) for pair in tokenizer.merges],
        },
    }
