"""Scenes: the picture follows from the text, the caption from the picture, boxes bind the two."""

from itertools import combinations, islice, product

import numpy as np
import pytest

from regard.corpora import EmbeddedCorpus, Example, open_corpus, parse_extract
from regard.corpora.scenes import SIDE, draw_scene, is_scene, parse_scene
from regard.corpora.scenes.captions import LANGUAGES
from regard.corpora.scenes.layout import COLOURS, KINDS, PAPERS, RADII
from regard.errors import DataError

CONTENT = {*RADII, *COLOURS, *KINDS, "sign", "letter"}


def drawn(split: str, n: int, language: str = "en", seed: int = 1) -> list[Example]:
    return list(islice(open_corpus("scenes", language).examples(split, seed), n))


@pytest.fixture(scope="module")
def train() -> list[Example]:
    return drawn("train", 1500)


@pytest.mark.parametrize(("kind", "size"), [*product(KINDS, RADII)])
def test_a_shape_fills_its_box_and_nothing_else(kind: str, size: str) -> None:
    text = f"white paper; {kind} blue {size} 30 20"
    picture = draw_scene(text)
    assert (picture.shape, picture.dtype) == ((SIDE, SIDE, 3), np.uint8)
    rows, columns = np.nonzero((picture != PAPERS["white"]).any(-1))
    x0, y0, x1, y1 = parse_scene(text).objects[0].box
    assert (x0, y0, x1, y1) == (
        *(columns.min(), rows.min()),
        *(columns.max() + 1, rows.max() + 1),
    )
    assert (picture[rows, columns] == COLOURS["blue"]).all(-1).mean() > 0.3  # not all edge


def test_no_two_kinds_look_the_same() -> None:
    for one, other in combinations(KINDS, 2):
        a, b = (draw_scene(f"grey paper; {kind} red small 30 20") for kind in (one, other))
        assert (a != b).any(-1).sum() > 15, (one, other)


def test_pictures_are_drawn_from_their_text_alone() -> None:
    text = "mint paper; star red large 20 21; ring black medium 44 20"
    assert draw_scene(text).tobytes() == draw_scene(text).tobytes()
    assert tuple(draw_scene(text)[0, 0]) == PAPERS["mint"]
    assert tuple(draw_scene(text)[21, 20]) == COLOURS["red"]
    assert tuple(draw_scene(text)[20, 44]) == PAPERS["mint"]  # the hole of the ring
    assert str(parse_scene(text)) == text


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("photo.png", ("'photo.png'", "white", "circle red large 14 40")),
        ("pink paper; circle red large 14 40", ("'pink paper", "white, grey")),
        ("white paper; circel red large 14 40", ("'circel red large 14 40'", "circle, ring")),
        ("white paper; circle red large", ("'circle red large'", "kind, colour, size and centre")),
        ("white paper; circle red large 5 40", ("'circle red large 5 40'", "between 12 and 52")),
    ],
)
def test_what_cannot_be_drawn_is_told(text: str, facts: tuple[str, ...]) -> None:
    with pytest.raises(DataError) as caught:
        parse_scene(text)
    assert all(fact in str(caught.value) for fact in facts)
    assert is_scene(text) == text.startswith("white paper")


def test_it_is_a_corpus(train: list[Example]) -> None:
    assert isinstance(open_corpus("scenes", "zh"), EmbeddedCorpus)
    assert parse_extract("scenes:zh:test:20").sides == ("scene", "caption")
    assert train[:50] == drawn("train", 50)
    assert train[:50] != drawn("train", 50, seed=2)
    assert len({one.source for one in train}) == len(train)
    assert {one.tags for one in train} == {("objects-1",), ("objects-2",), ("objects-3",)}
    with pytest.raises(DataError, match="has no split 'tests': choose train"):
        open_corpus("scenes", "en").examples("tests", 1)


def test_splits_share_no_caption(train: list[Example]) -> None:
    held_out = [{one.target for one in drawn(split, 100)} for split in ("valid", "test")]
    assert held_out[0].isdisjoint(held_out[1])
    seen = {one.target for one in [*train, *drawn("train", 1500, seed=2)]}
    assert seen.isdisjoint(held_out[0] | held_out[1])


def test_objects_lie_apart_within_the_picture(train: list[Example]) -> None:
    for example in train:
        boxes = [one.box for one in parse_scene(example.source).objects]
        assert all(min(box) >= 0 and max(box) <= SIDE for box in boxes)
        for (a, b, c, d), (x0, y0, x1, y1) in combinations(boxes, 2):
            assert a >= x1 or x0 >= c or b >= y1 or y0 >= d, example.source


def test_the_picture_decides_the_caption(train: list[Example]) -> None:
    """Whoever sees what is where knows which object comes first, and what is said of it."""
    for example in train:
        objects = parse_scene(example.source).objects
        first, others = objects[0], objects[1:]
        is_above = [abs(first.y - one.y) > abs(first.x - one.x) for one in others]
        if len(others) == 1:
            assert first.y < others[0].y if is_above[0] else first.x < others[0].x
        if len(others) == 2:
            assert is_above == [True, False]  # the corner of the L
        said = {word for word in example.target.split() if word in ("above", "below", "left")}
        if others and is_above[0]:
            assert said & {"above" if first.y < others[0].y else "below"}


def test_boxes_are_those_of_what_content_words_name(train: list[Example]) -> None:
    for example in train:
        assert example.target_side is not None
        words = example.target_side.words
        assert " ".join(words) == example.target
        assert {place for place, _ in example.boxes} == {
            place for place, word in enumerate(words) if word in CONTENT
        }
        objects = {one.box: one for one in parse_scene(example.source).objects}
        assert {box for _, box in example.boxes} == set(objects)
        for place, box in example.boxes:
            named = objects[box]
            assert words[place] in {named.size, named.colour, named.kind, "sign", "letter"}


def test_articles() -> None:
    texts = " ".join(one.target for one in drawn("train", 400))
    assert " an orange " in texts
    assert " a orange " not in texts
    assert " a large orange " in texts


def test_chinese_says_the_same_of_the_same_scenes(train: list[Example]) -> None:
    examples = drawn("train", 300, "zh")
    assert [one.source for one in examples] == [one.source for one in train[:300]]
    for chinese, english in zip(examples, train, strict=False):
        assert chinese.target_side is not None
        assert "".join(chinese.target_side.words) == chinese.target
        in_turn = [list(dict(one.boxes).values()) for one in (chinese, english)]
        assert list(dict.fromkeys(in_turn[0])) == list(dict.fromkeys(in_turn[1]))
        assert " " not in chinese.target


@pytest.mark.parametrize(
    ("language", "text", "named"),
    [
        (
            "en",
            "a small red plus sign is above an orange letter T and to the right of a large star",
            "small red plus sign|orange letter T|large yellow star",
        ),
        (
            "zh",
            "一个红色的小加号在一个橙色的字母T上面，在一颗黄色的大星星右边",
            "红色 小 加号|橙色 字母 T|黄色 大 星星",
        ),
    ],
)
def test_the_grammar(language: str, text: str, named: str) -> None:
    objects = parse_scene(
        "white paper; plus red small 44 20; T orange medium 46 50; star yellow large 16 16"
    ).objects
    caption, gap = LANGUAGES[language]
    words = caption(objects)
    assert gap.join(word.text for word in words).replace("yellow ", "") == text
    for one, phrase in zip(objects, named.split("|"), strict=True):
        assert [word.text for word in words if word.box == one.box] == phrase.split()
