"""GPT-2 of the library transformers: the same ids, probabilities and stories, both ways."""

from pathlib import Path
from typing import Any

import pytest
import torch

from regard.config import Recipe, TrainingSection
from regard.config.alone import GptSection
from regard.engine import for_decoding
from regard.folder import LoadedModel, save
from regard.models import Gpt
from regard.special import BOS
from regard.systems import TextGenerator, build, export_model, import_model, load
from regard.text import Characters, Elsewhere, SentencePieceText, Tokenizer
from tests.parity.theirs import noisy, random_gpt2, transformers

SENTENCES = ["The animal didn't cross the street.", "Élan 你好 😀", "  odd\u3000white\n\n space "]
TOLERANCE = {"atol": 1e-4, "rtol": 1e-4}
CHOICES: list[dict[str, Any]] = [
    {},
    {"tie_word_embeddings": False, "activation_function": "relu", "n_inner": 40},
    {"activation_function": "gelu", "layer_norm_epsilon": 1e-3, "tokens": "words"},
]


Both = tuple[Any, Any, LoadedModel]


@pytest.fixture(
    scope="module", params=CHOICES, ids=lambda one: "-".join(map(str, one.values())) or "plain"
)
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Both:
    folder = tmp_path_factory.mktemp("gpt2")
    model, tokenizer = random_gpt2(folder / "theirs", **request.param)
    return model, tokenizer, import_model(folder / "theirs", folder / "ours")


def test_ids_and_probabilities_are_theirs(pair: Both) -> None:
    theirs, tokenizer, loaded = pair
    own = loaded.source_tokenizer
    assert isinstance(own, Elsewhere)
    loud = [i for i in range(len(own)) if i not in own.silent]
    for text in SENTENCES:
        ids = own.encode(text)
        given = tokenizer(text, add_special_tokens=False, return_tensors="pt")["input_ids"]
        assert [own.rows[one] for one in ids] == given[0].tolist()
        with torch.no_grad():
            ours = loaded.model(torch.tensor([ids])).log_softmax(-1)
            expected = theirs(given).logits.log_softmax(-1)[..., [own.rows[i] for i in loud]]
        torch.testing.assert_close(ours[..., loud], expected, **TOLERANCE)
        assert ours[..., list(own.silent)].exp().sum() == 0


def test_it_writes_what_they_write(pair: Both) -> None:
    theirs, tokenizer, loaded = pair
    assert isinstance(loaded.model, Gpt)
    given = tokenizer("the animal", add_special_tokens=False, return_tensors="pt")["input_ids"]
    with torch.no_grad():
        expected = theirs.generate(
            given, max_new_tokens=12, do_sample=False, eos_token_id=None, pad_token_id=0
        )[0, given.shape[1] :].tolist()
    own = loaded.source_tokenizer
    assert isinstance(own, Elsewhere)
    writer = for_decoding(loaded.model)
    written, ids = [], own.encode("the animal")
    state = writer.start(torch.tensor([ids]))
    token = BOS
    for _ in range(12):
        logits, state = writer.step(state, torch.tensor([token]))
        token = int(logits.argmax())
        written.append(own.rows[token])
    assert written == expected


def test_what_goes_back_is_what_came(pair: Both, tmp_path: Path) -> None:
    theirs, tokenizer, loaded = pair
    back = export_model(loaded, "huggingface", tmp_path / "back")
    again = transformers.AutoModelForCausalLM.from_pretrained(back).eval()
    tokens = transformers.AutoTokenizer.from_pretrained(back)
    for text in SENTENCES:
        given, new = tokenizer(text, return_tensors="pt"), tokens(text, return_tensors="pt")
        assert given["input_ids"].tolist() == new["input_ids"].tolist()
        ids = given["input_ids"]
        with torch.no_grad():
            torch.testing.assert_close(again(ids).logits, theirs(ids).logits, **TOLERANCE)


def test_a_story_is_text(tmp_path: Path) -> None:
    random_gpt2(tmp_path / "theirs")
    import_model(tmp_path / "theirs", tmp_path / "ours")
    writer = TextGenerator.open(tmp_path / "ours")
    assert writer.unknown("你好 😀") == []
    found = writer.write("你好", greedy=True, max_tokens=5)
    assert len(found.text) > 0
    assert str(found) == f"你好{found.text}"


TEXT = ["the cat sat on the mat\n", "a dog ran over the old street\n"] * 3
TOKENIZERS: dict[str, Any] = {
    "sentencepiece": lambda: SentencePieceText.train(
        TEXT, 300, is_upper_limit=True, keeps_layout=True
    ),
    "characters": lambda: Characters.train(TEXT),
}


def own_gpt(folder: Path, tokenizer: Tokenizer, **choices: Any) -> LoadedModel:
    torch.manual_seed(4)
    section = GptSection(d_model=24, n_heads=3, d_feedforward=40, n_layers=2, context=48, **choices)
    model = noisy(build(section, len(tokenizer), len(tokenizer)))
    recipe = Recipe(model=section, training=TrainingSection(task="language"))
    return load(save(folder, model, recipe, tokenizer, tokenizer))


@pytest.mark.parametrize(
    ("kind", "choices"),
    [("sentencepiece", {"activation": "gelu-tanh"}), ("characters", {"positions": "sinusoidal"})],
)
def test_our_own_opens_there(tmp_path: Path, kind: str, choices: dict[str, Any]) -> None:
    tokenizer = TOKENIZERS[kind]()
    loaded = own_gpt(tmp_path / "ours", tokenizer, **choices)
    out = export_model(loaded, "huggingface", tmp_path / "theirs")
    theirs = transformers.AutoModelForCausalLM.from_pretrained(out).eval()
    text = "the cat sat on a mat"
    ids = torch.tensor([tokenizer.encode(text)])
    with torch.no_grad():
        torch.testing.assert_close(theirs(ids).logits, loaded.model(ids), **TOLERANCE)
    tokens = transformers.AutoTokenizer.from_pretrained(out)
    assert tokens(text)["input_ids"] == ids[0].tolist()
