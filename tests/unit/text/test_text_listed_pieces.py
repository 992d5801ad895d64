"""Pieces of any sentencepiece model, with ids from a list."""

import json
from pathlib import Path

import pytest
import sentencepiece

from regard.errors import TextError
from regard.special import BOS, EOS, PAD, UNKNOWN
from regard.text import ListedPieces, load


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> ListedPieces:
    path = tmp_path_factory.mktemp("text") / "source.spm"
    with path.open("wb") as writer:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(["the dog runs", "the cat sleeps", "a dog sleeps"] * 5),
            model_writer=writer,
            vocab_size=40,
            hard_vocab_limit=False,
            minloglevel=5,
        )
    processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    known = [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]
    return ListedPieces(path.read_bytes(), [*reversed(known), ">>fra<<", "▁Hund"])


def test_ids_come_from_the_list(tokenizer: ListedPieces) -> None:
    ids = tokenizer.encode("the dog sleeps")
    assert all(4 <= id_ < len(tokenizer) for id_ in ids)
    assert "".join(tokenizer.token(id_) for id_ in ids) == "▁the▁dog▁sleeps"
    assert tokenizer.decode([BOS, *ids, EOS, PAD]) == "the dog sleeps"
    assert tokenizer.encode_many(["the dog", "a cat"]) == [
        tokenizer.encode("the dog"),
        tokenizer.encode("a cat"),
    ]


def test_a_language_may_be_named_first(tokenizer: ListedPieces) -> None:
    code = len(tokenizer) - 2
    assert tokenizer.encode(">>fra<< the dog") == [code, *tokenizer.encode("the dog")]
    assert tokenizer.encode(">>xyz<< the dog")[0] == UNKNOWN
    first, second, *_ = tokenizer.pieces(">>fra<< the dog")
    assert (first.id, first.start, first.end) == (code, 0, 7)
    assert second.start == 8


def test_pieces_are_the_ids_with_their_places(tokenizer: ListedPieces) -> None:
    text = "the dog sleeps"
    pieces = tokenizer.pieces(text)
    assert [piece.id for piece in pieces] == tokenizer.encode(text)
    assert "".join(text[piece.start : piece.end] for piece in pieces) == "thedogsleeps"


def test_what_is_not_listed_is_unknown_and_what_the_model_lacks_is_written(
    tokenizer: ListedPieces,
) -> None:
    assert UNKNOWN in tokenizer.encode("Ω")
    assert tokenizer.decode([len(tokenizer) - 1, UNKNOWN]) == "Hund ⁇"


def test_saved_and_loaded_it_is_the_same(tokenizer: ListedPieces, tmp_path: Path) -> None:
    again = load(tokenizer.save(tmp_path / "tokenizer"))
    assert isinstance(again, ListedPieces)
    assert again.fingerprint == tokenizer.fingerprint
    assert again.encode("a cat runs") == tokenizer.encode("a cat runs")


@pytest.mark.parametrize("model", [None, "?", 5])
def test_a_file_without_its_model_is_refused(
    tokenizer: ListedPieces, tmp_path: Path, model: object
) -> None:
    path = tokenizer.save(tmp_path / "tokenizer")
    saved = json.loads(path.read_text())
    path.write_text(json.dumps(saved | {"model": model}))
    with pytest.raises(TextError, match="has no sentencepiece model in it"):
        load(path)
