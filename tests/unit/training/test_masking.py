"""Which words are taken out, what is read in their place, and that measuring is steady."""

import pytest
import torch

from regard.data import Batch
from regard.models import Bert, Sizes
from regard.special import BOS, EOS, NAMES, PAD
from regard.systems.masking import Joints, Masking
from regard.text import Characters, SentencePieceText, Words

V, MASK = 1000, 1000


def some_ids() -> torch.Tensor:
    ids = torch.randint(len(NAMES), V, (50, 203))
    ids[:, 0], ids[:, -2], ids[:, -1] = BOS, EOS, PAD
    return ids


def test_a_share_is_chosen_and_most_of_it_hidden() -> None:
    ids = some_ids()
    read, chosen = Masking(V, share=0.15).take_out(ids, MASK)
    n = int(chosen.sum())
    assert n / 10_000 == pytest.approx(0.15, abs=0.015)
    assert torch.equal(read[~chosen], ids[~chosen])
    hidden, same = read[chosen] == MASK, read[chosen] == ids[chosen]
    assert float(hidden.float().mean()) == pytest.approx(0.8, abs=0.03)
    assert float(same.float().mean()) == pytest.approx(0.1, abs=0.03)
    others = read[chosen][~hidden & ~same]
    assert len(others) / n == pytest.approx(0.1, abs=0.03)
    assert int(others.min()) >= len(NAMES)
    assert int(others.max()) < V


def test_special_ids_are_never_taken_out() -> None:
    ids = some_ids()
    _, chosen = Masking(V, share=0.9).take_out(ids, MASK)
    assert not chosen[ids < len(NAMES)].any()


def test_there_is_always_a_word_to_find() -> None:
    ids = torch.tensor([[BOS, 7, 8, EOS, PAD], [BOS, 9, EOS, PAD, PAD]])
    for _ in range(20):
        _, chosen = Masking(V, share=1e-6).take_out(ids, MASK)
        assert int(chosen.sum()) == 1
        assert int(ids[chosen]) >= len(NAMES)


def joints(kind: str) -> tuple[Joints, list[int]]:
    text = "the cats' whiskers, the cat"
    if kind == "words":
        tokenizer = Words.train([text])
    elif kind == "characters":
        tokenizer = Characters.train([text])
    else:
        tokenizer = SentencePieceText.train([text] * 3, 280)
    return Joints.of(tokenizer), tokenizer.encode(text)


@pytest.mark.parametrize(
    ("kind", "n_words"), [("words", 7), ("characters", 11), ("sentencepiece", 5)]
)
def test_pieces_of_a_word_are_known(kind: str, n_words: int) -> None:
    tables, ids = joints(kind)
    words = tables.words(torch.tensor([[BOS, *ids, EOS, PAD]]))[0]
    assert int(words[0]) == 0
    assert words[-2:].tolist() == [n_words + 1, n_words + 2]  # each special id by itself
    assert bool((words.diff() >= 0).all())


def test_whole_words_are_taken_out_whole() -> None:
    tables, ids = joints("sentencepiece")
    rows = torch.tensor([[BOS, *ids, EOS]]).expand(40, -1)
    _, chosen = Masking(300, share=0.4, joints=tables).take_out(rows, 300)
    words = tables.words(rows)
    assert len(set(words[0].tolist())) < words.shape[1] - 2  # some words have several pieces
    for row, numbers in zip(chosen, words, strict=True):
        for number in numbers.unique():
            of_word = row[numbers == number]
            assert bool(of_word.all()) or not bool(of_word.any())
    assert 0.2 < float(chosen.float().mean()) < 0.5


def test_measuring_takes_out_the_same_words_every_time() -> None:
    model = Bert(21, Sizes(16, 2, 12), n_layers=1, context=11)
    batch = Batch(torch.randint(4, 21, (3, 9)), torch.empty(3, 0, dtype=torch.long))
    task = Masking(21)
    model.eval().requires_grad_(False)
    losses = {float(task(model, batch, 0.0)[0]) for _ in range(3)}
    assert len(losses) == 1
    model.train()
    assert len({float(task(model, batch, 0.0)[0]) for _ in range(3)}) > 1
