"""Shortlists: what model 1 finds in pairs, and what a folder holds of it."""

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard.engine import is_native
from regard.errors import DataError, ModelFolderError, UsageError
from regard.systems import Translator
from regard.systems.shortlists import FILE, load_shortlist
from regard.text import Words

Folder = Callable[..., Path]
SIZES = {"d_model": 32, "n_heads": 2}
# Each word has its own translation, and one of every sentence has none.
MEANINGS = {"狗": "dog", "猫": "cat", "鸟": "bird", "鱼": "fish", "马": "horse", "牛": "cow"}


@pytest.fixture(autouse=True)
def _needs_kernels() -> None:
    if not is_native():
        pytest.skip("no C++ kernels: install g++ on Linux, for example with apt-get install g++")


@pytest.fixture
def words() -> Words:
    return Words.train([" ".join((*MEANINGS, *MEANINGS.values(), "the", "rare"))])


@pytest.fixture
def pairs(tmp_path: Path) -> str:
    draw = random.Random(3)
    lines = []
    for _ in range(60):
        chosen = draw.sample(sorted(MEANINGS), 3)
        turned = draw.sample([MEANINGS[one] for one in chosen], 3)
        lines.append(f"{' '.join(chosen)}\tthe {' '.join(turned)}\n")
    file = tmp_path / "pairs.tsv"
    file.write_text("".join(lines), encoding="utf-8")
    return str(file)


def test_each_word_is_given_its_translation(folder: Folder, words: Words, pairs: str) -> None:
    model = folder(tokenizer=words, **SIZES)
    done = regard.learn_shortlist(model, [pairs], [pairs], translations=1, always=1)
    assert (done.n_pairs, done.n_held_out) == (60, 60)
    assert set(done.shares) == set(done.speeds) == {1, 5}
    kept = load_shortlist(Translator.open(model).loaded)
    (the,) = words.encode("the")
    assert set(kept.always.tolist()) == {0, 2, 3, the}  # with what begins, ends and fills up
    for source, target in MEANINGS.items():
        assert kept.translations[words.encode(source)[0]].tolist() == words.encode(target)
    assert kept.translations[words.encode("rare")[0]].tolist() == [-1]
    assert kept.tokens(np.array([words.encode("狗")]), np.array([[0]])).tolist() == sorted(
        {0, 2, 3, the, *words.encode("dog")}
    )


@pytest.mark.parametrize("precision", ["float32", "int8"])
def test_all_tokens_on_it_change_nothing(
    folder: Folder, words: Words, pairs: str, precision: str
) -> None:
    model = folder(tokenizer=words, **SIZES)
    regard.learn_shortlist(model, [pairs], [pairs], always=len(words))
    sentences = ["狗 猫", "鸟", "马 牛 鱼 狗"]
    short = regard.load(model, precision=precision, shortlist=True)
    assert short.translate(sentences) == regard.load(model, precision=precision).translate(
        sentences
    )


def test_what_does_not_fit_is_refused(folder: Folder, words: Words, pairs: str) -> None:
    model = folder(tokenizer=words, **SIZES)
    with pytest.raises(UsageError, match=f"has no shortlist: .*regard shortlist {model}"):
        regard.load(model, shortlist=True)
    with pytest.raises(DataError, match="--data"):
        regard.learn_shortlist(model)
    with pytest.raises(UsageError, match="1 translation"):
        regard.learn_shortlist(model, [pairs], translations=0)
    with pytest.raises(UsageError, match="leave out the shortlist"):
        regard.learn_shortlist(folder("odd", tokenizer=words), [pairs])
    regard.learn_shortlist(model, [pairs], [pairs])
    before = (model / FILE).read_bytes()
    with pytest.raises(DataError, match="no such file"):
        regard.learn_shortlist(model, [pairs], ["nowhere.tsv"], translations=1)
    assert (model / FILE).read_bytes() == before
    with pytest.raises(UsageError, match="several vote"):
        Translator.open([model, model], shortlist=True)
    file = model / FILE
    other = folder("other", tokenizer=Words.train(["a b c"]), **SIZES)
    (other / FILE).write_bytes(file.read_bytes())
    with pytest.raises(ModelFolderError, match="does not fit the vocabularies"):
        regard.load(other, shortlist=True)
    torn = bytearray(file.read_bytes())
    torn[-1] ^= 1
    file.write_bytes(torn)
    with pytest.raises(ModelFolderError, match="is damaged"):
        regard.load(model, shortlist=True)
    assert torch.is_grad_enabled()
