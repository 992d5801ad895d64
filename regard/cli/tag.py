"""`regard tag`: the tags of the words of a text, and how often they are right."""

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli import labelled, searching

if TYPE_CHECKING:
    from regard.language import Told, WordJudge
    from regard.text.piece import Word


def tag(
    model: searching.Model,
    text: Annotated[
        list[str] | None, typer.Argument(help="Sentences; lines of standard input if none.")
    ] = None,
    spaces: Annotated[
        bool,
        typer.Option(
            "--spaces", help="Words are what spaces tell apart; else signs stand by themselves."
        ),
    ] = False,
    gold: labelled.Gold = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Tell the tag of each word, one a line after its word; or judge a model with --gold FILE."""
    from regard.cli.training_session import choose_device
    from regard.language import WordJudge

    labelled.set_threads(threads)
    judge = WordJudge.open(model, device=choose_device(device))
    searching.write_utf8()
    if gold is not None:
        labelled.refuse_both(text)
        labelled.show(_report(judge, gold), is_json=as_json)
        return
    for burst in labelled.bursts(text):
        sentences = [(line, _words(line, spaces)) for line in burst]
        for (line, words), told in zip(sentences, judge.tag(sentences), strict=True):
            if as_json:
                typer.echo(json.dumps(_record(line, words, told), ensure_ascii=False))
                continue
            for word, one in zip(words, told, strict=True):
                typer.echo(f"{word.text}\t{one.label}")
            typer.echo()


def _words(line: str, spaces: bool) -> list["Word"]:
    import re

    from regard.text.piece import Word
    from regard.text.words import split

    parted = [Word(one.group(), one.start(), one.end()) for one in re.finditer(r"\S+", line)]
    return parted if spaces and len(parted) > 1 else split(line)


def _record(line: str, words: list["Word"], told: list["Told"]) -> dict[str, Any]:
    from regard.evaluation import spans, tells_spans

    tags = [one.label for one in told]
    record: dict[str, Any] = {
        "text": line,
        "words": [
            {
                "word": word.text,
                "tag": one.label,
                "probability": one.probability,
                "start": word.start,
                "end": word.end,
            }
            for word, one in zip(words, told, strict=True)
        ],
    }
    if tells_spans(tags):
        record["spans"] = [
            {"type": one.type, "text": line[words[one.start].start : words[one.end - 1].end]}
            | {"start": words[one.start].start, "end": words[one.end - 1].end}
            for one in spans(tags)
        ]
    return record


def _report(judge: "WordJudge", gold: str) -> labelled.Report:
    from regard.data import parse_labelled, read_tagged
    from regard.evaluation import (
        accuracy,
        by_label,
        by_type,
        confusion,
        macro_f1,
        micro_f1,
        tells_spans,
    )
    from regard.text.given_words import written

    examples = read_tagged([parse_labelled(gold)], judge.labels)
    told = judge.tag([written(one.words) for one in examples])
    rows = [[one.label for one in row] for row in told]
    given = [one for row in rows for one in row]
    truth = [one for example in examples for one in example.tags]
    found = by_label(given, truth)
    scores = {"accuracy": accuracy(given, truth), "macro F1": macro_f1(found)}
    tables = {"tag": found}
    if tells_spans(judge.labels):
        typed = by_type(rows, [one.tags for one in examples])
        scores["span F1"], tables["span"] = micro_f1(typed), typed
    return labelled.Report(
        model=str(judge.loaded.path),
        gold=gold,
        n={"sentences": len(examples), "words": len(truth)},
        scores=scores,
        tables=tables,
        labels=list(judge.labels),
        confusion=confusion(given, truth, judge.labels),
    )
