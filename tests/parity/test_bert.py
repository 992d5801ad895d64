"""BERT of the library transformers: the same ids, logits and vectors, both ways."""

from pathlib import Path
from typing import Any

import pytest
import torch

from regard.config import Recipe, TrainingSection
from regard.config.alone import BertSection
from regard.folder import LoadedModel, save
from regard.models import Bert
from regard.special import BOS, EOS
from regard.systems import TextEncoder, build, export_model, import_model, load
from regard.text import Characters, Elsewhere, SentencePieceText, Tokenizer, Words
from tests.parity.theirs import WORD_PIECES, noisy, random_bert, sentences_folder, transformers

SENTENCES = [
    "The animal didn't cross the street.",
    "Élan naïve café 你好世界 😀",
    " odd\u3000white\t space ",
]
TOLERANCE = {"atol": 1e-4, "rtol": 1e-4}
CHOICES: list[dict[str, Any]] = [
    {"kind": "BertForMaskedLM"},
    {"kind": "BertForMaskedLM", "tie_word_embeddings": False, "hidden_act": "gelu_new"},
    {"kind": "BertForPreTraining", "hidden_act": "relu", "type_vocab_size": 3},
    {"kind": "BertModel", "layer_norm_eps": 1e-3},
]


Both = tuple[Any, Any, LoadedModel]


@pytest.fixture(scope="module", params=CHOICES, ids=lambda one: "-".join(map(str, one.values())))
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("bert")
    model, tokenizer = random_bert(folder / "theirs", **request.param)
    return model, tokenizer, import_model(folder / "theirs", folder / "ours")


def ours_of(loaded: LoadedModel, text: str) -> torch.Tensor:
    return torch.tensor([[BOS, *loaded.source_tokenizer.encode(text), EOS]])


def rows_of(loaded: LoadedModel) -> list[int]:
    assert isinstance(loaded.source_tokenizer, Elsewhere)
    return [row for row in loaded.source_tokenizer.rows if row is not None]


def test_ids_logits_and_vectors_are_theirs(pair: Both) -> None:
    theirs, tokenizer, loaded = pair
    model, rows = loaded.model, rows_of(loaded)
    assert isinstance(model, Bert)
    for text in SENTENCES:
        given, ids = tokenizer(text, return_tensors="pt"), ours_of(loaded, text)
        assert [rows[one] for one in ids[0].tolist()] == given["input_ids"][0].tolist()
        types = torch.arange(ids.shape[1])[None] % theirs.config.type_vocab_size
        with torch.no_grad():
            said = theirs(input_ids=given["input_ids"], token_type_ids=types)
            if loaded.recipe.model.model_dump()["has_head"]:
                torch.testing.assert_close(model(ids, types), said[0][..., rows], **TOLERANCE)
            else:
                torch.testing.assert_close(model.hidden(ids, types), said[0], **TOLERANCE)
                torch.testing.assert_close(model.pooled(ids, types), said[1], **TOLERANCE)


def test_what_goes_back_is_what_came(pair: Both, tmp_path: Path) -> None:
    theirs, tokenizer, loaded = pair
    back = export_model(loaded, "huggingface", tmp_path / "back")
    has_head = loaded.recipe.model.model_dump()["has_head"]
    auto = transformers.AutoModelForMaskedLM if has_head else transformers.AutoModel
    again, tokens = (
        auto.from_pretrained(back).eval(),
        transformers.AutoTokenizer.from_pretrained(back),
    )
    for text in SENTENCES:
        given, new = tokenizer(text, return_tensors="pt"), tokens(text, return_tensors="pt")
        assert given["input_ids"].tolist() == new["input_ids"].tolist()
        with torch.no_grad():
            torch.testing.assert_close(again(**new)[0], theirs(**given)[0], **TOLERANCE)


def test_a_gap_is_filled_with_the_word_that_they_find(tmp_path: Path) -> None:
    theirs, tokenizer = random_bert(tmp_path / "theirs", "BertForMaskedLM")
    finder = TextEncoder(import_model(tmp_path / "theirs", tmp_path / "ours"))
    given = tokenizer("the [MASK] street.", return_tensors="pt")
    with torch.no_grad():
        logits = theirs(**given).logits[0, 2]
    logits[[0, 2, 3, 4, 5]] = -torch.inf
    best = WORD_PIECES[int(logits.argmax())]
    ((found, *_),) = finder.fill("the [MASK] street.").gaps
    assert found.word == best.removeprefix("##")


TEXT = ["the cat sat on the mat", "a dog ran over the old street", "the animal was too tired"] * 2
TOKENIZERS: dict[str, Any] = {
    "sentencepiece": lambda: SentencePieceText.train(TEXT, 300, is_upper_limit=True),
    "characters": lambda: Characters.train(TEXT),
    "words": lambda: Words.train(TEXT),
}


def own(folder: Path, tokenizer: Tokenizer, **choices: Any) -> LoadedModel:
    torch.manual_seed(4)
    section = BertSection(
        d_model=24, n_heads=3, d_feedforward=40, n_layers=2, context=48, **choices
    )
    model = noisy(build(section, len(tokenizer), len(tokenizer)))
    recipe = Recipe(model=section, training=TrainingSection(task="masked"))
    return load(save(folder, model, recipe, tokenizer, tokenizer))


@pytest.mark.parametrize(
    ("kind", "choices"),
    [
        ("sentencepiece", {"n_types": 2}),
        ("characters", {"positions": "sinusoidal"}),
        ("words", {"positions": "none", "tie": "none", "norm_epsilon": 1e-3}),
    ],
)
def test_our_own_opens_there(tmp_path: Path, kind: str, choices: dict[str, Any]) -> None:
    tokenizer = TOKENIZERS[kind]()
    loaded = own(tmp_path / "ours", tokenizer, **choices)
    out = export_model(loaded, "huggingface", tmp_path / "theirs")
    theirs = transformers.AutoModelForMaskedLM.from_pretrained(out).eval()
    ids = ours_of(loaded, "the animal sat")
    ids[0, 2] = loaded.model.mask
    with torch.no_grad():
        torch.testing.assert_close(theirs(ids).logits, loaded.model(ids), **TOLERANCE)
    if kind == "words":
        assert (out / "regard-tokenizer.json").is_file()
        return
    tokens = transformers.AutoTokenizer.from_pretrained(out)
    assert tokens.mask_token_id == loaded.model.mask
    assert tokens.pad_token_id == 0
    found = tokens("the animal sat", add_special_tokens=False)["input_ids"]
    assert found == tokenizer.encode("the animal sat")


@pytest.mark.parametrize(
    ("mode", "pool"),
    [
        ("mean_tokens", lambda vectors: vectors.mean(0)),
        ("cls_token", lambda vectors: vectors[0]),
        ("max_tokens", lambda vectors: vectors.amax(0)),
    ],
    ids=["mean", "first", "max"],
)
def test_sentences_become_the_vectors_that_the_folder_asks_for(
    tmp_path: Path, mode: str, pool: Any
) -> None:
    theirs = sentences_folder(
        tmp_path / "theirs", **{"pooling_mode_max_tokens": False, f"pooling_mode_{mode}": True}
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "theirs")
    loaded = import_model(tmp_path / "theirs", tmp_path / "ours")
    finder = TextEncoder(loaded)
    assert finder.cut(SENTENCES) == [0, 1, 2]
    for text, vector in zip(SENTENCES, finder.embed_each(SENTENCES), strict=True):
        given = tokenizer(text, return_tensors="pt", truncation=True, max_length=9)
        with torch.no_grad():
            pooled = pool(theirs(**given)[0][0])
        torch.testing.assert_close(vector, pooled / pooled.norm(), **TOLERANCE)
    back = export_model(loaded, "huggingface", tmp_path / "back")
    again = import_model(back, tmp_path / "again").recipe.model
    assert again == loaded.recipe.model
