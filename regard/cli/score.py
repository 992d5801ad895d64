"""`regard score`: how probable given translations are."""

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from regard.cli import searching
from regard.counting import counted, noun

if TYPE_CHECKING:
    from regard.systems import Scored


def score(
    model: searching.Model,
    source: Annotated[Path, typer.Option(help="Sentences, a line each.")],
    target: Annotated[Path, typer.Option(help="Their translations, line by line.")],
    tokens: Annotated[
        bool, typer.Option("--tokens", help="Add each piece with its log-probability.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines.")] = False,
    ensemble: searching.Ensemble = None,
    max_tokens: searching.MaxTokens = 512,
    threads: searching.Threads = None,
    device: searching.Device = "auto",
) -> None:
    """Print the log-probability of each target line given its source line."""
    from regard.data import read_pairs

    searching.write_utf8()
    pairs = read_pairs((source, target))
    translator = searching.open_translator(
        model, ensemble, device=device, threads=threads, max_tokens=max_tokens
    )
    total, n_tokens, n_lines = 0.0, 0, 0
    for number, scored in enumerate(translator.score(pairs), 1):
        if scored.n_left_out:
            searching.tell(
                f"line {number} is too long: {counted(scored.n_left_out, 'token')} "
                f"{noun(scored.n_left_out, 'was', 'were')} left out "
                f"({searching.why_left_out(translator)})"
            )
        typer.echo(_line(number, scored, is_json=as_json, with_tokens=tokens))
        n_lines = number
        total += scored.log_probability
        n_tokens += len(scored.tokens)
    mean = total / n_tokens
    typer.echo(
        f"{counted(n_lines, 'line')}, {counted(n_tokens, 'token')}: log-probability {total:.4f}, "
        f"{mean:.4f} a token, perplexity {math.exp(min(-mean, 700.0)):.4f}",
        err=True,
    )


def _line(number: int, scored: "Scored", *, is_json: bool, with_tokens: bool) -> str:
    if is_json:
        record = {
            "line": number,
            "log_probability": scored.log_probability,
            "per_token": scored.per_token,
            "pieces": list(scored.pieces),
            "piece_log_probabilities": [round(value, 6) for value in scored.log_probabilities],
        }
        return json.dumps(record, ensure_ascii=False)
    line = f"{scored.log_probability:.4f}"
    if with_tokens:
        both = zip(scored.pieces, scored.log_probabilities, strict=True)
        line += "\t" + " ".join(f"{piece} {value:.4f}" for piece, value in both)
    return line
