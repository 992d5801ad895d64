"""Folders of other libraries: what is refused, in one sentence, and that nothing is left behind."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from regard.config import Recipe, TransformerSection
from regard.errors import ModelFolderError, RegardError, UsageError
from regard.folder import LoadedModel, save
from regard.systems import build, export_model, import_model, load
from regard.text import SentencePieceText, Words

SENTENCES = ["the dog runs over the street", "a cat sleeps near the old house"]


def small(folder: Path, **choices: object) -> LoadedModel:
    torch.manual_seed(1)
    tokenizer = SentencePieceText.train(SENTENCES, 290, is_upper_limit=True)
    section = TransformerSection(
        n_layers=1, n_decoder_layers=2, d_model=12, n_heads=2, d_feedforward=20, **choices
    )
    model = build(section, len(tokenizer), len(tokenizer))
    return load(save(folder, model, Recipe(model=section), tokenizer, tokenizer))


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    """A whole Marian folder."""
    return export_model(small(tmp_path / "ours"), "huggingface", tmp_path / "theirs")


def change(path: Path, **values: object) -> None:
    said = json.loads(path.read_text())
    path.write_text(json.dumps({k: v for k, v in (said | values).items() if v is not None}))


def without_weights(folder: Path) -> None:
    (folder / "model.safetensors").unlink()


def only_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def one_token_less(folder: Path) -> None:
    ids = json.loads((folder / "vocab.json").read_text())
    ids.popitem()
    (folder / "vocab.json").write_text(json.dumps(ids))


def one_weight(folder: Path, name: str, *, is_there: bool) -> None:
    weights = load_file(folder / "model.safetensors")
    if is_there:
        weights[name] = torch.zeros(3)
    else:
        del weights[name]
    save_file(weights, folder / "model.safetensors")


DAMAGES: list[tuple[Callable[[Path], object], str]] = [
    (lambda f: (f / "config.json").unlink(), "has no config.json: give a Hugging Face folder"),
    (lambda f: (f / "config.json").write_text("{"), "config.json cannot be read as JSON"),
    (without_weights, "has no model.safetensors: copy the whole folder"),
    (only_pickle, "keeps its weights in pytorch_model.bin, which can run code when it is opened"),
    (only_pickle, "from_pretrained and write it with save_pretrained"),
    (lambda f: (f / "target.spm").unlink(), "has no target.spm: copy the whole folder"),
    (lambda f: (f / "source.spm").write_bytes(b"?"), "source.spm cannot be read: it is damaged"),
    (lambda f: (f / "vocab.json").unlink(), "has no vocab.json: copy the whole folder"),
    (one_token_less, "tokens an id and the weights have"),
    (
        lambda f: change(f / "config.json", model_type="t5"),
        "of type 't5', which Regard cannot read: it reads bert, gpt2, marian or pegasus",
    ),
    (
        lambda f: change(f / "config.json", activation_function="mish"),
        "has the activation 'mish', and Regard's Transformer has relu, gelu, gelu-tanh, silu",
    ),
    (
        lambda f: change(f / "config.json", decoder_attention_heads=3),
        "encoder_attention_heads = 2 and decoder_attention_heads = 3, and Regard's",
    ),
    (lambda f: change(f / "config.json", vocab_size=9), "vocab_size = 9, and the weights have"),
    (
        lambda f: change(f / "config.json", encoder_ffn_dim=9, decoder_ffn_dim=9),
        "not fit the config",
    ),
    (
        lambda f: change(f / "config.json", decoder_layers=10**9),
        "decoder_layers = 1000000000, and no",
    ),
    (lambda f: change(f / "config.json", d_model=10**9), "d_model = 1000000000, and no model of"),
    (lambda f: change(f / "config.json", d_model=None), "does not say 'd_model'"),
    (
        lambda f: change(f / "config.json", encoder_attention_heads=5, decoder_attention_heads=5),
        "asks for what cannot be built",
    ),
    (lambda f: change(f / "config.json", encoder_layers=2), "has no model.encoder.layers.1."),
    (lambda f: change(f / "config.json", normalize_before=True), "has no model.encoder.layer_norm"),
    (lambda f: change(f / "config.json", decoder_start_token_id=999), "starts decoding from token"),
    (lambda f: change(f / "config.json", eos_token_id=7), "says eos_token_id = 7 in config.json"),
    (lambda f: change(f / "tokenizer_config.json", pad_token="<p>"), "has no <p>, which"),
    (
        lambda f: one_weight(f, "model.encoder.layernorm_embedding.weight", is_there=True),
        "has model.encoder.layernorm_embedding.weight among its weights, which Regard's",
    ),
    (
        lambda f: one_weight(f, "model.decoder.layers.1.fc2.bias", is_there=False),
        "has no model.decoder.layers.1.fc2.bias among its weights",
    ),
]


@pytest.mark.parametrize(("damage", "sentence"), DAMAGES, ids=[one[1][:40] for one in DAMAGES])
def test_what_cannot_be_read_is_said_and_leaves_nothing(
    theirs: Path, tmp_path: Path, damage: Callable[[Path], object], sentence: str
) -> None:
    damage(theirs)
    with pytest.raises(RegardError) as refusal:
        import_model(theirs, tmp_path / "new")
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["ours", "theirs"]


def test_a_pickle_is_not_opened(theirs: Path, tmp_path: Path) -> None:
    only_pickle(theirs)
    with pytest.raises(ModelFolderError, match=r"keeps its weights in pytorch_model\.bin"):
        import_model(theirs / "pytorch_model.bin", tmp_path / "new")


def test_a_file_stands_for_its_folder_and_weights_may_be_in_parts(
    theirs: Path, tmp_path: Path
) -> None:
    expected = load(tmp_path / "ours").model.state_dict()
    weights = load_file(theirs / "model.safetensors")
    names = sorted(weights)
    places = {name: f"part-{i % 2}.safetensors" for i, name in enumerate(names)}
    for part in sorted(set(places.values())):
        save_file({n: weights[n] for n in names if places[n] == part}, theirs / part)
    (theirs / "model.safetensors").unlink()
    index = theirs / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": places}))
    made = import_model(theirs / "config.json", tmp_path / "new").model.state_dict()
    assert made.keys() == expected.keys()
    for name, tensor in expected.items():
        torch.testing.assert_close(made[name], tensor, rtol=0, atol=0)


def test_half_precision_becomes_single(theirs: Path, tmp_path: Path) -> None:
    weights = load_file(theirs / "model.safetensors")
    save_file({n: t.half() for n, t in weights.items()}, theirs / "model.safetensors")
    made = import_model(theirs, tmp_path / "new").model
    assert {tensor.dtype for tensor in made.state_dict().values()} == {torch.float32}


def test_what_is_there_is_not_written_over(theirs: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is there already: choose a folder that is new or empty"):
        import_model(theirs, tmp_path / "ours")
    with pytest.raises(UsageError, match="is there already"):
        export_model(tmp_path / "ours", "huggingface", theirs)


def test_formats_and_kinds_are_named(tmp_path: Path) -> None:
    loaded = small(tmp_path / "ours")
    with pytest.raises(UsageError, match="no format 'onnx' to write: choose huggingface or ctran"):
        export_model(loaded, "onnx", tmp_path / "new")
    with pytest.raises(ModelFolderError, match="there is nothing at"):
        import_model(tmp_path / "nowhere", tmp_path / "new")


def test_words_have_no_place_in_a_sentencepiece_folder(tmp_path: Path) -> None:
    tokenizer = Words.train(SENTENCES)
    section = TransformerSection(n_layers=1, d_model=12, n_heads=2, d_feedforward=20)
    model = build(section, len(tokenizer), len(tokenizer))
    save(tmp_path / "ours", model, Recipe(model=section), tokenizer, tokenizer)
    with pytest.raises(UsageError, match="cuts text into words, and a Hugging Face folder"):
        export_model(tmp_path / "ours", "huggingface", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_pre_norm_with_two_vocabularies_has_no_counterpart(tmp_path: Path) -> None:
    tokenizers = [SentencePieceText.train([s], 280, is_upper_limit=True) for s in SENTENCES]
    section = TransformerSection(
        n_layers=1, d_model=12, n_heads=2, d_feedforward=20, norm="pre", tie="two-way"
    )
    model = build(section, *map(len, tokenizers))
    save(tmp_path / "ours", model, Recipe(model=section), *tokenizers)
    with pytest.raises(UsageError, match="norm = pre and two vocabularies, for which transformers"):
        export_model(tmp_path / "ours", "huggingface", tmp_path / "new")
