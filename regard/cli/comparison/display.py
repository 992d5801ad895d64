"""What `regard compare` says: progress while it goes, then tables or JSON, and a picture."""

import json
from dataclasses import asdict
from pathlib import Path

import typer

from regard.cli.comparison.measuring import Comparison, Contestant, TrainedModel
from regard.cli.progress import Showing
from regard.cli.terminal import Column, print_table, say
from regard.counting import counted
from regard.inspection.figures import Curve, Plot, curves

_N_MARKS = 5  # of the time of training


def draw_lengths(compared: Comparison, path: str | Path) -> Path:
    """Draw BLEU for each part of the sentences, from short sources to long ones."""
    drawn = tuple(
        Curve(
            f"{one.name}  ({one.bleu:.1f})",
            tuple((float(i), part.score) for i, part in enumerate(one.by_length)),
        )
        for one in compared.contestants
    )
    ticks = tuple(
        (float(i), f"{words(part.shortest, part.longest)}\n{counted(part.n_sentences, 'sentence')}")
        for i, part in enumerate(compared.contestants[0].by_length)
    )
    plot = Plot(drawn, "words of the source", "BLEU", ticks=ticks)
    return curves([plot], "Quality by the length of the source").save(path)


class ComparisonDisplay(Showing):
    """Shows which model translates, and how far all of them together are."""

    def __init__(self, total: int) -> None:
        super().__init__()
        self._n, self._name = 0, ""
        self.begin(total)

    def advance(self, name: str) -> None:
        """One more sentence was translated by this model."""
        self._n += 1
        if name != self._name and not self.has_bar:
            self.say(f"{name}: translating")
        self._name = name
        self.at(self._n, f"{name}: {counted(self._n, 'sentence')} of all models", name)


def print_comparison(compared: Comparison, *, is_json: bool) -> None:
    """Print the comparison, the best model marked."""
    if is_json:
        typer.echo(json.dumps(asdict(compared), ensure_ascii=False, indent=2))
        return
    tables = _qualities(compared), _lengths(compared), _efforts(compared), _curves(compared)
    for heads, rows in filter(None, tables):
        others = (Column(head, "left" if head == "kind" else "right") for head in heads[1:])
        print_table([Column(heads[0]), *others], rows)
        say()
    for note in _notes(compared):
        say(note)


_Table = tuple[list[str], list[list[str]]]  # heads and rows


def _qualities(compared: Comparison) -> _Table:
    rows = []
    for one in compared.contestants:
        against = one.against_best
        rows.append(
            [
                one.name,
                f"{one.bleu:.2f}",
                f"{one.chrf:.2f}",
                f"{100 * one.exact:.1f} %",
                "best" if against is None else f"{against.score - against.baseline:+.2f}",
                "" if against is None else f"{against.p:.3f}",
            ]
        )
    return ["model", "BLEU", "chrF", "exact", "to the best", "p"], rows


def _efforts(compared: Comparison) -> _Table:
    """What each is and took; apart from how good it is, so that both fit a narrow terminal."""
    rows = [
        [
            one.name,
            one.kind,
            f"{one.n_parameters:,}",
            _minutes(one.trained),
            _count(one.trained.tokens),
            _count(one.trained.tokens_a_second),
            f"{one.sentences_a_second:.1f}",
        ]
        for one in compared.contestants
    ]
    return [
        "model",
        "kind",
        "parameters",
        "minutes",
        "tokens seen",
        "tokens/s",
        "sentences/s",
    ], rows


def _curves(compared: Comparison) -> _Table | None:
    """The lowest validation loss after a fifth, two fifths, ... of the longest training."""
    longest = max((one.trained.minutes or 0.0 for one in compared.contestants), default=0.0)
    if not any(one.trained.validations for one in compared.contestants):
        return None
    marks = [longest * part / _N_MARKS for part in range(1, _N_MARKS + 1)]
    rows = [
        [one.name, *(_lowest(one.trained, minutes) for minutes in marks)]
        for one in compared.contestants
    ]
    return ["validation loss", *(f"{minutes:.3g} min" for minutes in marks)], rows


def _lowest(trained: TrainedModel, minutes: float) -> str:
    losses = [loss for then, loss in trained.validations if then <= minutes + 1e-9]
    return f"{min(losses):.3f}" if losses else "–"


def _minutes(trained: TrainedModel) -> str:
    if trained.minutes is None:
        return "not said"
    of = "" if trained.budget is None else f" of {trained.budget:g}"
    return f"{trained.minutes:.3g}{of}"


def _count(number: float | None) -> str:
    return "not said" if number is None else f"{number:,.0f}"


def _lengths(compared: Comparison) -> _Table:
    ranges = (words(part.shortest, part.longest) for part in compared.contestants[0].by_length)
    rows = [
        [one.name, *(f"{part.score:.2f}" for part in one.by_length), _fall(one)]
        for one in compared.contestants
    ]
    return ["BLEU by words of the source", *ranges, "longest to shortest"], rows


def words(shortest: int, longest: int) -> str:
    """A range of lengths."""
    return f"{shortest}" if shortest == longest else f"{shortest}–{longest}"


def _fall(one: Contestant) -> str:
    return f"{one.by_length[-1].score - one.by_length[0].score:+.2f}"


def _notes(compared: Comparison) -> list[str]:
    first = compared.contestants[0]
    sizes = ", ".join(
        f"{words(part.shortest, part.longest)}: {part.n_sentences:,}" for part in first.by_length
    )
    return [
        f"{counted(compared.n_sentences, 'sentence')} ({sizes}). p: how often a difference in BLEU "
        "this large comes about by chance.",
        "tokens/s are of each model's own training, on the machine and with the load it had then; "
        "sentences/s of now.",
        f"BLEU  {first.signature}",
    ]
