"""Small random models as the library transformers makes and keeps them."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.text.byte_pairs import _LETTERS

transformers = pytest.importorskip("transformers")

_SPECIAL = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
_LOWER = "abcdefghijklmnopqrstuvwxyz0123456789"
WORD_PIECES = [
    *_SPECIAL,
    *_LOWER,
    *".,'你好😀",
    "the",
    "animal",
    "street",
    *(f"##{c}" for c in _LOWER),
]
_END = "<|endoftext|>"
_MERGES = [("Ġ", "t"), ("h", "e"), ("Ġt", "he"), ("a", "n")]
_BYTE_PAIRS = [*_LETTERS, *("".join(pair) for pair in _MERGES), _END]


def noisy(model: Any) -> Any:
    """Norms and biases begin as ones and zeros, which hide mistakes."""
    for parameter in model.parameters():
        if parameter.dim() == 1:
            parameter.data += 0.2 * torch.randn_like(parameter)
    return model


def random_bert(folder: Path, kind: str, **choices: Any) -> tuple[Any, Any]:
    folder.mkdir()
    (folder / "words").write_text("".join(f"{token}\n" for token in WORD_PIECES))
    tokenizer = transformers.BertTokenizer(str(folder / "words"))
    config = transformers.BertConfig(
        vocab_size=len(WORD_PIECES),
        hidden_size=24,
        num_hidden_layers=2,
        num_attention_heads=3,
        intermediate_size=40,
        max_position_embeddings=64,
        initializer_range=0.3,
        **choices,
    )
    torch.manual_seed(5)
    model = noisy(getattr(transformers, kind)(config).eval())
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model, tokenizer


def sentences_folder(folder: Path, **modes: bool) -> Any:
    """A folder as sentence-transformers keeps it."""
    model, _ = random_bert(folder, "BertModel")
    kinds = ("Transformer", "Pooling", "Normalize")
    modules = [
        {"idx": i, "name": str(i), "path": f"{i}_{kind}" if i else "", "type": f"models.{kind}"}
        for i, kind in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(modes))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 9}))
    return model


def _byte_pairs() -> Any:
    ids = {token: i for i, token in enumerate(_BYTE_PAIRS)}
    return transformers.GPT2Tokenizer(vocab=ids, merges=_MERGES)


def _word_pieces(folder: Path) -> Any:
    """As the Chinese GPT-2s have."""
    tokens = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"你好世界.'",
        "the",
        "animal",
        "street",
    ]
    (folder / "words").write_text("".join(f"{token}\n" for token in tokens))
    return transformers.BertTokenizer(str(folder / "words"))


def random_gpt2(folder: Path, tokens: str = "bytes", **choices: Any) -> tuple[Any, Any]:
    folder.mkdir()
    tokenizer = _byte_pairs() if tokens == "bytes" else _word_pieces(folder)
    config = transformers.GPT2Config(
        vocab_size=len(tokenizer),
        n_embd=24,
        n_layer=2,
        n_head=3,
        n_positions=96,
        initializer_range=0.3,
        bos_token_id=len(tokenizer) - 1,
        eos_token_id=len(tokenizer) - 1,
        **choices,
    )
    torch.manual_seed(5)
    model = noisy(transformers.GPT2LMHeadModel(config).eval())
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model, tokenizer
