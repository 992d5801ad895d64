"""Whatever is written can be encoded, decoded and found again in the text."""

import unicodedata
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from regard.text import Characters, SentencePieceText, Words, words

SAMPLE = ["A small dog runs.", "两个女人坐在桌边。", "Ein Mann in Blau, 3 Hunde!"] * 4
BPE = SentencePieceText.train(SAMPLE, 360, is_upper_limit=True)
UNIGRAM = SentencePieceText.train(SAMPLE, 320, algorithm="unigram", is_upper_limit=True)
TOKENIZERS = [BPE, UNIGRAM, Words.train(SAMPLE), Characters.train(SAMPLE)]

ANY_TEXT = st.text(max_size=40)
# Characters the normalisation leaves alone: no controls, no separators, nothing that composes.
KEPT = st.characters(
    exclude_categories=("Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Mc", "Me", "Co", "Cn"),
    exclude_characters="▁",
).filter(lambda c: unicodedata.is_normalized("NFC", c) and unicodedata.is_normalized("NFKC", c))
WRITTEN = st.text(
    st.one_of(KEPT, st.sampled_from("请看照片，。！🙂👍犬dog")), min_size=1, max_size=12
).filter(lambda word: unicodedata.is_normalized("NFC", word))
SENTENCES = st.lists(WRITTEN, min_size=1, max_size=6).map(" ".join)


@given(SENTENCES)
def test_subwords_give_text_back(sentence):
    assert BPE.decode(BPE.encode(sentence)) == sentence
    assert UNIGRAM.decode(UNIGRAM.encode(sentence)) == sentence


@given(ANY_TEXT)
def test_encoding_what_was_decoded_changes_nothing(text):
    once = BPE.decode(BPE.encode(text))
    assert BPE.decode(BPE.encode(once)) == once


@given(ANY_TEXT)
def test_pieces_lie_in_the_text_in_order(text):
    split = words.split(text)
    for tokenizer in TOKENIZERS:
        pieces = tokenizer.pieces(text)
        assert [p.id for p in pieces] == tokenizer.encode(text)
        assert [p.text for p in pieces] == [tokenizer.token(p.id) for p in pieces]
        assert all(0 <= p.start <= p.end <= len(text) for p in pieces)
        assert [p.start for p in pieces] == sorted(p.start for p in pieces)
        assert all(0 <= p.word < max(1, len(split)) for p in pieces)
        assert [p.word for p in pieces] == sorted(p.word for p in pieces)


@given(SENTENCES)
def test_pieces_cover_every_character_and_their_own_word(sentence):
    split = words.split(sentence)
    pieces = BPE.pieces(sentence)
    covered = {i for p in pieces for i in range(p.start, p.end)}
    assert covered >= {i for i, c in enumerate(sentence) if not c.isspace()}
    for piece in pieces:
        surface = sentence[piece.start : piece.end]
        if surface.strip():
            assert split[piece.word].start <= piece.start < split[piece.word].end
            assert piece.text.startswith("<0x") or piece.text.replace("▁", "") == surface


@given(ANY_TEXT)
def test_words_hold_everything_but_gaps(text):
    split = words.split(text)
    assert all(text[w.start : w.end] == w.text for w in split)
    assert all(a.end <= b.start for a, b in pairwise(split))
    inside = {i for w in split for i in range(w.start, w.end)}
    outside = "".join(c for i, c in enumerate(text) if i not in inside)
    assert all(c.isspace() or c in "\u200b\u2060\ufeff▁" for c in outside)


@given(st.lists(st.text(min_size=1), min_size=1), st.booleans())
def test_characters_give_text_back(sentences, is_lowercase):
    tokenizer = Characters.train(sentences, is_lowercase=is_lowercase)
    for sentence in sentences:
        expected = sentence.lower() if is_lowercase else sentence
        assert tokenizer.decode(tokenizer.encode(sentence)) == expected
