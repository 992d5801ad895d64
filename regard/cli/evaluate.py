"""`regard evaluate`: how good translations are, how sure that is, and whether others are better."""

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.cli import searching
from regard.errors import DataError, UsageError

if TYPE_CHECKING:
    from regard.evaluation import Compared, Measured
    from regard.translation import Translator

NAMES = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}


@dataclass(frozen=True)
class Report:
    """All that was measured."""

    system: str
    n_sentences: int
    measured: list["Measured"]
    exact: float
    perplexity: float | None = None
    n_tokens: int | None = None
    baseline: str | None = None
    compared: list["Compared"] = field(default_factory=list)


def evaluate(
    model: Annotated[Path | None, typer.Argument(help="A model folder.")] = None,
    source: Annotated[Path | None, typer.Option(help="Sentences, a line each.")] = None,
    target: Annotated[Path | None, typer.Option(help="Their translations, the references.")] = None,
    corpus: Annotated[
        str | None, typer.Option(help="In place of the two files: a corpus that ships with Regard.")
    ] = None,
    outputs: Annotated[
        Path | None, typer.Option(help="In place of a model: its output, a line each.")
    ] = None,
    against: Annotated[
        Path | None, typer.Option(help="A model folder or an output file to compare with.")
    ] = None,
    measure: Annotated[
        list[str] | None, typer.Option(help="bleu, chrf or ter; repeatable, all by default.")
    ] = None,
    tokenize: Annotated[
        str | None,
        typer.Option(help="How BLEU cuts text: 13a, zh, char, none; by default fitting."),
    ] = None,
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
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Measure a model, or the output of one: BLEU, chrF, TER, exact match, perplexity."""
    from regard.evaluation import MEASURES, compare, share_equal
    from regard.evaluation import measure as measure_all

    if (model is None) == (outputs is None):
        raise UsageError("evaluate needs a model folder or --outputs FILE, one of them")
    needs_sources = model is not None or (against is not None and against.is_dir())
    sources, references = _pairs(source, target, corpus, needs_sources=needs_sources)

    def written(system: Path) -> tuple[list[str], "Translator | None"]:
        if system.is_file():
            return _output(system, len(references)), None
        translator = searching.open_translator(
            system, device=device, threads=threads, max_tokens=max_tokens
        )
        found = translator.translate(
            sources,
            searching.beam_of(beam, alpha, penalty),
            batch_rows=batch,
        )
        return [best[0].text for best in found], translator

    system = model or outputs
    assert system is not None
    if model is not None and model.is_file():
        raise UsageError(f"{model} is a file: give a model folder, or --outputs {model}")
    lines, translator = written(system)
    if save_outputs is not None:
        save_outputs.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    measures = measure or MEASURES
    options: dict[str, Any] = {"tokenize": _known_tokenization(tokenize), "n_samples": samples}
    measured = measure_all(lines, references, measures, **options)
    perplexity, n_tokens = _perplexity(translator, sources, references)
    report = Report(
        str(system),
        len(references),
        measured,
        share_equal(lines, references),
        perplexity,
        n_tokens,
        None if against is None else str(against),
        []
        if against is None
        else compare(lines, written(against)[0], references, measures, **options),
    )
    if as_json:
        typer.echo(json.dumps(_record(report), ensure_ascii=False, indent=2))
    else:
        _print(report)


def _pairs(
    source: Path | None, target: Path | None, corpus: str | None, *, needs_sources: bool
) -> tuple[list[str], list[str]]:
    from regard.data import read_pairs
    from regard.data.lines import read_lines

    if corpus is not None:
        if source is not None or target is not None:
            raise UsageError("--corpus stands in place of --source and --target: give one of them")
        pairs = list(read_pairs(corpus))
    elif target is None:
        raise UsageError("evaluate needs references: --target FILE, a line for each sentence")
    elif source is None:
        if needs_sources:
            raise UsageError("a model needs something to translate: --source FILE beside --target")
        return [], list(read_lines(target))
    else:
        pairs = list(read_pairs((source, target)))
    return [pair.source for pair in pairs], [pair.target for pair in pairs]


def _output(path: Path, n_references: int) -> list[str]:
    from regard.data.lines import read_lines

    lines = list(read_lines(path))
    if len(lines) != n_references:
        raise DataError(
            f"{path} has {len(lines):,} lines and there are {n_references:,} references: line n of "
            "one has to belong to line n of the other"
        )
    return lines


def _known_tokenization(name: str | None) -> str | None:
    from sacrebleu.metrics.bleu import BLEU

    known = sorted(BLEU.TOKENIZERS)
    if name is not None and name not in known:
        raise UsageError(f"--tokenize {name} is not known: choose among {', '.join(known)}")
    return name


def _perplexity(
    translator: "Translator | None", sources: list[str], references: list[str]
) -> tuple[float | None, int | None]:
    if translator is None:
        return None, None
    total, n_tokens = 0.0, 0
    for scored in translator.score(zip(sources, references, strict=True)):
        total, n_tokens = total + scored.log_probability, n_tokens + len(scored.tokens)
    return math.exp(min(-total / n_tokens, 700.0)), n_tokens


def _record(report: Report) -> dict[str, Any]:
    record = asdict(report)
    for kept, one in zip(record["compared"], report.compared, strict=True):
        kept["is_significant"], kept["is_better"] = one.is_significant, one.is_better
    return record


def _print(report: Report) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    width = None if Console().is_terminal else 1000
    console = Console(highlight=False, markup=False, emoji=False, width=width)
    console.print(Text(f"{report.system}: {report.n_sentences:,} sentences\n"))
    table = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    table.add_column("measure", no_wrap=True)
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column("95 %", no_wrap=True)
    if report.compared:
        table.add_column(Text(str(report.baseline)), justify="right", overflow="fold")
        table.add_column("difference", justify="right", no_wrap=True)
        table.add_column("p", justify="right", no_wrap=True)
        table.add_column("", no_wrap=True)
    others = {one.measure: one for one in report.compared}
    for one in report.measured:
        low, high = one.mean - one.margin, one.mean + one.margin
        cells = [NAMES[one.measure], f"{one.score:.2f}", f"{low:.2f} to {high:.2f}"]
        table.add_row(*cells, *_compared(others.get(one.measure)))
    table.add_row("exact match", f"{100 * report.exact:.1f} %", "")
    if report.perplexity is not None:
        table.add_row("perplexity", f"{report.perplexity:.3f}", "")
    console.print(table)
    console.print()
    if "ter" in {one.measure for one in report.measured}:
        console.print("TER counts edits: lower is better.", soft_wrap=True)
    if report.n_tokens is not None:
        console.print(
            f"Perplexity per piece of the model's own vocabulary: {report.n_tokens:,} pieces.",
            soft_wrap=True,
        )
    for one in report.measured:
        console.print(f"{NAMES[one.measure]}  {one.signature}", soft_wrap=True)


def _compared(one: "Compared | None") -> list[str]:
    if one is None:
        return []
    verdict = "not significant"
    if one.is_significant:
        verdict = "better" if one.is_better else "worse"
    difference = one.score - one.baseline
    return [f"{one.baseline:.2f}", f"{difference:+.2f}", f"{one.p:.4f}", verdict]
