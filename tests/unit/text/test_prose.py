"""Sentences of running text."""

from regard.text.prose import sentences_of


def test_paragraphs_are_unwrapped_and_cut() -> None:
    lines = [
        "“Come in,” said Mr. Fox. He",
        "closed the door!",
        "",
        "It rained.",
        "",
        "天黑了。他走了。",
    ]
    assert list(sentences_of(lines)) == [
        "“Come in,” said Mr. Fox.",
        "He closed the door!",
        "It rained.",
        "天黑了。",
        "他走了。",
    ]


def test_without_paragraphs_a_line_is_by_itself() -> None:
    assert list(sentences_of(["no stop here\n", "nor here\n"])) == ["no stop here", "nor here"]
