"""BERT fine-tuned, of the library transformers: the same logits, labels and tags, both ways."""

from pathlib import Path
from typing import Any

import pytest
import torch

from regard.config import Recipe, TrainingSection
from regard.config.labelling import ClassifierSection, TaggerSection
from regard.folder import LoadedModel, save
from regard.models import Labeller
from regard.special import BOS, EOS
from regard.systems import TextClassifier, WordTagger, build, export_model, import_model, load
from regard.text import Characters, SentencePieceText, Tokenizer, Words
from regard.text.words import split
from tests.parity.theirs import noisy, random_bert, transformers

TOLERANCE = {"atol": 1e-4, "rtol": 1e-4}
LABELS = ("good", "bad", "不好说")
TAGS = ("O", "B-WHO", "I-WHO", "B-WHERE")
TEXTS = ["The animal didn't cross the street.", "Élan naïve café 你好世界 😀"]
PAIRS = [("the animal", "a street."), ("你好", "the the street")]
NAMED: dict[str, Any] = {
    "id2label": dict(enumerate(LABELS)),
    "label2id": {label: i for i, label in enumerate(LABELS)},
}


def told_there(model: Any, tokenizer: Any, *texts: str) -> torch.Tensor:
    with torch.no_grad():
        logits: torch.Tensor = model(**tokenizer(*texts, return_tensors="pt")).logits
    return logits


def judge(loaded: LoadedModel) -> TextClassifier:
    return TextClassifier.open(loaded.path)


def told_here(loaded: LoadedModel, *texts: str) -> torch.Tensor:
    """The probabilities in the order of the labels."""
    opened = judge(loaded)
    (found,) = opened.classify_each([texts], k=len(opened.labels))
    by_label = {one.label: one.probability for one in found}
    return torch.tensor([[by_label[label] for label in opened.labels]])


@pytest.mark.parametrize(
    "choices",
    [NAMED, NAMED | {"type_vocab_size": 1}, {"num_labels": 4, "hidden_act": "relu"}],
    ids=["named", "one segment", "numbered"],
)
def test_a_classifier_comes_and_goes_back(tmp_path: Path, choices: dict[str, Any]) -> None:
    theirs, tokenizer = random_bert(tmp_path / "theirs", "BertForSequenceClassification", **choices)
    loaded = import_model(tmp_path / "theirs", tmp_path / "ours")
    names = [theirs.config.id2label[i] for i in range(theirs.config.num_labels)]
    assert judge(loaded).labels == tuple(names)
    back = export_model(loaded, "huggingface", tmp_path / "back")
    again = transformers.AutoModelForSequenceClassification.from_pretrained(back).eval()
    tokens = transformers.AutoTokenizer.from_pretrained(back)
    assert again.config.id2label == theirs.config.id2label
    assert again.config.label2id == theirs.config.label2id
    for text in TEXTS:
        logits = told_there(theirs, tokenizer, text)
        torch.testing.assert_close(told_here(loaded, text), logits.softmax(-1), **TOLERANCE)
        torch.testing.assert_close(told_there(again, tokens, text), logits, **TOLERANCE)


def test_a_classifier_of_pairs_comes_and_goes_back(tmp_path: Path) -> None:
    theirs, tokenizer = random_bert(tmp_path / "theirs", "BertForSequenceClassification", **NAMED)
    loaded = import_model(tmp_path / "theirs", tmp_path / "ours", is_of_pairs=True)
    back = export_model(loaded, "huggingface", tmp_path / "back")
    again = transformers.AutoModelForSequenceClassification.from_pretrained(back).eval()
    tokens = transformers.AutoTokenizer.from_pretrained(back)
    for pair in PAIRS:
        logits = told_there(theirs, tokenizer, *pair)
        torch.testing.assert_close(told_here(loaded, *pair), logits.softmax(-1), **TOLERANCE)
        torch.testing.assert_close(told_there(again, tokens, *pair), logits, **TOLERANCE)
    assert judge(import_model(back, tmp_path / "again")).n_texts == 2


def test_a_tagger_comes_and_goes_back(tmp_path: Path) -> None:
    theirs, tokenizer = random_bert(
        tmp_path / "theirs", "BertForTokenClassification", id2label=dict(enumerate(TAGS))
    )
    loaded = import_model(tmp_path / "theirs", tmp_path / "ours")
    back = export_model(loaded, "huggingface", tmp_path / "back")
    again = transformers.AutoModelForTokenClassification.from_pretrained(back).eval()
    tokens = transformers.AutoTokenizer.from_pretrained(back)
    assert again.config.id2label == dict(enumerate(TAGS))
    assert again.config.label2id == {tag: i for i, tag in enumerate(TAGS)}
    opened = WordTagger.open(loaded.path)
    for text in TEXTS:
        logits = told_there(theirs, tokenizer, text)
        ids = torch.tensor([[BOS, *loaded.source_tokenizer.encode(text), EOS]])
        with torch.no_grad():
            torch.testing.assert_close(loaded.model(ids), logits, **TOLERANCE)
        torch.testing.assert_close(told_there(again, tokens, text), logits, **TOLERANCE)
    (told,) = opened.tag([("the animal street", split("the animal street"))])
    best = told_there(theirs, tokenizer, "the animal street")[0, 1:4].argmax(-1).tolist()
    assert list(told.tags) == [TAGS[i] for i in best]


TEXT = ["the cat sat on the mat", "a dog ran over the old street", "the animal was too tired"] * 2
TOKENIZERS: dict[str, Any] = {
    "sentencepiece": lambda: SentencePieceText.train(TEXT, 300, is_upper_limit=True),
    "characters": lambda: Characters.train(TEXT),
    "words": lambda: Words.train(TEXT),
}
SIZES: dict[str, Any] = {
    "d_model": 24,
    "n_heads": 3,
    "d_feedforward": 40,
    "n_layers": 2,
    "context": 48,
}


def own(folder: Path, tokenizer: Tokenizer, kind: str, **choices: Any) -> LoadedModel:
    torch.manual_seed(4)
    section: Any
    if kind == "bert-classify":
        section = ClassifierSection(**SIZES, labels=LABELS, **choices)
        training = TrainingSection(task="classification")
    else:
        section = TaggerSection(**SIZES, labels=TAGS, **choices)
        training = TrainingSection(task="tagging")
    model = noisy(build(section, len(tokenizer), len(tokenizer)))
    recipe = Recipe(model=section, training=training)
    return load(save(folder, model, recipe, tokenizer, tokenizer))


@pytest.mark.parametrize(
    ("kind", "choices"),
    [
        ("sentencepiece", {"n_types": 2}),
        ("sentencepiece", {"n_types": 0, "positions": "sinusoidal"}),
        ("characters", {"n_types": 1}),
        ("characters", {"n_types": 3, "activation": "relu"}),
    ],
    ids=["pieces-2", "pieces-0", "characters-1", "characters-3"],
)
@pytest.mark.parametrize("texts", [("the animal sat",), ("the animal", "a dog")])
def test_our_own_classifier_tells_the_same_there(
    tmp_path: Path, kind: str, choices: dict[str, Any], texts: tuple[str, ...]
) -> None:
    loaded = own(
        tmp_path / "ours", TOKENIZERS[kind](), "bert-classify", n_texts=len(texts), **choices
    )
    out = export_model(loaded, "huggingface", tmp_path / "theirs")
    theirs = transformers.AutoModelForSequenceClassification.from_pretrained(out).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(out)
    if kind == "sentencepiece":
        tokenizer.special_tokens_pattern = "cls_sep"
    logits = told_there(theirs, tokenizer, *texts)
    torch.testing.assert_close(told_here(loaded, *texts), logits.softmax(-1), **TOLERANCE)
    assert theirs.config.id2label == dict(enumerate(LABELS))
    assert theirs.config.label2id == {label: i for i, label in enumerate(LABELS)}


@pytest.mark.parametrize("kind", TOKENIZERS)
def test_our_own_tagger_tells_the_same_there(tmp_path: Path, kind: str) -> None:
    tokenizer = TOKENIZERS[kind]()
    loaded = own(tmp_path / "ours", tokenizer, "bert-tag", n_types=2)
    assert isinstance(loaded.model, Labeller)
    out = export_model(loaded, "huggingface", tmp_path / "theirs")
    theirs = transformers.AutoModelForTokenClassification.from_pretrained(out).eval()
    ids = torch.tensor([[BOS, *tokenizer.encode("the animal sat"), EOS]])
    with torch.no_grad():
        torch.testing.assert_close(theirs(ids).logits, loaded.model(ids), **TOLERANCE)
    assert theirs.config.id2label == dict(enumerate(TAGS))


def test_a_pipeline_of_theirs_reads_what_is_written(tmp_path: Path) -> None:
    loaded = own(tmp_path / "ours", TOKENIZERS["characters"](), "bert-classify", n_types=2)
    out = export_model(loaded, "huggingface", tmp_path / "theirs")
    pipeline = transformers.pipeline("text-classification", model=str(out))
    (best,) = judge(loaded).classify([["the old street"]])
    (found,) = pipeline("the old street")
    assert found["label"] == best.label
    assert found["score"] == pytest.approx(best.probability, abs=1e-4)
