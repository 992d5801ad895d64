"""`regard classify`: the labels of texts or pictures, and how often they are right."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import labelled, searching

if TYPE_CHECKING:
    from regard.errors import UsageError
    from regard.systems import OpenedModel, TextClassifier


def classify(
    model: searching.Model,
    text: Annotated[
        list[str] | None,
        typer.Argument(
            help="Texts, or pairs with a tab between them; lines of standard input if none. For a "
            "model of pictures, their files."
        ),
    ] = None,
    top: Annotated[
        int,
        typer.Option(
            min=1,
            help="So many labels, the likeliest first; with --gold, how often the right one is "
            "among them.",
        ),
    ] = 1,
    gold: labelled.Gold = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Tell the labels of texts or pictures; or judge a model of texts with --gold FILE."""
    from regard.devices import choose_device
    from regard.systems import TextClassifier, open_model

    searching.set_threads(threads)
    opened = open_model(model, choose_device(device))
    searching.write_utf8()
    if opened.reads == "pictures":
        _classify_pictures(opened, text, top, gold, as_json=as_json)
        return
    judge = TextClassifier(opened.loaded)
    if gold is not None:
        labelled.refuse_both(text)
        labelled.show(judge.evaluate(gold, top), is_json=as_json)
        return
    for burst in labelled.bursts(text):
        _classify(judge, burst, top, as_json=as_json)


def _classify_pictures(
    opened: "OpenedModel", files: list[str] | None, top: int, gold: str | None, *, as_json: bool
) -> None:
    from regard.errors import UsageError

    classify = opened.classify  # type: ignore[attr-defined]  # others say what they are for
    if gold is not None:
        raise UsageError(
            f"--gold is for texts: regard evaluate {opened.loaded.path} --images {gold} measures it"
        )
    if not files:
        raise UsageError(f"name pictures: regard classify {opened.loaded.path} picture.png")
    for file in files:
        (best,) = classify([file], top)
        if as_json:
            typer.echo(json.dumps({"input": file, **best.to_dict()}, ensure_ascii=False))
            continue
        for one in (best, *best.others):
            typer.echo(f"{one.label}\t{one.probability:.3f}\t{file}")


def _classify(judge: "TextClassifier", lines: list[str], top: int, *, as_json: bool) -> None:
    texts, n_cut, refusal = _readable(judge, lines)
    for line, told in zip(lines, judge.classify_each(texts, top) if texts else (), strict=False):
        if as_json:
            labels = [{"label": one.label, "probability": one.probability} for one in told]
            typer.echo(json.dumps({"text": line, "labels": labels}, ensure_ascii=False))
            continue
        for one in told:
            typer.echo(f"{one.label}\t{one.probability:.3f}\t{line}")
    if n_cut:
        are, beginnings = ("is", "its beginning") if n_cut == 1 else ("are", "their beginnings")
        searching.tell(
            f"{n_cut} of these texts {are} longer than the {judge.limit} tokens "
            f"the model sees: it read {beginnings}"
        )
    if refusal is not None:
        raise refusal


def _readable(
    judge: "TextClassifier", lines: list[str]
) -> tuple[list[list[str]], int, "UsageError | None"]:
    """The texts before a line that is refused, how many are cut, and that refusal."""
    from regard.errors import UsageError

    texts: list[list[str]] = []
    n_cut = 0
    for line in lines:
        try:
            n_cut += judge.row(line.split("\t"))[1]
        except UsageError as error:
            return texts, n_cut, error
        texts.append(line.split("\t"))
    return texts, n_cut, None
