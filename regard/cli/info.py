"""`regard info`: what a model folder holds, and how its training went."""

import json
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from regard.counting import counted

if TYPE_CHECKING:
    from regard.folder import LoadedModel

_BARS = "▁▂▃▄▅▆▇█"
_WIDTH, _BESIDE = 48, 30  # of a curve, in characters, and of what stands in its line
_KINDS = {
    "sentencepiece": "pieces of words",
    "characters": "single characters",
    "words": "whole words",
    "chinese-words": "whole words, Chinese too",
    "wordpiece": "pieces of words, WordPiece",
    "byte-pairs": "byte pairs",
}


def info(
    model: Annotated[Path, typer.Argument(help="A model folder.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Say what a model folder holds: sizes, vocabulary, how training went, files."""
    from regard.systems import load
    from regard.training.metrics import read_metrics

    facts = gather(load(model), read_metrics(model / "metrics.jsonl"))
    if as_json:
        typer.echo(json.dumps(facts, ensure_ascii=False, indent=2))
    else:
        _print(facts)


_DETAILS = (("norm", "-norm"), ("positions", " positions"))


def gather(loaded: "LoadedModel", metrics: list[dict[str, Any]]) -> dict[str, Any]:
    """All that is said of a model, as JSON would have it."""
    from regard.engine import instructions

    recipe, folder = loaded.recipe, loaded.path
    validated = [one for one in metrics if one["event"] == "validated"]
    finished = [one for one in metrics if one["event"] == "finished"]
    sizes = {
        path.relative_to(folder): path.stat().st_size
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    folders: Counter[str] = Counter()
    for path, n in sizes.items():
        if len(path.parts) > 1:
            folders[path.parts[0]] += n
    return {
        "path": str(folder),
        "format": loaded.format,
        "name": recipe.name,
        "purpose": recipe.purpose,
        "task": recipe.training.task,
        "parameters": loaded.model.n_parameters,
        "model": recipe.model.model_dump(),
        "shape": recipe.model.shape,
        "vocabulary": {
            "kind": recipe.text.kind,
            "source": len(loaded.source_tokenizer),
            "target": len(loaded.target_tokenizer),
            "is_joint": loaded.source_tokenizer is loaded.target_tokenizer,
        },
        "data": {"train": list(recipe.data.train), "valid": list(recipe.data.valid)},
        "training": {
            "updates": max((one["update"] for one in metrics), default=0),
            "minutes": max((one["seconds"] for one in metrics), default=0.0) / 60,
            "finished": finished[-1] if finished else None,
            "best": next((one for one in reversed(validated) if one["is_best"]), None),
            "losses": [
                [one["update"], one["loss"]] for one in metrics if one["event"] == "stepped"
            ],
            "validations": [_validation(one) for one in validated],
        },
        "files": {str(path): n for path, n in sizes.items() if len(path.parts) == 1},
        "folders": dict(folders),
        "bytes": sum(sizes.values()),
        "kernels": instructions(),
    }


def _validation(record: dict[str, Any]) -> dict[str, Any]:
    quality = record.get("quality") or {}
    kept = {"update": record["update"], "loss": record["loss"]}
    keys = ("bleu", "chrf", "accuracy", "macro_f1", "span_f1")
    return kept | {key: quality[key] for key in keys if quality.get(key) is not None}


def sparkline(values: list[float], width: int = _WIDTH) -> str:
    """A curve in one line of text; where there are more values than places, each shows a mean."""
    if not values:
        return ""
    n = min(width, len(values))
    parts = [values[len(values) * i // n : len(values) * (i + 1) // n] for i in range(n)]
    means = [sum(part) / len(part) for part in parts]
    low, high = min(means), max(means)
    span = (high - low) or 1.0
    return "".join(_BARS[round((mean - low) / span * (len(_BARS) - 1))] for mean in means)


def _print(facts: dict[str, Any]) -> None:
    from rich.text import Text

    from regard.cli.terminal import Column, open_console, print_table

    room = max(8, min(_WIDTH, open_console().width - _BESIDE))
    said = [*_what(facts), *_how_it_went(facts["training"], room), *_what_is_there(facts)]
    kernels = facts["kernels"]
    said.append(("computes by", f"C++ kernels ({kernels})" if kernels else "PyTorch alone"))
    rows = [(Text(name, "bold"), value) for name, value in said]
    print_table([Column(), Column(wraps=True)], rows)


def _what(facts: dict[str, Any]) -> list[tuple[str, str]]:
    model = facts["model"]
    details = [f"{model[key]}{word}" for key, word in _DETAILS if key in model]
    return [
        ("model", f"{facts['name']} in {facts['path']} (format {facts['format']})"),
        ("parameters", f"{facts['parameters']:,}"),
        (
            "network",
            ", ".join([model["kind"], facts["shape"], *details, f"tie {model['tie']}"]),
        ),
        *_vocabulary(facts),
        *([("labels", ", ".join(model["labels"]))] if model.get("labels") else []),
        ("trained on", ", ".join(facts["data"]["train"]) or "not said"),
    ]


def _vocabulary(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """How many tokens there are; a model of pictures alone has none."""
    words = facts["vocabulary"]
    if words["kind"] == "none":
        return []
    tokens = f"{words['source']:,} tokens ({_KINDS[words['kind']]})"
    if facts["task"] != "translation":
        pass  # there is one side
    elif words["is_joint"]:
        tokens += " for both sides"
    else:
        tokens += f" in the source, {words['target']:,} in the target"
    return [("vocabulary", tokens)]


def _how_it_went(training: dict[str, Any], width: int = _WIDTH) -> list[tuple[str, str]]:
    if not training["updates"]:
        return [("training", "nothing is known: there is no metrics.jsonl")]
    how = _ending(training["finished"], training["best"])
    minutes = counted(round(training["minutes"], 1), "minute")
    rows = [("training", f"{counted(training['updates'], 'update')}, {minutes}, {how}")]
    best = training["best"]
    if best:
        quality = best.get("quality") or {}
        scores = "".join(
            f", {name} {quality[key]:.1f}"
            for key, name in (("bleu", "BLEU"), ("chrf", "chrF"))
            if key in quality
        )
        found = f"perplexity {best['perplexity']:.2f}{scores}"
        if "accuracy" in quality:
            found = f"accuracy {quality['accuracy']:.2%}, macro F1 {100 * quality['macro_f1']:.1f}"
            if quality["span_f1"] is not None:
                found += f", span F1 {100 * quality['span_f1']:.1f}"
        rows.append(("best", f"update {best['update']:,}: {found}"))
    losses = [loss for _, loss in training["losses"] if loss is not None]
    rows += _curve("loss", losses, 3, width)
    for key, name, digits in (("loss", "valid loss", 3), ("bleu", "valid BLEU", 1)):
        values = [one[key] for one in training["validations"] if one.get(key) is not None]
        rows += _curve(name, values, digits, width)
    return rows


def _ending(ended: dict[str, Any] | None, best: dict[str, Any] | None) -> str:
    """Why training ended and which weights are there; one that was interrupted chose none yet."""
    if ended is None:
        return "not finished"
    so_far = "best validated so far" if best else "last so far"
    return f"{ended['reason']}; kept: {ended['chosen'] or so_far}"


def _curve(name: str, values: list[float], digits: int, width: int) -> list[tuple[str, str]]:
    if len(values) < 2:
        return []
    return [(name, f"{values[0]:.{digits}f} {sparkline(values, width)} {values[-1]:.{digits}f}")]


def _what_is_there(facts: dict[str, Any]) -> list[tuple[str, str]]:
    there = facts["files"] | {f"{name}/": n for name, n in facts["folders"].items()}
    files = ", ".join(f"{name} {_bytes(n)}" for name, n in there.items())
    return [("files", f"{files}; {_bytes(facts['bytes'])} in all")]


def _bytes(n: float) -> str:
    for unit in ("B", "kB", "MB"):
        if n < 1000:
            return f"{n:.0f} {unit}" if unit == "B" else f"{n:.1f} {unit}"
        n /= 1000
    return f"{n:.1f} GB"
