"""Words taken out of a sentence, and sentences as vectors."""

from pathlib import Path

import numpy as np
import pytest
import torch

from regard.config import read_recipe
from regard.errors import TextTypeError, UsageError
from regard.folder import save
from regard.models import Bert
from regard.special import BOS, EOS, NAMES
from regard.systems import TextEncoder, build
from regard.text import SentencePieceText, Words

TEXT = "the cat sat on a mat and then the dog sat down"
SMALL = ["model.n_layers=2", "model.d_model=32", "model.n_heads=2", "model.d_feedforward=16"]


@pytest.fixture
def finder(tmp_path: Path) -> TextEncoder:
    tokenizer = Words.train([TEXT])
    recipe = read_recipe("bert-tiny", [*SMALL, "model.context=9"])
    torch.manual_seed(3)
    model = build(recipe.model, len(tokenizer), len(tokenizer))
    assert isinstance(model, Bert)
    return TextEncoder.open(save(tmp_path / "bert", model, recipe, tokenizer, tokenizer))


def test_the_best_words_come_first(finder: TextEncoder) -> None:
    (found,) = finder.fill("the [MASK] sat", k=40).gaps
    assert len(found) == len(finder.tokenizer) - len(NAMES)
    assert sum(one.probability for one in found) == pytest.approx(1.0)
    assert [one.probability for one in found] == sorted(
        (one.probability for one in found), reverse=True
    )
    ids = [BOS, *finder.tokenizer.encode("the"), finder.model.mask]
    ids += [*finder.tokenizer.encode("sat"), EOS]
    logits = finder.model(torch.tensor([ids]))[0, 2]
    logits[: len(NAMES)] = logits[finder.model.mask] = -torch.inf
    assert found[0].word == finder.tokenizer.token(int(logits.argmax()))
    assert found[0].text == f"the {found[0].word} sat"


def test_each_mask_is_found_by_itself(finder: TextEncoder) -> None:
    first, second = finder.fill("[MASK] cat sat on [MASK]", k=2).gaps
    assert first[0].text == f"{first[0].word} cat sat on [MASK]"
    assert second[1].text == f"[MASK] cat sat on {second[1].word}"


def test_a_sentence_is_the_mean_of_its_words(finder: TextEncoder) -> None:
    one, other = finder.embed_each(["the cat sat", "a mat"])
    ids = torch.tensor([[BOS, *finder.tokenizer.encode("a mat"), EOS]])
    torch.testing.assert_close(other, finder.model.hidden(ids)[0, 1:3].mean(0))
    assert one.shape == (32,)
    (alone,) = finder.embed_each(["the cat sat"])
    torch.testing.assert_close(one, alone, rtol=1e-4, atol=1e-5)


def test_many_sentences_keep_their_order(finder: TextEncoder) -> None:
    sentences = ["the cat", "a mat", "the dog sat down", "on"] * 11
    found = list(finder.embed_each(sentences))
    assert len(found) == 44
    torch.testing.assert_close(found[2], found[-2], rtol=1e-4, atol=1e-5)
    assert not torch.allclose(found[0], found[1])


def test_a_sentence_is_like_itself(finder: TextEncoder) -> None:
    assert finder.similarity("the cat", "the cat") == pytest.approx(1.0, abs=1e-5)
    assert finder.similarity("the cat", "sat down") < 1.0


@pytest.mark.parametrize(
    ("text", "fact"),
    [("the cat", r"\[MASK\]"), ("the cat sat on a mat and [MASK]", "10 tokens .* sees 9 ")],
)
def test_what_cannot_be_filled_is_refused(finder: TextEncoder, text: str, fact: str) -> None:
    with pytest.raises(UsageError, match=fact):
        finder.fill(text)


def test_an_empty_sentence_is_refused(finder: TextEncoder) -> None:
    with pytest.raises(UsageError, match="line 2 is empty"):
        finder.embed(["the cat", " "])
    with pytest.raises(UsageError, match="first sentence is empty"):
        finder.similarity("", "the dog")


def test_pieces_of_words_are_told_apart_and_none_is_empty(tmp_path: Path) -> None:
    tokenizer = SentencePieceText.train([TEXT] * 9, 300)
    recipe = read_recipe("bert-tiny", SMALL)
    model = build(recipe.model, len(tokenizer), len(tokenizer))
    finder = TextEncoder.open(save(tmp_path / "pieces", model, recipe, tokenizer, tokenizer))
    (found,) = finder.fill("the [MASK] sat", k=1000).gaps
    tokens = [one.token for one in found]
    assert "▁" not in tokens
    assert {"a", "▁a"} <= set(tokens)
    assert len(set(tokens)) == len(tokens)
    assert all(one.word.strip() for one in found)
    assert sum(one.probability for one in found) == pytest.approx(1.0)


def test_a_gap_in_chinese_has_no_spaces_around_it(tmp_path: Path) -> None:
    tokenizer = SentencePieceText.train(["我爱你。", "他不知道你在哪里。"] * 9, 290)
    recipe = read_recipe("bert-tiny", SMALL)
    model = build(recipe.model, len(tokenizer), len(tokenizer))
    finder = TextEncoder.open(save(tmp_path / "chinese", model, recipe, tokenizer, tokenizer))
    first, second = finder.fill("我[MASK]你 [MASK]。", k=1000).gaps
    texts = {one.token: one.text for one in first}
    assert texts["爱"] == "我爱你 [MASK]。"
    assert texts["▁我"] == "我 我你 [MASK]。"
    assert {one.token: one.text for one in second}["在"] == "我[MASK]你在。"
    read = [BOS, *tokenizer.encode("我"), finder.model.mask]
    read += [*tokenizer.encode("x你")[-1:], finder.model.mask]
    assert tokenizer.token(read[-2]) == "你"
    read += [*tokenizer.encode("x。")[-1:], EOS]
    logits = finder.words_alone(finder.model(torch.tensor([read]))[0, [2]])
    assert first[0].probability == pytest.approx(float(logits.softmax(-1).max()), abs=1e-6)


def test_one_text_has_one_answer_and_several_have_several(finder: TextEncoder) -> None:
    text = "the [MASK] sat"
    alone = finder.fill(text, k=2)
    assert finder.fill([text, text], k=2) == [alone, alone]
    assert (alone.text, alone.words) == (text, (alone.gaps[0][0].word,))
    assert str(alone) == alone.gaps[0][0].text
    vector = finder.embed("the cat sat")
    assert (vector.shape, vector.dtype) == ((32,), np.float32)
    rows = finder.embed(["a mat", "the cat sat", "on"])
    assert rows.shape == (3, 32)
    np.testing.assert_allclose(rows[1], vector, rtol=1e-4, atol=1e-5)
    assert finder.embed([]).shape == (0, 32)


@pytest.mark.usefixtures("as_users_call")
def test_what_is_no_text_is_named(finder: TextEncoder) -> None:
    with pytest.raises(TextTypeError, match=r"text\[1\] is None"):
        list(finder.fill(["the [MASK]", None]))  # type: ignore[list-item]
    with pytest.raises(TextTypeError, match=r"sentences\[0\] is 3"):
        finder.embed([3])  # type: ignore[list-item]
    with pytest.raises(TextTypeError, match="sentences is a single str"):
        finder.cut("the cat")
    with pytest.raises(TextTypeError, match="second sentence is None"):
        finder.similarity("the cat", None)  # type: ignore[arg-type]
