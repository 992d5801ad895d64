"""BLEU and chrF are sacrebleu's own."""

import logging

import pytest
import sacrebleu

from regard.errors import DataError
from regard.evaluation import judge

REFERENCES = ["The cat sat on the mat, quietly.", "A dog!", "It's raining again today."]
OUTPUTS = ["The cat sat on a mat quietly.", "A dog!", "It is raining today."]
CHINESE = ["今天天气很好。", "他在图书馆看一本书。", "我喜欢喝绿茶。"]


def test_numbers_are_those_of_sacrebleu() -> None:
    quality = judge(OUTPUTS, REFERENCES)
    assert quality.bleu == sacrebleu.corpus_bleu(OUTPUTS, [REFERENCES]).score
    assert quality.chrf == sacrebleu.corpus_chrf(OUTPUTS, [REFERENCES]).score
    assert quality.exact == pytest.approx(1 / 3)
    assert 0 < quality.bleu < 100


def test_the_signature_says_how_they_were_computed() -> None:
    assert "tok:13a" in judge(OUTPUTS, REFERENCES).signature
    assert "tok:none" in judge(OUTPUTS, REFERENCES, tokenize="none").signature
    assert f"version:{sacrebleu.__version__}" in judge(OUTPUTS, REFERENCES).signature


def test_another_tokenization_is_taken_when_asked_for() -> None:
    quality = judge(OUTPUTS, REFERENCES, tokenize="char")
    expected = sacrebleu.corpus_bleu(OUTPUTS, [REFERENCES], tokenize="char").score
    assert quality.bleu == expected != judge(OUTPUTS, REFERENCES).bleu


def test_chinese_is_cut_into_characters() -> None:
    outputs = ["今天天气好。", "他在图书馆看书。", "我喜欢喝茶。"]
    quality = judge(outputs, CHINESE)
    assert "tok:zh" in quality.signature
    assert quality.bleu == sacrebleu.corpus_bleu(outputs, [CHINESE], tokenize="zh").score > 10


def test_a_few_chinese_words_do_not_make_a_text_chinese() -> None:
    assert "tok:13a" in judge(["a", "b"], ["the word 天 is Chinese", "and this is not"]).signature
    assert "tok:zh" in judge(["a", "b"], [*CHINESE[:1], "OK"]).signature
    assert "tok:13a" in judge(["1", "2"], ["1 2 3", "..."]).signature  # no letters at all


def test_perfect_and_hopeless() -> None:
    perfect = judge(CHINESE, CHINESE)
    assert (perfect.bleu, perfect.chrf, perfect.exact) == (pytest.approx(100), 100, 1)
    hopeless = judge(["", "", ""], REFERENCES)
    assert (hopeless.bleu, hopeless.chrf, hopeless.exact) == (0, 0, 0)


def test_tokenised_text_is_measured_without_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    """A warning in every validation would tear the progress bar apart."""
    lines = ["ein hund ist hier ."] * 200
    with caplog.at_level(logging.WARNING):
        judge(lines, lines)
    assert not caplog.records


def test_what_cannot_be_measured() -> None:
    with pytest.raises(DataError) as unequal:
        judge(["a", "b"], ["a"])
    assert str(unequal.value) == (
        "2 outputs cannot be measured against 1 reference: each output needs its own reference"
    )
    with pytest.raises(DataError) as nothing:
        judge([], [])
    assert str(nothing.value) == "there is nothing to measure: no outputs were given"
