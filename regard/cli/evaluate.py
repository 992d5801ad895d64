"""`regard evaluate`: how good translations are, how sure that is, and whether others are better."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli import searching
from regard.counting import counted, noun
from regard.errors import DataError, UsageError

if TYPE_CHECKING:
    from regard.systems import OpenedModel


def evaluate(
    model: Annotated[Path | None, typer.Argument(help="A model folder.")] = None,
    source: searching.Sentences = None,
    target: searching.References = None,
    corpus: searching.Corpus = None,
    dialogue: Annotated[
        Path | None,
        typer.Option(help="In place of the two files: conversations, each turn to be answered."),
    ] = None,
    turns: Annotated[int, typer.Option(min=1, help="With --dialogue: how many are read.")] = 3,
    data: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="For labels, tags and trees: examples with the right ones."
        ),
    ] = None,
    images: Annotated[
        str | None,
        typer.Option(metavar="DIR", help="For a model of pictures: a folder, .zip or idx files."),
    ] = None,
    captions: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="What the --images show: a name, a tab and a caption a line."
        ),
    ] = None,
    controls: Annotated[
        bool,
        typer.Option(
            "--controls", help="Also measure captions or summaries that took less to make."
        ),
    ] = False,
    extractor: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For a generator of pictures: the ruler, a classifier's .safetensors, which is "
            "written if it is not there, or efficientnet-lite0.",
        ),
    ] = None,
    outputs: Annotated[
        Path | None, typer.Option(help="In place of a model: its output, a line each.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="A model folder or an output file to compare with.")
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(help="bleu, chrf or ter; repeatable.", show_default="all")
    ] = None,
    tokenize: searching.Tokenize = None,
    samples: Annotated[int, typer.Option(min=2, help="Of the bootstrap.")] = 1000,
    save_outputs: Annotated[
        Path | None, typer.Option(help="Keep what the model wrote in this file.")
    ] = None,
    beam: searching.Beam = 5,
    alpha: searching.Alpha = 1.0,
    penalty: searching.Penalty = "wu",
    max_tokens: searching.MaxTokens = 512,
    batch: searching.Batch = 64,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
    engine: searching.Engine = None,
    precision: searching.Precision = "float32",
    shortlist: searching.Shortlist = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure a model, or the output of one: BLEU, chrF, TER, exact match, perplexity."""
    from dataclasses import replace

    from regard.cli.evaluation_report import show
    from regard.evaluation import MEASURES, compare
    from regard.files import write_text
    from regard.systems.evaluation import (
        Diversity,
        judge_outputs,
        perplexity_of,
        read_answered,
        read_sides,
    )

    system = _system(model, outputs)
    if data is not None:
        _show_found(system, {"data": data}, device, threads, as_json=as_json)
        return
    has_own = _has_own_measures(system)
    if images is not None or captions is not None or (controls and not has_own):
        given = {
            "images": images,
            "captions": captions,
            "corpus": corpus,
            "extractor": extractor,
        }
        told: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
        if captions is not None or controls:
            told |= {"controls": controls, "beam": beam, "alpha": alpha, "penalty": penalty}
        _show_found(system, told, device, threads, as_json=as_json)
        return
    if has_own:
        sides = {"source": source, "target": target, "corpus": corpus}
        told = {key: value for key, value in sides.items() if value is not None}
        told |= {"controls": controls, "beam": beam, "alpha": alpha, "penalty": penalty}
        _show_found(system, told, device, threads, as_json=as_json)
        return
    needs_sources = system == model or (against is not None and against.is_dir())
    if dialogue is not None:
        if source is not None or target is not None or corpus is not None:
            raise UsageError("--dialogue stands in place of --source, --target and --corpus")
        sources, references = read_answered(dialogue, turns)
    else:
        sources, references = read_sides(source, target, corpus, needs_sources=needs_sources)

    def written(path: Path) -> tuple[list[str], "OpenedModel | None"]:
        """What a system wrote, and the model if it is one."""
        if path.is_file():
            return _output(path, len(references)), None
        opened = searching.open_writing(
            path,
            device=device,
            threads=threads,
            max_tokens=max_tokens,
            engine=engine,
            precision=precision,
            shortlist=shortlist,
        )
        search = searching.beam_of(beam, alpha, penalty)
        return list(opened.outputs(sources, search, batch)), opened

    measures = measure or MEASURES
    options: dict[str, Any] = {"tokenize": known_tokenization(tokenize), "n_samples": samples}
    lines, opened = written(system)
    if save_outputs is not None:
        write_text(save_outputs, "".join(f"{line}\n" for line in lines))
    perplexity = None
    if opened is not None:
        perplexity = perplexity_of(opened, zip(sources, references, strict=True))
    report = judge_outputs(
        str(system), lines, references, perplexity=perplexity, measures=measures, **options
    )
    if against is not None:
        compared = compare(lines, written(against)[0], references, measures, **options)
        report = replace(report, baseline=str(against), compared=compared)
    if dialogue is not None:
        report = replace(report, diversity=Diversity.of(lines))
    show(report, is_json=as_json)


def _has_own_measures(model: Path) -> bool:
    """Whether a model is measured otherwise than by comparing sentences."""
    from regard.folder import read_folder
    from regard.systems import system_of

    return model.is_dir() and system_of(read_folder(model).recipe).has_own_measures


def _show_found(
    model: Path, told: dict[str, Any], device: str, threads: int | None, *, as_json: bool
) -> None:
    """What a model says of how good it is."""
    import json
    from inspect import signature

    from regard import api
    from regard.cli import labelled
    from regard.cli.evaluation_report import show_table
    from regard.cli.progress import Showing, shower
    from regard.devices import choose_device
    from regard.systems.evaluation import LabelEvaluation, TabledScores

    searching.set_threads(threads)
    opened = api.load(model, device=choose_device(device))
    with Showing() as showing:
        if "tell" in signature(opened.evaluate).parameters:  # a long one, which says how far it is
            told["tell"] = shower(showing)
        found = api.evaluate(opened, **told)
    searching.write_utf8()
    if isinstance(found, LabelEvaluation):
        labelled.show(found, is_json=as_json)
    elif as_json:
        typer.echo(json.dumps(found.to_dict(), ensure_ascii=False))
    else:
        assert isinstance(found, TabledScores)  # what models of pictures and parsers give
        show_table(found.table())


def _system(model: Path | None, outputs: Path | None) -> Path:
    if model is None and outputs is not None:
        return outputs
    if model is None or outputs is not None:
        raise UsageError("evaluate needs a model folder or --outputs FILE, one of them")
    if model.is_file():
        raise UsageError(f"{model} is a file: give a model folder, or --outputs {model}")
    return model


def _output(path: Path, n_references: int) -> list[str]:
    from regard.data.lines import read_lines

    lines = list(read_lines(path))
    if len(lines) != n_references:
        raise DataError(
            f"{path} has {counted(len(lines), 'line')} and there "
            f"{noun(n_references, 'is', 'are')} {counted(n_references, 'reference')}: line n of "
            "one has to belong to line n of the other"
        )
    return lines


def known_tokenization(name: str | None) -> str | None:
    """The name, if sacrebleu knows it."""
    from sacrebleu.metrics.bleu import BLEU

    known = sorted(BLEU.TOKENIZERS)
    if name is not None and name not in known:
        raise UsageError(f"--tokenize {name} is not known: choose among {', '.join(known)}")
    return name
