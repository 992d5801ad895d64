"""The text files of BERT and GPT-2: word pieces or byte pairs, and where special tokens stand.

What counts is what the library tokenizers would do: tokenizer.json where it is there, else the
files that older versions wrote. Which of the two a model reads is its own affair: Chinese GPT-2s
read word pieces.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from regard.counting import counted
from regard.errors import ModelFolderError
from regard.folder.foreign.given import stated_in
from regard.folder.foreign.huggingface import HuggingFaceFolder
from regard.text import BytePairs, Elsewhere, Placed, WordPiece
from regard.text.wordpiece import GOES_ON, LONGEST

TOKENIZER, CONFIG, SPECIAL = "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"
_OF_OURS = ("spiece.model", "regard-tokenizer.json")  # beside models that were trained here
WORDS, PAIRS, MERGES = "vocab.txt", "vocab.json", "merges.txt"

# What each special token is called there: the first key that says one, and what it is unless said.
Keys = Mapping[str, tuple[tuple[str, ...], str | None]]
_OF_WORDS: Keys = {
    "padding": (("pad_token",), "[PAD]"),
    "unknown": (("unk_token",), "[UNK]"),
    "begin": (("cls_token", "bos_token"), "[CLS]"),
    "end": (("sep_token", "eos_token"), "[SEP]"),
    "mask": (("mask_token",), "[MASK]"),
}
_OF_PAIRS: Keys = {
    "padding": (("pad_token",), None),
    "unknown": (("unk_token",), "<|endoftext|>"),
    "begin": (("bos_token", "cls_token"), "<|endoftext|>"),
    "end": (("eos_token", "sep_token"), "<|endoftext|>"),
    "mask": (("mask_token",), None),
}


def read_tokenizer(folder: HuggingFaceFolder, n_rows: int, *, has_mask: bool) -> Elsewhere:
    """The tokenizer of a model whose table has so many rows; ``has_mask`` if it finds words."""
    has = {name: (folder.path / name).is_file() for name in (TOKENIZER, WORDS, PAIRS, MERGES)}
    if has[TOKENIZER]:
        with stated_in(folder, TOKENIZER):
            return _from_json(folder, n_rows, has_mask)
    if has[WORDS]:
        content = folder.content(WORDS).decode("utf-8", errors="replace").replace("\r\n", "\n")
        tokens = content.removesuffix("\n").split("\n")
        _require_fit(folder, WORDS, len(tokens), n_rows)
        return _words(folder, tokens, folder.optional_table(CONFIG), has_mask)
    if has[PAIRS] and has[MERGES]:
        tokens = _listed(folder, PAIRS, folder.table(PAIRS), n_rows)
        lines = folder.content(MERGES).decode("utf-8", errors="replace").splitlines()
        merges = [line for line in lines if line and not line.startswith("#version")]
        said = folder.optional_table(CONFIG)
        starts = bool(said.get("add_prefix_space", False))
        return _pairs(folder, MERGES, tokens, merges, has_mask, begins_with_space=starts)
    if ours := [name for name in _OF_OURS if (folder.path / name).is_file()]:
        raise ModelFolderError(
            f"{folder.path} has its tokenizer in {ours[0]}, which is read of a MarianMT alone: if "
            "Regard exported it, use the model folder that it was exported from"
        )
    raise ModelFolderError(
        f"{folder.path} has no {TOKENIZER}, no {WORDS} and no {PAIRS} with {MERGES}: copy the "
        "files of its tokenizer from where the model came from"
    )


def _from_json(folder: HuggingFaceFolder, n_rows: int, has_mask: bool) -> Elsewhere:
    table = folder.table(TOKENIZER)
    model = table.get("model") or {}
    added = {one["content"]: one["id"] for one in table.get("added_tokens") or []}
    ids = dict(model["vocab"]) if isinstance(model.get("vocab"), dict) else {}
    tokens = _listed(folder, TOKENIZER, ids | added, n_rows)
    plain = [one["content"] for one in table.get("added_tokens") or [] if not one.get("special")]
    if new := [one for one in plain if one not in ids]:
        raise _unlike(folder, f"takes {new[0]!r} out of a text before it is cut")
    before, cutter = table.get("normalizer"), table.get("pre_tokenizer") or {}
    if model.get("type") == "WordPiece":
        _expect(folder, "pre_tokenizer", cutter, type="BertPreTokenizer")
        _expect(folder, "normalizer", before or {}, type="BertNormalizer", clean_text=True)
        _expect(
            folder,
            "model",
            model,
            continuing_subword_prefix=GOES_ON,
            max_input_chars_per_word=LONGEST,
        )
        said = {
            "do_lower_case": (before or {}).get("lowercase", True),
            "strip_accents": (before or {}).get("strip_accents"),
            "tokenize_chinese_chars": (before or {}).get("handle_chinese_chars", True),
        }
        return _words(folder, tokens, said, has_mask)
    if model.get("type") == "BPE":
        _expect(folder, "pre_tokenizer", cutter, type="ByteLevel", use_regex=True)
        if before is not None:
            raise _unlike(folder, f"has a normalizer {before.get('type')!r}")
        merges = model.get("merges") or []
        starts = bool(cutter.get("add_prefix_space", False))
        return _pairs(folder, TOKENIZER, tokens, merges, has_mask, begins_with_space=starts)
    raise _unlike(folder, f"is of type {model.get('type')!r}")


def _expect(
    folder: HuggingFaceFolder, name: str, part: Mapping[str, Any], **wanted: object
) -> None:
    for key, value in wanted.items():
        if part.get(key, value if key != "type" else None) != value:
            raise _unlike(folder, f"has a {name} with {key} = {part.get(key)!r}, not {value!r}")


def _unlike(folder: HuggingFaceFolder, what: str) -> ModelFolderError:
    return ModelFolderError(
        f"{folder.path / TOKENIZER} {what}, and Regard reads the word pieces of BERT and the byte "
        "pairs of GPT-2: such a model cannot be read"
    )


def _words(
    folder: HuggingFaceFolder, tokens: list[str], said: Mapping[str, Any], has_mask: bool
) -> WordPiece:
    special = _special(folder, tokens, _OF_WORDS, has_mask)
    return WordPiece(
        _ordinary(folder, tokens, special),
        special,
        is_lowercase=bool(said.get("do_lower_case", True)),
        strips_accents=said.get("strip_accents"),
        splits_chinese=bool(said.get("tokenize_chinese_chars", True)),
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
    said = {**folder.optional_table(SPECIAL), **folder.optional_table(CONFIG)}
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
    if len(set(rest)) < len(rest):
        seen: set[str] = set()
        twice = next(token for token in rest if token in seen or seen.add(token))  # type: ignore[func-returns-value]
        raise ModelFolderError(
            f"the vocabulary in {folder.path} has {twice!r} twice: it is damaged, copy it again "
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
