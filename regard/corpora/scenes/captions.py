"""A small grammar of captions: what is in a picture, and where one thing is from another."""

from collections.abc import Callable
from typing import NamedTuple

from regard.corpora.interface import Box
from regard.corpora.scenes.layout import SceneObject


class CaptionWord(NamedTuple):
    """A word of a caption, with the box of what it names if it names anything."""

    text: str
    box: Box | None = None


_ENGLISH_KINDS = {"plus": "plus sign", "T": "letter T", "L": "letter L"}
_ENGLISH_SIDES = {
    "above": "above",
    "below": "below",
    "left": "to the left of",
    "right": "to the right of",
}
_CHINESE_SIZES = {"small": "小", "medium": "", "large": "大"}
_CHINESE_COLOURS = {
    "red": "红色", "orange": "橙色", "yellow": "黄色", "green": "绿色", "blue": "蓝色",
    "purple": "紫色", "black": "黑色",
}  # fmt: skip
_CHINESE_KINDS = {
    "circle": "圆形", "ring": "圆环", "square": "正方形", "diamond": "菱形", "triangle": "三角形",
    "star": "星星", "plus": "加号", "cross": "叉号", "arrow": "箭头", "T": "字母 T", "L": "字母 L",
}  # fmt: skip
_CHINESE_SIDES = {"above": "上面", "below": "下面", "left": "左边", "right": "右边"}


def side_of(one: SceneObject, other: SceneObject) -> str:
    """On which side of the other it is: above, below, left or right."""
    x, y = one.x - other.x, one.y - other.y
    if abs(x) > abs(y):
        return "left" if x < 0 else "right"
    return "above" if y < 0 else "below"


def english(objects: tuple[SceneObject, ...]) -> list[CaptionWord]:
    """ "a red circle is above a small blue square and to the left of a star"."""
    first, *others = objects
    if not others:
        return [*_plain("there is"), *_english_object(first)]
    words = [*_english_object(first), *_plain("is")]
    for n, other in enumerate(others):
        words += _plain("and" if n else "")
        words += _plain(_ENGLISH_SIDES[side_of(first, other)])
        words += _english_object(other)
    return words


def _english_object(one: SceneObject) -> list[CaptionWord]:
    size = "" if one.size == "medium" else one.size
    words = f"{size} {one.colour} {_ENGLISH_KINDS.get(one.kind, one.kind)}".split()
    article = "an" if words[0][0] in "aeiou" else "a"
    return [CaptionWord(article), *(CaptionWord(word, one.box) for word in words)]


def chinese(objects: tuple[SceneObject, ...]) -> list[CaptionWord]:
    """ "一个红色的圆形在一个蓝色的小正方形上面，在一颗黄色的星星左边"."""
    first, *others = objects
    if not others:
        return [*_plain("图中 有"), *_chinese_object(first)]
    words = _chinese_object(first)
    for n, other in enumerate(others):
        words += _plain("， 在" if n else "在")
        words += _chinese_object(other)
        words += _plain(_CHINESE_SIDES[side_of(first, other)])
    return words


def _chinese_object(one: SceneObject) -> list[CaptionWord]:
    named = f"{_CHINESE_SIZES[one.size]} {_CHINESE_KINDS[one.kind]}".split()
    return [
        CaptionWord("一颗" if one.kind == "star" else "一个"),
        CaptionWord(_CHINESE_COLOURS[one.colour], one.box),
        CaptionWord("的"),
        *(CaptionWord(word, one.box) for word in named),
    ]


def _plain(words: str) -> list[CaptionWord]:
    return [CaptionWord(word) for word in words.split()]


# How a caption is made of objects, and what stands between its words.
LANGUAGES: dict[str, tuple[Callable[[tuple[SceneObject, ...]], list[CaptionWord]], str]] = {
    "en": (english, " "),
    "zh": (chinese, ""),
}
