"""From an opening to text: streamed whole, stopped where asked, and what each word looked at."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from regard.config import read_recipe
from regard.decoding import Sampling, Slid
from regard.errors import TextTypeError, UsageError, WrongModelError
from regard.folder import save
from regard.inspection.recording import record
from regard.systems import Looks, TextGenerator, Translator, build, open_model
from regard.systems.writing import TEMPERATURE
from regard.text import SentencePieceText, Tokenizer, Words, learn

TEXT = "the cat sat on the mat\nand the dog sat on the cat\n"
SMALL = ["model.n_layers=2", "model.d_model=32", "model.n_heads=2", "model.d_feedforward=16"]


def folder(path: Path, tokenizer: Tokenizer, *changes: str) -> Path:
    recipe = read_recipe("gpt-tiny", [*SMALL, "model.context=16", *changes])
    torch.manual_seed(3)
    model = build(recipe.model, len(tokenizer), len(tokenizer))
    torch.nn.init.normal_(model.output.weight, std=0.3)
    return save(path, model, recipe, tokenizer, tokenizer)


@pytest.fixture(params=["characters", "sentencepiece", "words"])
def writer(request: pytest.FixtureRequest, tmp_path: Path) -> TextGenerator:
    lines = TEXT.splitlines(keepends=True) * 5
    size = 285 if request.param == "sentencepiece" else None
    tokenizer = learn(request.param, lines, size, keeps_layout=True)
    return TextGenerator.open(folder(tmp_path / "model", tokenizer))


def text_of(pieces: Iterator[str | Slid]) -> str:
    return "".join(piece for piece in pieces if isinstance(piece, str))


def test_what_is_streamed_is_the_text_whole(writer: TextGenerator) -> None:
    sampling = Sampling(seed=4)
    pieces = [
        one for one in writer.write_each("the cat", sampling, most=14) if isinstance(one, str)
    ]
    ids = writer.tokenizer.encode("the cat")
    tokens = [one for one in writer._tokens(ids, sampling, 14, None) if isinstance(one, int)]
    whole = writer.tokenizer.decode([*ids, *tokens])
    assert "the cat" + "".join(pieces) == whole
    assert len(pieces) > 1
    assert all(pieces)


def test_a_text_comes_whole_in_pieces_or_one_for_each_prompt(writer: TextGenerator) -> None:
    events = writer.write_each("the cat", Sampling(temperature=TEMPERATURE, seed=4), most=14)
    after = text_of(events)
    found = writer.write("the cat", max_tokens=14, seed=4)
    assert (found.prompt, found.text, str(found)) == ("the cat", after, f"the cat{after}")
    assert "".join(writer.write("the cat", max_tokens=14, seed=4, stream=True)) == after
    assert writer.write(["the cat", "a"], max_tokens=14, seed=4)[0] == found
    likeliest = writer.write("the cat", max_tokens=14, greedy=True, stop="t")
    assert likeliest.text == text_of(writer.write_each("the cat", None, most=14, stops=["t"]))
    with pytest.raises(UsageError, match="stream=True"):
        writer.write(["the cat"], stream=True)  # type: ignore[call-overload]


def test_it_ends_before_a_stop(writer: TextGenerator) -> None:
    whole = text_of(writer.write_each("the cat", Sampling(seed=4), most=20))
    stop = whole[len(whole) // 2 :][:3]
    ended = text_of(writer.write_each("the cat", Sampling(seed=4), most=20, stops=[stop, "never"]))
    assert ended == whole[: whole.index(stop)]


def test_watching_changes_nothing_and_sees_every_word(writer: TextGenerator) -> None:
    looks = Looks(layer=0)
    sampling = Sampling(seed=4)
    watched = text_of(writer.write_each("the cat sat", sampling, most=14, looks=looks))
    assert watched == text_of(writer.write_each("the cat sat", sampling, most=14))
    assert len(looks.rows) == len(looks.ids) - len(writer.tokenizer.encode("the cat sat"))
    for first, row in looks.rows:
        assert first >= 0
        assert float(row.sum()) == pytest.approx(1.0, abs=1e-4)
        assert len(row) <= 16
    noted = looks.words(writer.tokenizer)
    assert noted
    assert all(len(one.looked_at) <= 3 for one in noted)
    for one in noted:
        shares = [share for _, share in one.looked_at]
        assert shares == sorted(shares, reverse=True)
        assert all(0.0 <= share <= 1.0 + 1e-4 for share in shares)


def test_a_look_is_that_of_the_place_it_was_written_from(tmp_path: Path) -> None:
    writer = TextGenerator.open(folder(tmp_path / "m", Words.train([TEXT])))
    looks = Looks(layer=1, head=0)
    text_of(writer.write_each("the cat sat on", None, most=2, looks=looks))
    model = writer.model
    with record(model, model.sites[1].probe) as recording, torch.inference_mode():
        model(torch.tensor([looks.ids[:-1]]))
    weights = recording[model.sites[1].probe][0, 0, -1]
    order = weights.argsort(descending=True).tolist()
    noted = looks.words(writer.tokenizer, most=9)[-1]
    assert noted.word == writer.tokenizer.token(looks.ids[-1])
    words, shares = zip(*noted.looked_at, strict=True)
    assert list(words) == [writer.tokenizer.token(looks.ids[i]) for i in order]
    assert list(shares) == pytest.approx([float(weights[i]) for i in order], abs=1e-5)


def test_an_empty_prompt_begins_a_text(writer: TextGenerator) -> None:
    assert text_of(writer.write_each("", Sampling(seed=1), most=10)) is not None


def test_a_long_text_slides_and_says_so(writer: TextGenerator) -> None:
    events = list(writer.write_each("the cat " * 30, Sampling(seed=2), most=5))
    assert any(isinstance(one, Slid) and one.n_seen == 8 for one in events)


def test_what_the_model_never_saw_is_told(tmp_path: Path) -> None:
    writer = TextGenerator.open(folder(tmp_path / "m", Words.train([TEXT])))
    assert writer.unknown("the zebra sat on a zebra") == ["zebra", "a"]


@pytest.mark.parametrize(
    ("looks", "fact"),
    [(Looks(layer=2), "no layer 2.*0 to 1"), (Looks(head=2), "no head 2.*0 to 1")],
)
def test_what_cannot_be_looked_at_is_refused(looks: Looks, fact: str, tmp_path: Path) -> None:
    writer = TextGenerator.open(folder(tmp_path / "m", Words.train([TEXT])))
    with pytest.raises(UsageError, match=fact):
        list(writer.write_each("the", None, most=2, looks=looks))


def test_another_kind_of_model_is_refused(tmp_path: Path) -> None:
    tokenizer = Words.train([TEXT])
    recipe = read_recipe("bert-tiny", SMALL)
    model = build(recipe.model, len(tokenizer), len(tokenizer))
    path = save(tmp_path / "bert", model, recipe, tokenizer, tokenizer)
    with pytest.raises(WrongModelError, match=r"bert holds a model of kind bert, .*regard fill"):
        TextGenerator.open(path)


def test_a_language_model_does_not_translate(tmp_path: Path) -> None:
    path = folder(tmp_path / "m", Words.train([TEXT]))
    fact = r"m holds a model of kind gpt, which does not translate: .*regard generate"
    with pytest.raises(WrongModelError, match=fact):
        Translator.open(path)
    with pytest.raises(WrongModelError, match=fact):
        open_model(path).translate("the cat")  # type: ignore[attr-defined]
    assert not hasattr(open_model(path), "translate")
    with pytest.raises(AttributeError, match="transslate"):
        open_model(path).transslate  # type: ignore[attr-defined]  # noqa: B018


def test_layout_survives_sentencepiece() -> None:
    lines = ["if a:\n", "    b = 1\n", "\n", "        return\n"] * 9
    tokenizer = SentencePieceText.train(lines, 290, keeps_layout=True)
    text = "if b:\n        a = 1\n\n\nreturn"
    ids = tokenizer.encode(text)
    assert tokenizer.decode(ids) == text
    assert "".join(tokenizer.decode([one]) for one in ids) == text
    parts = tokenizer.encode_many(text.splitlines(keepends=True))
    assert [one for part in parts for one in part] == ids


@pytest.mark.usefixtures("as_users_call")
def test_what_is_no_text_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    writer = TextGenerator.open(folder(tmp_path / "model", Words.train([TEXT])))
    with pytest.raises(TextTypeError, match="prompt is None"):
        writer.write_each(None, None)  # type: ignore[arg-type]
    with pytest.raises(TextTypeError, match="stops is a single str"):
        writer.write_each("the cat", None, stops="end")
    with pytest.raises(TextTypeError, match="prompt is None"):
        writer.write(None)  # type: ignore[call-overload]
    with pytest.raises(TextTypeError, match=r"prompt\[1\] is 3"):
        writer.write(["the cat", 3])  # type: ignore[list-item]
    with pytest.raises(UsageError, match=r"no option most: .*max_tokens"):
        writer.write("the cat", most=3)  # type: ignore[call-overload]
    with pytest.raises(TextTypeError, match="prompt is"):
        writer.unknown(["the cat"])  # type: ignore[arg-type]
