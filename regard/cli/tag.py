"""`regard tag`: the tags of the words of a text, and how often they are right."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli import labelled, searching

if TYPE_CHECKING:
    from collections.abc import Sequence

    from regard.systems import TaggedWord, WordTagger
    from regard.text import Word


def tag(
    model: searching.Model,
    text: Annotated[
        list[str] | None, typer.Argument(help="Sentences; lines of standard input if none.")
    ] = None,
    spaces: Annotated[
        bool,
        typer.Option("--spaces", help="Words are what spaces tell apart, signs included."),
    ] = False,
    gold: labelled.Gold = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Tell the tag of each word, one a line after its word; or judge a model with --gold FILE."""
    from regard.systems import WordTagger

    judge = searching.open_as(WordTagger, model, device, threads)
    searching.write_utf8()
    if gold is not None:
        labelled.refuse_both(text)
        labelled.show(judge.evaluate(gold), is_json=as_json)
        return
    is_told = False
    for burst in labelled.bursts(text):
        sentences = [(line, _words(judge, line, spaces)) for line in burst]
        if not is_told and (note := _how_cut(judge, burst, spaces)):
            searching.tell(note)
            is_told = True
        for line, tagged in zip(burst, judge.tag_each(sentences), strict=True):
            if as_json:
                typer.echo(json.dumps(_record(line, tagged.words), ensure_ascii=False))
                continue
            for one in tagged.words:
                typer.echo(f"{one.word}\t{one.label}")
            typer.echo()


def _words(judge: "WordTagger", line: str, spaces: bool) -> list["Word"]:
    from regard.text.segmenting import parted

    given = parted(line)
    return given if spaces and len(given) > 1 else judge.words(line)


def _how_cut(judge: "WordTagger", lines: list[str], spaces: bool) -> str | None:
    """What a user should know where text says nothing of its words."""
    from regard.counting import counted
    from regard.text.segmenting import is_unparted

    if not any(is_unparted(line) and not (spaces and " " in line) for line in lines):
        return None
    how = "put spaces between words to cut it yourself"
    if judge.lexicon is None:
        return (
            f"{judge.loaded.path} does not say whether it learned tags of words or of characters, "
            f"and this text has no spaces: each character is taken for a word; {how}"
        )
    if not judge.lexicon.has_words:
        return None  # it learned tags of characters, and is given characters
    return (
        "the model learned tags of words, and this text has no spaces between them: it is cut by "
        f"the {counted(len(judge.lexicon.counts), 'word')} of the training data; {how}"
    )


def _record(line: str, words: "Sequence[TaggedWord]") -> dict[str, Any]:
    from regard.evaluation import spans, tells_spans

    tags = [one.label for one in words]
    record: dict[str, Any] = {
        "text": line,
        "words": [
            {
                "word": one.word,
                "tag": one.label,
                "probability": one.probability,
                "start": one.start,
                "end": one.end,
            }
            for one in words
        ],
    }
    if tells_spans(tags):
        record["spans"] = [
            {"type": one.type, "text": line[words[one.start].start : words[one.end - 1].end]}
            | {"start": words[one.start].start, "end": words[one.end - 1].end}
            for one in spans(tags)
        ]
    return record
