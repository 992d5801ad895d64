"""BERTs that tell labels: what cannot be read or written is one sentence, and leaves nothing."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from regard.config import Recipe, TrainingSection
from regard.config.labelling import ClassifierSection, TaggerSection
from regard.errors import RegardError, UsageError
from regard.folder import LoadedModel, save
from regard.systems import build, export_model, import_model, load
from regard.text import Placed, WordPiece

NAMES = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROLES = ("padding", "unknown", "begin", "end", "mask")
SIZES: dict[str, Any] = {
    "d_model": 12,
    "n_heads": 2,
    "d_feedforward": 20,
    "n_layers": 1,
    "context": 16,
    "labels": ("pet", "wild", "none"),
}


def saved(folder: Path, section: Any, task: Any) -> LoadedModel:
    torch.manual_seed(1)
    special = {
        role: Placed(name, i) for i, (role, name) in enumerate(zip(ROLES, NAMES, strict=True))
    }
    words = WordPiece(["the", "cat", "##s", "."], special)
    recipe = Recipe(model=section, training=TrainingSection(task=task))
    return load(save(folder, build(section, len(words), len(words)), recipe, words, words))


def classifier(folder: Path, **choices: Any) -> LoadedModel:
    return saved(folder, ClassifierSection(**SIZES, **choices), "classification")


def tagger(folder: Path, **choices: Any) -> LoadedModel:
    return saved(folder, TaggerSection(**SIZES, **choices), "tagging")


def change(folder: Path, **values: object) -> None:
    path = folder / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def test_what_config_says_of_labels(tmp_path: Path) -> None:
    made = classifier(tmp_path / "ours", n_texts=2)
    said = json.loads(
        (export_model(made, "huggingface", tmp_path / "theirs") / "config.json").read_text()
    )
    assert said["architectures"] == ["BertForSequenceClassification"]
    assert said["id2label"] == {"0": "pet", "1": "wild", "2": "none"}
    assert said["label2id"] == {"pet": 0, "wild": 1, "none": 2}
    assert (said["problem_type"], said["n_texts"]) == ("single_label_classification", 2)


@pytest.mark.parametrize("made", [classifier, tagger])
def test_what_is_written_is_read_again(tmp_path: Path, made: Any) -> None:
    before = made(tmp_path / "ours", n_types=2, feedforward_dropout=0.0, attention_dropout=0.0)
    theirs = export_model(before, "huggingface", tmp_path / "theirs")
    after = import_model(theirs, tmp_path / "again")
    assert after.recipe.model.kind == before.recipe.model.kind
    ids = torch.tensor([[2, 4, 5, 6, 3]])
    torch.testing.assert_close(after.model(ids), before.model(ids))


@pytest.mark.parametrize(
    ("made", "choices", "sentence"),
    [
        (classifier, {"norm": "pre"}, "has norm = pre, and transformers' BERT has its norms after"),
        (tagger, {"norm": "pre"}, "has norm = pre, and transformers' BERT has its norms after"),
        (
            classifier,
            {"pooling": "mean"},
            "has pooling = mean, and transformers' BERT tells a text's label by the vector of its "
            "beginning: train with model.pooling = first",
        ),
    ],
    ids=["classifier-pre", "tagger-pre", "mean"],
)
def test_what_cannot_be_written_is_said(
    tmp_path: Path, made: Any, choices: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        export_model(made(tmp_path / "ours", **choices), "huggingface", tmp_path / "theirs")
    assert sentence in str(refusal.value)
    assert not (tmp_path / "theirs").exists()


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        (
            {"id2label": {"0": "pet", "1": "wild"}},
            "does not number in id2label the 3 labels that the weights tell: they are of different "
            "models, take both from one",
        ),
        ({"id2label": {"1": "a", "2": "b", "3": "c"}}, "does not number in id2label the 3 labels"),
        ({"id2label": ["a", "b", "c"]}, "does not number in id2label the 3 labels"),
        ({"id2label": 3}, "is not built as such files are"),
        (
            {"id2label": {"0": "pet", "1": "wild", "2": "pet"}},
            "names two labels 'pet' in id2label: give each a name of its own there",
        ),
        ({"n_texts": 3}, "asks for what cannot be built: n_texts = 3: "),
        ({"num_attention_heads": 5}, "asks for what cannot be built"),
    ],
    ids=["fewer", "from 1", "a list", "a number", "twice", "three texts", "heads"],
)
def test_what_cannot_be_read_is_said(
    tmp_path: Path, said: dict[str, object], sentence: str
) -> None:
    theirs = export_model(classifier(tmp_path / "ours"), "huggingface", tmp_path / "theirs")
    change(theirs, **said)
    with pytest.raises(RegardError) as refusal:
        import_model(theirs, tmp_path / "new")
    assert sentence in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("made", "name", "apart"),
    [
        (classifier, "", "spaces around it, tabs"),
        (classifier, " pet", "spaces around it, tabs"),
        (classifier, "a\tpet", "spaces around it, tabs"),
        (classifier, "a\npet", "spaces around it, tabs"),
        (tagger, "", "spaces, tabs"),
        (tagger, "a pet", "spaces, tabs"),
        (tagger, "a\npet", "spaces, tabs"),
    ],
)
def test_a_label_that_no_line_can_hold_is_refused(
    tmp_path: Path, made: Any, name: str, apart: str
) -> None:
    theirs = export_model(made(tmp_path / "ours"), "huggingface", tmp_path / "theirs")
    change(theirs, id2label={"0": "dog", "1": name, "2": "none"})
    with pytest.raises(RegardError) as refusal:
        import_model(theirs, tmp_path / "new")
    assert str(refusal.value) == (
        f"{theirs / 'config.json'} names a label {name!r} in id2label, which no line of examples "
        f"can hold: give it a name there that has characters, and no {apart} or line breaks"
    )
    assert not (tmp_path / "new").exists()


def test_a_label_of_a_text_may_have_several_words(tmp_path: Path) -> None:
    theirs = export_model(classifier(tmp_path / "ours"), "huggingface", tmp_path / "theirs")
    change(theirs, id2label={"0": "a pet", "1": "wild", "2": "none"})
    made = import_model(theirs, tmp_path / "new").recipe.model
    assert isinstance(made, ClassifierSection)
    assert made.labels == ("a pet", "wild", "none")


@pytest.mark.parametrize(
    "said",
    [{"problem_type": "multi_label_classification"}, {"id2label": {"0": "LABEL_0"}}],
    ids=["several at once", "a number"],
)
def test_of_heads_for_other_tasks_the_encoder_alone_is_read(
    tmp_path: Path, said: dict[str, object]
) -> None:
    theirs = export_model(classifier(tmp_path / "ours"), "huggingface", tmp_path / "theirs")
    change(theirs, **said)
    told: list[str] = []
    assert import_model(theirs, tmp_path / "new", told.append).recipe.model.kind == "bert"
    assert told == [
        f"{theirs} has heads for tasks that are not ours, which are left out: classifier.bias, "
        "classifier.weight"
    ]


def test_a_label_of_pairs_is_asked_for(tmp_path: Path) -> None:
    theirs = export_model(classifier(tmp_path / "ours"), "huggingface", tmp_path / "theirs")
    made = import_model(theirs, tmp_path / "pairs", is_of_pairs=True).recipe.model
    assert isinstance(made, ClassifierSection)
    assert made.n_texts == 2
    tags = export_model(tagger(tmp_path / "words"), "huggingface", tmp_path / "tags")
    with pytest.raises(UsageError) as refusal:
        import_model(tags, tmp_path / "new", is_of_pairs=True)
    assert str(refusal.value) == (
        f"{tags} is read as a model of kind bert-tag, and only a bert-classify tells labels of "
        "pairs of texts: leave --pairs out"
    )
    assert not (tmp_path / "new").exists()
