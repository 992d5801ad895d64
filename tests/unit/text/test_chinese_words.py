"""Chinese by words: jieba's, with the places of each; refused in one sentence without it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from regard.errors import MissingExtraError
from regard.special import UNKNOWN
from regard.text import learn, load
from regard.text.chinese_words import segmenter, split_chinese


@pytest.fixture
def fresh() -> Iterator[None]:
    segmenter.cache_clear()
    yield
    segmenter.cache_clear()


def test_without_jieba_a_sentence_says_what_to_install(
    fresh: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jieba", None)
    with pytest.raises(MissingExtraError, match="chinese-words needs optional packages"):
        learn("chinese-words", ["一只黑狗"])


def test_words_are_those_of_the_segmenter(fresh: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever finds them: two characters make a word here."""

    class Tokenizer:
        def gen_pfdict(self, file: object) -> tuple[dict[str, int], int]:
            return {}, 0

        def get_dict_file(self) -> None:
            return None

        def lcut(self, text: str) -> list[str]:
            return [text[start : start + 2] for start in range(0, len(text), 2)]

    module = type(sys)("jieba")
    module.Tokenizer = Tokenizer  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "jieba", module)
    text = "两只黑狗, dog 跑。"
    words = split_chinese(text)
    assert [word.text for word in words] == ["两只", "黑狗", ",", "dog", "跑", "。"]
    assert all(text[word.start : word.end] == word.text for word in words)
    tokenizer = learn("chinese-words", [text])
    assert tokenizer.encode("跑黑狗") == [UNKNOWN, UNKNOWN]  # 跑黑 and 狗
    assert [tokenizer.token(one) for one in tokenizer.encode("黑狗 跑。")] == ["黑狗", "跑", "。"]
    assert tokenizer.decode(tokenizer.encode("两只黑狗")) == "两只黑狗"
    assert [piece.start for piece in tokenizer.pieces("两只黑狗")] == [0, 2]


def test_saved_and_loaded(tmp_path: Path) -> None:
    pytest.importorskip("jieba", reason="the extra chinese is not installed")
    tokenizer = learn("chinese-words", ["一个小女孩在草地上奔跑"])
    saved = load(tokenizer.save(tmp_path / "target"))
    assert saved.encode("小女孩在草地上") == tokenizer.encode("小女孩在草地上")
    assert len(tokenizer.encode("小女孩在草地上")) < 7
