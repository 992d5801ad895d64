"""BERT and GPT-2 of transformers through the commands: in, used, looked at, and out again."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from regard.cli import main
from tests.end_to_end import commands
from tests.end_to_end.conftest import called
from tests.parity.theirs import random_bert, random_gpt2, sentences_folder, transformers

Captured = pytest.CaptureFixture[str]
CPU = ("--device", "cpu")
GAP = "the [MASK] street."


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A BERT that finds words, one for sentences, and a GPT-2."""
    place = tmp_path_factory.mktemp("theirs")
    random_bert(place / "bert", "BertForMaskedLM")
    sentences_folder(place / "sentences", pooling_mode_mean_tokens=True)
    random_gpt2(place / "gpt2")
    return place


@pytest.fixture(scope="module")
def ours(theirs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("ours")
    for one in ("bert", "sentences", "gpt2"):
        with pytest.raises(SystemExit) as left:
            main(["import", str(theirs / one), "--out", str(place / one)])
        assert not left.value.code
    return place


def test_import_says_what_it_made(capsys: Captured, theirs: Path, tmp_path: Path) -> None:
    given = theirs / "bert" / "model.safetensors"  # a file in the folder stands for the folder
    code, out, err = called(capsys, "import", given, "--out", tmp_path / "new")
    assert (code, out) == (0, "")
    assert err == (
        f"{tmp_path / 'new'}: a model of kind bert, 2 layers of width 24, 3 heads, feed-forward "
        "40, which see 64 tokens, a vocabulary of 86\n"
    )
    code, out, err = called(capsys, "import", given, "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err.endswith("/new is there already: choose a folder that is new or empty\n")


def test_gaps_are_filled_as_there(capsys: Captured, theirs: Path, ours: Path) -> None:
    code, out, _ = called(capsys, "fill", ours / "bert", GAP, "--k", 3, "--json", *CPU)
    assert code == 0
    ((best, *_),) = json.loads(out)["found"]
    there = transformers.AutoModelForMaskedLM.from_pretrained(theirs / "bert").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(theirs / "bert")
    given = tokenizer(GAP, return_tensors="pt")
    with torch.no_grad():
        logits = there(**given).logits[0, 2]
    logits[tokenizer.all_special_ids] = -torch.inf
    probability, row = logits.softmax(-1).max(-1)
    assert best["probability"] == pytest.approx(float(probability), rel=1e-3)
    word = tokenizer.convert_ids_to_tokens(int(row))
    assert best["word"] == word.removeprefix("##")
    assert best["text"] == f"the {word} street.".replace(" ##", "")


def test_lines_before_one_without_a_gap_are_answered(ours: Path) -> None:
    given = f"{GAP}\n\nthe street.\n{GAP}\n".encode()
    done = commands.run(["fill", str(ours / "bert"), "--k", "1", *CPU], given)
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 1
    assert done.stderr == (
        "regard: line 3 of standard input: there is nothing to find: write [MASK] where a word is "
        "missing\n"
    )


def test_sentences_become_the_vectors_from_there(
    capsys: Captured, theirs: Path, ours: Path, tmp_path: Path
) -> None:
    text, vectors = tmp_path / "text", tmp_path / "vectors.npy"
    text.write_text("the animal\nthe street.\n")
    assert called(capsys, "embed", ours / "sentences", text, "--out", vectors, *CPU) == (0, "", "")
    there = transformers.AutoModel.from_pretrained(theirs / "sentences").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(theirs / "sentences")
    for line, vector in zip(text.read_text().splitlines(), np.load(vectors), strict=True):
        with torch.no_grad():
            mean = there(**tokenizer(line, return_tensors="pt"))[0][0].mean(0)
        np.testing.assert_allclose(vector, (mean / mean.norm()).numpy(), atol=1e-5)
    for verb in ("fill", "look"):
        code, out, err = called(capsys, verb, ours / "sentences", GAP)
        assert (code, out) == (2, "")
        assert "has no head that finds a word for [MASK]: leave it out" in err


def test_vectors_have_a_folder_to_go_to(capsys: Captured, ours: Path, tmp_path: Path) -> None:
    text, out = tmp_path / "text", tmp_path / "nowhere" / "vectors.npy"
    text.write_text("the animal\n\nthe street\n")  # it would be refused later for its line 2
    code, said, err = called(capsys, "embed", ours / "sentences", text, "--out", out, *CPU)
    assert (code, said) == (2, "")
    assert err == (
        f"regard: --out {out}: there is no folder {out.parent}; make it, or choose another\n"
    )


def test_a_sentence_is_no_file(capsys: Captured, ours: Path) -> None:
    code, out, err = called(capsys, "embed", ours / "sentences", "the animal", *CPU)
    assert (code, out) == (2, "")
    assert err == (
        "regard: there is no file the animal: sentences are read from files, a line each, or from "
        "standard input\n"
    )


def test_stories_are_the_same_from_the_same_seed(capsys: Captured, ours: Path) -> None:
    def told(seed: int) -> str:
        asked = ("--seed", seed, "--max-tokens", 12, *CPU)
        code, out, err = called(capsys, "generate", ours / "gpt2", "the animal", *asked)
        assert (code, err) == (0, "")
        return out

    assert told(3) == told(3) != told(4)
    assert told(3).startswith("the animal")


@pytest.mark.parametrize(("name", "text"), [("bert", GAP), ("gpt2", "the street")])
def test_heads_can_be_looked_at(
    capsys: Captured, ours: Path, tmp_path: Path, name: str, text: str
) -> None:
    picture, table = tmp_path / "heads.svg", tmp_path / "heads.json"
    asked = ("--save", picture, "--save", table)
    code, out, err = called(capsys, "look", ours / name, text, *asked)
    assert (code, err) == (0, f"saved {picture}\nsaved {table}\n")
    assert "street" in out
    assert picture.read_text().startswith("<svg")
    said = json.loads(table.read_text())
    assert [len(site["weights"]) for site in said["sites"]] == [3, 3]  # heads a layer


@pytest.mark.parametrize(
    ("name", "auto"), [("bert", "AutoModelForMaskedLM"), ("gpt2", "AutoModelForCausalLM")]
)
def test_what_goes_out_opens_there_and_says_the_same(
    capsys: Captured, theirs: Path, ours: Path, tmp_path: Path, name: str, auto: str
) -> None:
    back = tmp_path / "back"
    code, out, err = called(capsys, "export", ours / name, "--to", "huggingface", "--out", back)
    assert (code, out) == (0, "")
    assert err.startswith(f"{back}: config.json, ")
    logits = []
    for folder in (theirs / name, back):
        model = getattr(transformers, auto).from_pretrained(folder).eval()
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        with torch.no_grad():
            logits.append(model(**tokenizer("the animal street.", return_tensors="pt")).logits)
    torch.testing.assert_close(logits[1], logits[0], atol=1e-4, rtol=1e-4)


def test_labels_are_told_as_there(capsys: Captured, tmp_path: Path) -> None:
    given, made, back = tmp_path / "given", tmp_path / "made", tmp_path / "back"
    there, tokenizer = random_bert(
        given, "BertForSequenceClassification", id2label={0: "same", 1: "other", 2: "neither"}
    )
    code, _, err = called(capsys, "import", given, "--out", made, "--pairs")
    assert code == 0
    assert f"{made}: a model of kind bert-classify, " in err  # after their own progress bar
    code, out, _ = called(capsys, "classify", made, "the animal\tstreet.", "--json", *CPU)
    (best,) = json.loads(out)["labels"]
    with torch.no_grad():
        logits = there(**tokenizer("the animal", "street.", return_tensors="pt")).logits[0]
    probability, i = logits.softmax(-1).max(-1)
    assert (code, best["label"]) == (0, there.config.id2label[int(i)])
    assert best["probability"] == pytest.approx(float(probability), abs=1e-4)
    code, _, err = called(capsys, "export", made, "--to", "huggingface", "--out", back)
    assert (code, err.startswith(f"{back}: config.json, ")) == (0, True)
    again = transformers.AutoModelForSequenceClassification.from_pretrained(back)
    assert again.config.id2label == there.config.id2label


def test_a_tokenizer_of_ours_is_told_where_it_came_from(
    capsys: Captured, theirs: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    for one in ("config.json", "model.safetensors"):
        (folder / one).write_bytes((theirs / "bert" / one).read_bytes())
    (folder / "spiece.model").write_bytes(b"pieces")
    code, out, err = called(capsys, "import", folder, "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err == (
        f"regard: {folder} has its tokenizer in spiece.model, which is read of a MarianMT alone: "
        "if Regard exported it, use the model folder that it was exported from\n"
    )


def changed(name: str, **values: object) -> Callable[[Path], None]:
    """Damage of a JSON file: other values for its keys."""

    def damage(folder: Path) -> None:
        table = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(table | values))

    return damage


def weights(change: Callable[[torch.Tensor], torch.Tensor]) -> Callable[[Path], None]:
    """Damage of the table of words, the largest of the tensors."""

    def damage(folder: Path) -> None:
        path = folder / "model.safetensors"
        tensors = load_file(path)
        largest = max(tensors, key=lambda name: tensors[name].numel())
        save_file(tensors | {largest: change(tensors[largest])}, path)

    return damage


def only_pickle(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")


def broken_index(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text('{"weight_map": ["a"]}')


def absent(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


DAMAGES: dict[str, tuple[Callable[[Path], Any], str]] = {
    "no-config": (absent("config.json"), "has no config.json: give a Hugging Face folder"),
    "no-weights": (absent("model.safetensors"), "has no model.safetensors: copy the whole folder"),
    "pickle": (only_pickle, "keeps its weights in pytorch_model.bin, which can run code"),
    "index": (broken_index, "does not say which files beside it hold the weights"),
    "layout": (
        changed("config.json", model_type="roberta"),
        "holds a model of type 'roberta', which Regard cannot read: it reads bert, gpt2",
    ),
    "activation": (
        changed("config.json", hidden_act=["gelu"], activation_function=["gelu"]),
        "has the activation ['gelu']",
    ),
    "heads": (
        changed("config.json", num_attention_heads="x", n_head="x"),
        "asks for what cannot be built: n_heads = 'x': Input should be a valid integer",
    ),
    "width": (
        changed("config.json", intermediate_size=36, n_inner=36),
        "given does not fit the config.json: ",
    ),
    "vast": (
        changed("config.json", hidden_size=48_000_000, n_embd=48_000_000),
        " = 48000000, and no model of these weights is so large: they are of different models",
    ),
    "deep": (
        changed("config.json", num_hidden_layers=2_000_000_000, n_layer=2_000_000_000),
        " = 2000000000, and no model of these weights is so large",
    ),
    "places": (
        changed("config.json", max_position_embeddings=9, n_positions=9),
        "rows for it: they are of different models, take all from one",
    ),
    "words": (
        changed("config.json", vocab_size=9),
        "config.json says vocab_size = 9, and the weights have ",
    ),
    "rows": (weights(lambda table: table[:-3].clone()), "tokens an id and the weights have"),
    "whole-numbers": (weights(lambda table: table.to(torch.int8)), "such a quantised model"),
    "no-numbers": (weights(lambda table: table * torch.nan), "that are infinite or none"),
    "tokenizer": (
        changed("tokenizer.json", model="x"),
        "tokenizer.json is not built as such files are ('str' object has no attribute 'get')",
    ),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", ["bert", "gpt2"])
def test_what_cannot_be_read_is_one_sentence_and_exit_2(
    capsys: Captured, theirs: Path, tmp_path: Path, name: str, damage: str
) -> None:
    folder = tmp_path / "given"
    folder.mkdir()
    for one in (theirs / name).iterdir():
        (folder / one.name).write_bytes(one.read_bytes())
    do, sentence = DAMAGES[damage]
    do(folder)
    code, out, err = called(capsys, "import", folder, "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err.startswith(f"regard: {folder}")
    assert sentence in err
    assert err.count("\n") == 1
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--to", "onnx"], "there is no format 'onnx' to write: choose huggingface or ctranslate2"),
        (["--to", "ctranslate2"], "which ctranslate2 has no place for: models of kind transformer"),
    ],
    ids=["format", "kind"],
)
def test_what_cannot_be_written_is_one_sentence_and_exit_2(
    capsys: Captured, ours: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    code, out, err = called(capsys, "export", ours / "bert", *arguments, "--out", tmp_path / "out")
    assert (code, out) == (2, "")
    assert sentence in err
    assert not (tmp_path / "out").exists()


def test_merges_of_another_vocabulary_are_one_sentence_and_exit_2(
    capsys: Captured, theirs: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "given"
    shutil.copytree(theirs / "gpt2", folder)
    said = json.loads((folder / "tokenizer.json").read_text())
    said["model"]["merges"].append(["an", "imal"])
    (folder / "tokenizer.json").write_text(json.dumps(said))
    code, out, err = called(capsys, "import", folder, "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err == (
        f"regard: {folder / 'tokenizer.json'} merges 'an' and 'imal', and the vocabulary has no "
        "'imal': merges and vocabulary are of different models, take both from one\n"
    )
    assert list(tmp_path.iterdir()) == [folder]


def test_a_model_folder_needs_no_import(capsys: Captured, ours: Path, tmp_path: Path) -> None:
    code, out, err = called(capsys, "import", ours / "bert", "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err == (
        f"regard: {ours / 'bert'} is a model folder of Regard already: give it to other commands "
        "as it is\n"
    )


def test_nothing_there(capsys: Captured, tmp_path: Path) -> None:
    code, out, err = called(capsys, "import", tmp_path / "no", "--out", tmp_path / "new")
    assert (code, out) == (2, "")
    assert err == (
        f"regard: there is nothing at {tmp_path / 'no'}: give a folder with config.json and "
        "model.safetensors\n"
    )
