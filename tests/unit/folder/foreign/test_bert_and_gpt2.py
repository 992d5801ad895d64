"""Folders of BERT and GPT-2 that cannot be read or written: one sentence, nothing left behind."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from regard.config import Recipe, TrainingSection
from regard.config.alone import Alone, BertSection, GptSection
from regard.errors import RegardError, UsageError
from regard.folder import LoadedModel, save
from regard.systems import TextEncoder, build, export_model, import_model, load
from regard.text import BytePairs, Elsewhere, Placed, WordPiece
from regard.text.byte_pairs import _LETTERS

NAMES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROLES = ("padding", "unknown", "begin", "end", "mask")
END = "<|endoftext|>"
SIZES: dict[str, Any] = {
    "d_model": 12,
    "n_heads": 2,
    "d_feedforward": 20,
    "n_layers": 1,
    "context": 16,
}


def bert_words() -> WordPiece:
    special = {
        role: Placed(name, i) for i, (role, name) in enumerate(zip(ROLES, NAMES, strict=True))
    }
    return WordPiece(["the", "cat", "##s", "."], special)


def gpt_bytes() -> BytePairs:
    special = dict.fromkeys(("unknown", "begin", "end"), Placed(END, 257))
    return BytePairs([*_LETTERS, "he"], [("h", "e")], special)


def small(folder: Path, section: Alone, tokenizer: Elsewhere) -> LoadedModel:
    torch.manual_seed(1)
    task: Any = "masked" if section.kind == "bert" else "language"
    recipe = Recipe(model=section, training=TrainingSection(task=task))
    model = build(section, len(tokenizer), len(tokenizer))
    return load(save(folder, model, recipe, tokenizer, tokenizer))


def bert(tmp_path: Path, **choices: Any) -> LoadedModel:
    return small(tmp_path / "ours", BertSection(**SIZES, **choices), bert_words())


def gpt(tmp_path: Path, **choices: Any) -> LoadedModel:
    return small(tmp_path / "ours", GptSection(**SIZES, **choices), gpt_bytes())


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def tokenizer(folder: Path, part: str, **values: object) -> None:
    said = json.loads((folder / "tokenizer.json").read_text())
    said[part] = (said[part] or {}) | values
    (folder / "tokenizer.json").write_text(json.dumps(said))


def without(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).unlink()


def only_words(folder: Path, content: str) -> None:
    without(folder, "tokenizer.json")
    (folder / "vocab.txt").write_text(content)


def weight(folder: Path, name: str) -> None:
    weights = load_file(folder / "model.safetensors")
    save_file(weights | {name: torch.zeros(3)}, folder / "model.safetensors")


def merges(folder: Path, *lines: str) -> None:
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *lines]), encoding="utf-8")


def modules(folder: Path, *kinds: str) -> None:
    listed = [{"path": "" if not i else f"{i}", "type": one} for i, one in enumerate(kinds)]
    (folder / "modules.json").write_text(json.dumps(listed))


Damage = tuple[Callable[[Path], object], str]
OF_BERT: list[Damage] = [
    (lambda f: change(f / "config.json", hidden_act="mish"), "has the activation 'mish'"),
    (
        lambda f: change(f / "config.json", position_embedding_type="relative_key"),
        "says position_embedding_type = 'relative_key', and Regard's BERT knows 'absolute' alone",
    ),
    (lambda f: change(f / "config.json", is_decoder=True), "says is_decoder = True"),
    (lambda f: change(f / "config.json", num_attention_heads=5), "asks for what cannot be built"),
    (lambda f: change(f / "config.json", num_hidden_layers=2), "has no encoder.layer.1.attention"),
    (lambda f: weight(f, "bert.adapter.weight"), "has adapter.weight among its weights, which"),
    (
        lambda f: without(f, "tokenizer.json", "vocab.txt"),
        "has no tokenizer.json, no vocab.txt and no vocab.json with merges.txt: copy the files",
    ),
    (
        lambda f: only_words(f, "[PAD]\n[UNK]\n"),
        "vocab.txt gives 2 tokens an id and the weights have 9 rows",
    ),
    (
        lambda f: only_words(f, "\n".join([*NAMES, "the", "the", "##s", "."])),
        "has 'the' twice: it is damaged",
    ),
    (
        lambda f: only_words(f, "\n".join([*NAMES[:-1], "x", "the", "cat", "##s", "."])),
        "has no [MASK], the mask_token that a BERT needs",
    ),
    (lambda f: tokenizer(f, "model", type="Unigram"), "is of type 'Unigram', and Regard reads"),
    (
        lambda f: tokenizer(f, "pre_tokenizer", type="Whitespace"),
        "has a pre_tokenizer with type = 'Whitespace', not 'BertPreTokenizer'",
    ),
    (
        lambda f: modules(f, "a.Transformer", "a.Dense"),
        "names a module Dense, and Regard makes a sentence's vector by Pooling and Normalize",
    ),
    (lambda f: modules(f, "a.Transformer", "a.Pooling"), "asks for pooling by nothing"),
    (
        lambda f: (f / "model.safetensors").rename(f / "pytorch_model.bin"),
        "which can run code when it is opened, so Regard never opens it",
    ),
]
OF_GPT: list[Damage] = [
    (
        lambda f: change(f / "config.json", scale_attn_by_inverse_layer_idx=True),
        "says scale_attn_by_inverse_layer_idx = True, and Regard's GPT knows False alone",
    ),
    (lambda f: tokenizer(f, "normalizer", type="NFC"), "has a normalizer 'NFC', and Regard reads"),
    (lambda f: tokenizer(f, "model", merges=["a b c"]), "has a merge that is not of two pieces"),
    (
        lambda f: tokenizer(f, "model", merges=["h e", ["he", "r"]]),
        "tokenizer.json merges 'he' and 'r', and the vocabulary has no 'her': merges and "
        "vocabulary are of different models, take both from one",
    ),
    (
        lambda f: (without(f, "tokenizer.json"), merges(f, "qu i")),
        "merges.txt merges 'qu' and 'i', and the vocabulary has no 'qu': merges and vocabulary",
    ),
    (
        lambda f: without(f, "tokenizer.json", "merges.txt"),
        "has no tokenizer.json, no vocab.txt and no vocab.json with merges.txt",
    ),
    (
        lambda f: (without(f, "tokenizer.json"), (f / "vocab.json").write_text('{"a": 0}')),
        "vocab.json gives 1 token an id and the weights have 258 rows",
    ),
    (lambda f: weight(f, "transformer.h.0.crossattention.c_attn.bias"), "has no place for"),
]


@pytest.mark.parametrize(
    ("made", "damage", "sentence"),
    [*((bert, *one) for one in OF_BERT), *((gpt, *one) for one in OF_GPT)],
    ids=[one[1][:40] for one in (*OF_BERT, *OF_GPT)],
)
def test_what_cannot_be_read_is_said_and_leaves_nothing(
    tmp_path: Path,
    made: Callable[[Path], LoadedModel],
    damage: Callable[[Path], object],
    sentence: str,
) -> None:
    theirs = export_model(made(tmp_path), "huggingface", tmp_path / "theirs")
    damage(theirs)
    with pytest.raises(RegardError) as refusal:
        import_model(theirs, tmp_path / "new")
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("made", "choices", "sentence"),
    [
        (bert, {"norm": "pre"}, "has norm = pre, and transformers' BERT has its norms after"),
        (bert, {"activation": "relu"}, "activation = relu and head_activation = gelu, and"),
        (gpt, {"norm": "post"}, "has norm = post, and transformers' GPT-2 has its norms before"),
    ],
    ids=["bert-pre", "bert-activations", "gpt-post"],
)
def test_what_cannot_be_written_is_said(
    tmp_path: Path, made: Callable[..., LoadedModel], choices: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        export_model(made(tmp_path, **choices), "huggingface", tmp_path / "theirs")
    assert sentence in str(refusal.value)
    assert not (tmp_path / "theirs").exists()


def test_a_bias_that_counts_has_no_place_in_gpt2(tmp_path: Path) -> None:
    loaded = gpt(tmp_path, has_output_bias=True)
    with torch.no_grad():
        loaded.model.output.bias[7] = 1.0
    with pytest.raises(UsageError, match="adds a number to each word's logit"):
        export_model(loaded, "huggingface", tmp_path / "theirs")


def test_older_files_are_read_too(tmp_path: Path) -> None:
    words = export_model(bert(tmp_path / "b"), "huggingface", tmp_path / "words")
    pairs = export_model(gpt(tmp_path / "g"), "huggingface", tmp_path / "pairs")
    for folder in (words, pairs):
        before = import_model(folder, tmp_path / f"{folder.name}-new").source_tokenizer
        without(folder, "tokenizer.json")
        after = import_model(folder, tmp_path / f"{folder.name}-old").source_tokenizer
        assert after.fingerprint == before.fingerprint


def test_heads_of_other_tasks_are_left_out_and_named(tmp_path: Path) -> None:
    theirs = export_model(bert(tmp_path), "huggingface", tmp_path / "theirs")
    weight(theirs, "classifier.bias")
    said: list[str] = []
    import_model(theirs, tmp_path / "new", said.append)
    assert said == [
        f"{theirs} has heads for tasks that are not ours, which are left out: classifier.bias"
    ]


def test_a_transformer_in_a_folder_of_its_own(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    export_model(bert(tmp_path), "huggingface", root / "0_Transformer")
    modules(root, "a.Transformer", "a.Normalize")
    listed = json.loads((root / "modules.json").read_text())
    listed[0]["path"] = "0_Transformer"
    (root / "modules.json").write_text(json.dumps(listed))
    section = import_model(root, tmp_path / "new").recipe.model
    assert isinstance(section, BertSection)
    assert section.is_normalised


def test_a_model_without_a_head_finds_no_words_and_can_be_looked_at(tmp_path: Path) -> None:
    loaded = bert(tmp_path, has_head=False, has_pooler=True)
    finder = TextEncoder.open(loaded.path)
    assert loaded.model(torch.tensor([[2, 4, 5, 3]])).shape == (1, 4, 9)
    with pytest.raises(UsageError, match="was made to compare sentences and has no head"):
        finder.fill("the [MASK]")
    assert len(next(iter(finder.embed(["the cats"])))) == SIZES["d_model"]
