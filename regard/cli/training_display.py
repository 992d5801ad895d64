"""What training shows: a progress bar at a terminal, plain lines elsewhere; all on stderr."""

from typing import Self

from rich.progress import BarColumn, TextColumn

from regard.cli.progress import Showing
from regard.evaluation import LabelQuality, Quality
from regard.recipes import Recipe
from regard.recipes.labelling import LABELLING
from regard.training import Prepared
from regard.training.events import Event, Finished, Stepped, Validated

# What an update reads and what it predicts, by kind of model: for others both are target tokens.
_UNITS = {
    "bert": ("tokens of text", "masked tokens"),
    **dict.fromkeys(LABELLING, ("tokens of text", "labels")),
}


class Display(Showing):
    """Shows the events of a run as they come."""

    def __init__(self, *, is_silent: bool = False) -> None:
        super().__init__(
            TextColumn("[bold]{task.fields[place]}"),
            BarColumn(bar_width=None),
            TextColumn("{task.fields[facts]}"),
            is_silent=is_silent,
            is_transient=False,
        )
        self._n_updates = 0
        self._minutes: float | None = None
        self._unit = "tokens"  # of what is predicted
        self._speed = Speed()

    def show_data(self, prepared: Prepared) -> None:
        """Show what was read, what was dropped and why."""
        self.say(prepared.account.line())
        for reason, n, meaning, example in prepared.account.rows():
            self.say(f"  {n:>8,} {reason}: {meaning}, for example {example[:100]!r}")
        if prepared.note:
            self.say(f"Note: {prepared.note}")

    def show_model(self, recipe: Recipe, n_parameters: int, folder: object) -> None:
        """Show what is about to be trained."""
        training, model = recipe.training, recipe.model
        self._n_updates = int(training.updates)
        self._minutes = training.minutes
        tokens, self._unit = _UNITS.get(model.kind, ("target tokens", "tokens"))
        begun = "" if training.init is None else f", begun from {training.init}"
        self.say(
            f"{recipe.name}: {_parameters(n_parameters)}, {model.shape}, dropout "
            f"{model.dropout:g}{begun}; up to {self._n_updates:,} updates of "
            f"{training.batch_tokens:,} {tokens}, into {folder}"
        )

    def __enter__(self) -> Self:
        self.begin(self._n_updates, place="", facts="")
        return self

    def show(self, event: Event) -> None:
        """Show an event."""
        if isinstance(event, Stepped):
            self._step(event)
        elif isinstance(event, Validated):
            self.say(_validated(event))
        elif isinstance(event, Finished):
            self.say(_finished(event))
        elif not self.has_bar:
            self.say(f"update {event.update:,}: saved")

    def _step(self, event: Stepped) -> None:
        if event.update > 1 and not self._speed.has_begun:
            self.say(f"Continuing after update {event.update - 1:,}.")
        per_second = self._speed.after(event)
        left = self._seconds_left(event)
        place = f"update {event.update:,}/{self._n_updates:,}"
        facts = f"loss {event.loss:.3f}"
        if per_second:  # nothing is known of it at the first update
            facts += f"  {per_second:,.0f} {self._unit}/s  {_clock(left)} left"
        line = f"{place}  epoch {event.epoch + 1}  {facts}"
        self.at(event.update, line, place=place, facts=facts)

    def _seconds_left(self, event: Stepped) -> float:
        left = (self._n_updates - event.update) * self._speed.seconds_an_update
        return left if self._minutes is None else min(left, 60 * self._minutes - event.seconds)


class Speed:
    """Target tokens a second, over the last updates and without the pauses for validation."""

    def __init__(self) -> None:
        self._before: Stepped | None = None
        self.tokens_a_second = 0.0
        self.seconds_an_update = 0.0

    @property
    def has_begun(self) -> bool:
        """Whether an update was counted."""
        return self._before is not None

    def after(self, event: Stepped) -> float:
        """The speed once this update is done."""
        before, self._before = self._before, event
        if before is not None and event.seconds > before.seconds:
            took = event.seconds - before.seconds
            weight = 0.05 if self.tokens_a_second else 1.0
            # A pause for validation looks like one very slow update: it is not counted.
            if not self.seconds_an_update or took < 5 * self.seconds_an_update:
                now = event.n_tokens / took
                self.tokens_a_second += weight * (now - self.tokens_a_second)
                self.seconds_an_update += weight * (took - self.seconds_an_update)
        return self.tokens_a_second


def _validated(event: Validated) -> str:
    text = f"update {event.update:,}: validation loss {event.loss:.3f}"
    if not isinstance(event.quality, LabelQuality):
        text += f", perplexity {event.perplexity:.2f}"
    if event.bits_per_character is not None:
        text += f", {event.bits_per_character:.3f} bits per character"
    if isinstance(event.quality, Quality):
        text += f", BLEU {event.quality.bleu:.2f}, chrF {event.quality.chrf:.2f}"
    elif event.quality is not None:
        text += _labels(event.quality)
    return text + ("  (best so far)" if event.is_best else "")


def _labels(quality: LabelQuality) -> str:
    text = f", accuracy {quality.accuracy:.2%}, macro F1 {100 * quality.macro_f1:.2f}"
    return text if quality.span_f1 is None else f"{text}, span F1 {100 * quality.span_f1:.2f}"


def _finished(event: Finished) -> str:
    if event.reason == "interrupted":
        return f"Stopped after update {event.update:,}, and saved: the same command continues."
    return (
        f"Finished after {event.update:,} updates and {_clock(event.seconds)}: {event.reason}. "
        f"Kept: {event.chosen}."
    )


def _parameters(n: int) -> str:
    return f"{n / 1e6:.1f}M parameters" if n >= 100_000 else f"{n:,} parameters"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(max(0, round(seconds)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
